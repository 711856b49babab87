"""`evolve plugin`: what is loaded, and what each plugin provides."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from textwrap import wrap
from types import ModuleType
from typing import Any

from evolve.cli.fitted import terminal
from evolve.cli.nouns import noun
from evolve.cli.output import debug_option, emit_all, json_option, table
from evolve.cli.plugin_check import check_plugins
from evolve.cli.plugin_commands import ENTRY_POINTS, is_bundled
from evolve.cli.plugin_new import new_plugin
from evolve.cli.say import say
from evolve.plugins import BUNDLED, Plugins, Registered, load

_BEFORE = 44
"""Columns before the names of what a plugin provides, as far as the bundled ones need."""
_NARROWEST = 20
"""Characters of names in a line at least."""


@noun
def plugin() -> None:
    """List the plugins with what each provides, check them, and begin one."""


plugin.add_command(new_plugin)
plugin.add_command(check_plugins)


@dataclass(frozen=True, slots=True)
class Listed:
    """A plugin and the names that it registers; `hooks` are those of its hooks that register nothing by name."""

    name: str
    bundled: bool
    evaluators: tuple[str, ...]
    operators: tuple[str, ...]
    strategies: tuple[str, ...]
    models: tuple[str, ...]
    trackers: tuple[str, ...]
    commands: tuple[str, ...]
    hooks: tuple[str, ...]


@plugin.command("list")
@json_option
@debug_option
def list_plugins(as_json: bool) -> None:
    """List the bundled plugins, and those that other packages bring."""
    lines = _listed(load())
    if as_json:
        emit_all(lines)
        return
    rows = [row for line in lines for row in _rows(line)]
    say(table(("plugin", "from", "provides", ""), rows))


def _rows(line: Listed) -> Iterator[tuple[str, str, str, str]]:
    """One for each kind of thing that a plugin provides, and one more wherever the terminal ends."""
    provided = {
        "evaluators": line.evaluators,
        "operators": line.operators,
        "strategies": line.strategies,
        "models": line.models,
        "trackers": line.trackers,
        "commands": line.commands,
        "hooks": line.hooks,
    }
    for kind, names in [(kind, names) for kind, names in provided.items() if names] or [("-", ())]:
        for part in wrap(", ".join(names), max(_NARROWEST, terminal() - _BEFORE)) or [""]:
            yield line.name, "evolve" if line.bundled else "third party", kind, part


def _listed(plugins: Plugins) -> list[Listed]:
    """One of each plugin, and one of each module that brings commands and nothing else."""
    names = [name for name, _ in plugins.manager.list_name_plugin()]
    modules: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=ENTRY_POINTS):
        modules.setdefault(point.module, []).append(point)
    lines = [_line(name, plugins, modules) for name in names]
    return [
        *lines,
        *(
            Listed(module, is_bundled(points[0]), (), (), (), (), (), _names(points), ())
            for module, points in modules.items()
        ),
    ]


def _names(points: Sequence[EntryPoint]) -> tuple[str, ...]:
    return tuple(sorted(point.name for point in points))


def _line(name: str, plugins: Plugins, modules: dict[str, list[EntryPoint]]) -> Listed:
    """The commands of the plugin's own module are taken out of `modules`."""
    module = plugins.manager.get_plugin(name)
    module_name = module.__name__ if isinstance(module, ModuleType) else name
    callers = plugins.manager.get_hookcallers(module) or []
    return Listed(
        name=name,
        bundled=name in BUNDLED,
        evaluators=_of(name, plugins.evaluators),
        operators=_of(name, plugins.operators),
        strategies=_of(name, plugins.strategies),
        models=_of(name, plugins.models),
        trackers=_of(name, plugins.trackers),
        commands=_names(modules.pop(module_name, ())),
        hooks=tuple(sorted(caller.name for caller in callers if not caller.name.startswith("register_"))),
    )


def _of(name: str, entries: Mapping[str, Registered[Any]]) -> tuple[str, ...]:
    return tuple(entry for entry, registered in entries.items() if registered.plugin == name)
