"""`evolve plugin`: what is loaded, and what each plugin provides."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from evolve.cli import GROUP
from evolve.cli.nouns import noun
from evolve.cli.output import debug_option, emit_all, json_option, table
from evolve.cli.plugin_check import check_plugins
from evolve.cli.plugin_new import new_plugin
from evolve.cli.say import say
from evolve.plugins import BUNDLED, Plugins, Registered, load


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
    headings = ("plugin", "from", "evaluators", "operators", "strategies", "models", "trackers", "commands", "hooks")
    rows = [
        (
            line.name,
            "evolve" if line.bundled else "third party",
            *(
                ", ".join(names) or "-"
                for names in (
                    line.evaluators,
                    line.operators,
                    line.strategies,
                    line.models,
                    line.trackers,
                    line.commands,
                    line.hooks,
                )
            ),
        )
        for line in lines
    ]
    say(table(headings, rows))


def _listed(plugins: Plugins) -> list[Listed]:
    names = [name for name, _ in plugins.manager.list_name_plugin()]
    commands = {point.name: point.module for point in entry_points(group=GROUP)}
    lines = [_line(name, plugins, commands) for name in names]
    known = {command for line in lines for command in line.commands}
    alone = [
        Listed(module, False, (), (), (), (), (), (command,), ())
        for command, module in commands.items()
        if command not in known
    ]
    return [*lines, *alone]


def _line(name: str, plugins: Plugins, commands: Mapping[str, str]) -> Listed:
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
        commands=tuple(command for command, place in commands.items() if place == module_name),
        hooks=tuple(sorted(caller.name for caller in callers if not caller.name.startswith("register_"))),
    )


def _of(name: str, entries: Mapping[str, Registered[Any]]) -> tuple[str, ...]:
    return tuple(entry for entry, registered in entries.items() if registered.plugin == name)
