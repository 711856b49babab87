"""`evolve plugin`: the plugins that are loaded with what each provides, and a package to begin one's own from."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from evolve.cli.groups import noun_group
from evolve.cli.output import debug_option, emit_all, facts, json_option, say, table
from evolve.cli.plugin_check import check_plugins
from evolve.cli.plugin_commands import ENTRY_POINTS, is_bundled
from evolve.plugins import BUNDLED, Plugins, Registered, load
from evolve.types import ConfigError

_STARTER = Path(__file__).parent / "starter"
_TEXTS = (".py", ".md", ".toml", ".starter")
"""Suffixes of the starter's files; `.starter` is taken off, lest tools take the file for a part of this project."""
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_KIND_LINES = re.compile(r"^<!-- \[(\w+)\] -->\n(.*?)^<!-- \[/\1\] -->\n", re.MULTILINE | re.DOTALL)
"""Lines of the README that are about one kind."""
_HOOKS = {
    "evaluator": "register_evaluators",
    "operator": "register_operators",
    "strategy": "register_strategies",
    "tracker": "register_trackers",
}


@noun_group
def plugin() -> None:
    """List the plugins with what each provides, check them, and begin one."""


plugin.add_command(check_plugins)


@dataclass(frozen=True, slots=True)
class PluginLine:
    """A plugin and the names that it registers; `hooks` are those of its hooks that register nothing by name."""

    name: str
    bundled: bool
    evaluators: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    trackers: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()


@plugin.command("list")
@json_option
@debug_option
def list_plugins(as_json: bool) -> None:
    """List the bundled plugins, and those that other packages bring."""
    lines = _list(load())
    if as_json:
        emit_all(lines)
        return
    rows = []
    for line in lines:
        provided = {kind: names for kind, names in asdict(line).items() if kind not in ("name", "bundled") and names}
        origin = "evolve" if line.bundled else "third party"
        rows += [(line.name, origin, kind, ", ".join(names)) for kind, names in (provided or {"-": ()}).items()]
    say(table(("plugin", "from", "provides", "names"), rows, wrap="names"))


def _list(plugins: Plugins) -> list[PluginLine]:
    """Returns a line for each plugin, and one for each module that brings commands and nothing else."""
    modules: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=ENTRY_POINTS):
        modules.setdefault(point.module, []).append(point)
    lines = [_describe(name, plugins, modules) for name, _ in plugins.manager.list_name_plugin()]
    return lines + [
        PluginLine(module, is_bundled(points[0]), commands=_names(points)) for module, points in modules.items()
    ]


def _names(points: Sequence[EntryPoint]) -> tuple[str, ...]:
    return tuple(sorted(point.name for point in points))


def _describe(name: str, plugins: Plugins, modules: dict[str, list[EntryPoint]]) -> PluginLine:
    """Returns a plugin's line, and takes the commands of its own module out of `modules`."""
    module = plugins.manager.get_plugin(name)
    module_name = module.__name__ if isinstance(module, ModuleType) else name
    callers = plugins.manager.get_hookcallers(module) or []
    registries: Mapping[str, Mapping[str, Registered[Any]]] = {
        "evaluators": plugins.evaluators,
        "operators": plugins.operators,
        "strategies": plugins.strategies,
        "models": plugins.models,
        "trackers": plugins.trackers,
    }
    names = {
        kind: tuple(entry for entry, found in registry.items() if found.plugin == name)
        for kind, registry in registries.items()
    }
    return PluginLine(
        name=name,
        bundled=name in BUNDLED,
        commands=_names(modules.pop(module_name, ())),
        hooks=tuple(sorted(caller.name for caller in callers if not caller.name.startswith("register_"))),
        **names,
    )


@plugin.command("new")
@click.argument("name")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(sorted(_HOOKS)),
    multiple=True,
    required=True,
    help="What it provides; may be repeated.",
)
@debug_option
def new_plugin(name: str, kinds: tuple[str, ...]) -> None:
    """Write the package evolve-NAME with a plugin that works: a folder of that name in the current one.

    It has an operator that swaps numbers, a strategy that holds tournaments, an evaluator with its task, or a tracker that writes
    down each better program, and tests of each.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"a plugin's name is made of small letters, digits, - and _, and begins with a letter, got {name!r}. "
            "Do: choose one, such as swap"
        )
    plain = name.replace("-", "_").removeprefix("evolve_")
    _check_free(plain, kinds, load())
    folder = Path(f"evolve-{plain.replace('_', '-')}")
    _write(folder, starter_files(plain, kinds))
    commands = (f"cd {folder}", "pip install -e '.[dev]'", "python -m pytest", f"evolve plugin check {plain}")
    what = " and the ".join(f"{kind} {plain!r}" for kind in dict.fromkeys(kinds))
    say(facts([("wrote", f"{folder}, with the {what}"), ("next", "\n".join(commands))]))


def starter_files(name: str, kinds: Collection[str]) -> dict[str, str]:
    """Returns the files of a package with a plugin, by their paths: the folder `starter` under another name, without the kinds that were
    not asked for."""
    files = {}
    for path in sorted(_STARTER.rglob("*")):
        place = path.relative_to(_STARTER)
        if path.suffix in _TEXTS and _belongs(place, kinds):
            text = _KIND_LINES.sub(lambda found: found[2] if found[1] in kinds else "", path.read_text("utf-8"))
            files[_rename(place.as_posix().removesuffix(".starter"), name)] = _rename(text, name)
    return files | {f"src/evolve_{name}/__init__.py": _module(name, kinds)}


def _belongs(place: Path, kinds: Collection[str]) -> bool:
    """Returns whether a file is of one of the kinds: the one in its name, or evaluators for tasks."""
    if place.parts[0] == "tasks":
        return "evaluator" in kinds
    named = [kind for kind in _HOOKS if kind in place.stem]
    return not named or named[0] in kinds


def _rename(text: str, name: str) -> str:
    return text.replace("evolve-starter", f"evolve-{name.replace('_', '-')}").replace("starter", name)


def _module(name: str, kinds: Collection[str]) -> str:
    """Returns the module that the entry point names: the hooks of each kind's own module."""
    hooks = {kind: hook for kind, hook in _HOOKS.items() if kind in kinds}
    imports = "\n".join(f"from evolve_{name}.{kind} import {hook}" for kind, hook in hooks.items())
    listed = ", ".join(f'"{hook}"' for hook in hooks.values())
    about = f"evolve imports this module by the entry point `{name}`, and calls the hooks that it finds here."
    return f'"""{about}"""\n\n{imports}\n\n__all__ = [{listed}]\n'


def _check_free(name: str, kinds: Collection[str], plugins: Plugins) -> None:
    known: Mapping[str, Collection[str]] = {
        "operator": plugins.operators,
        "strategy": plugins.strategies,
        "evaluator": plugins.evaluators,
        "tracker": plugins.trackers,
    }
    for kind in kinds:
        if name in known[kind]:
            raise ConfigError(f"there is the {kind} {name!r} already. Do: choose another name")


def _write(folder: Path, files: Mapping[str, str]) -> None:
    if folder.exists():
        raise ConfigError(f"there is {str(folder)!r} already. Do: choose another name, or remove it")
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(
            f"{str(folder)!r} cannot be written: {error.strerror}. Do: begin in another folder"
        ) from error
