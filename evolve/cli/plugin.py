"""`evolve plugin`: the plugins that are loaded with what each provides, checks of them, and a package to begin one's own from."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import click

from evolve.cli.groups import noun_group
from evolve.cli.output import debug_option, emit_all, facts, json_option, say, table
from evolve.cli.plugin_commands import ENTRY_POINTS, is_bundled
from evolve.conformance.plugins import PluginFinding, check_plugins
from evolve.plugins import BUNDLED, Plugins, installed, load
from evolve.types import ConfigError
from evolve.types.errors import did_you_mean

_STARTER = Path(__file__).parent / "starter"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_REGISTRIES = ("evaluators", "operators", "strategies", "models", "trackers", "executors", "presets")


@noun_group
def plugin() -> None:
    """List the plugins with what each provides, check them, and begin one."""


@dataclass(frozen=True, slots=True)
class PluginLine:
    """A plugin, and the names that it registers by their kind. `hooks` are those of its hooks that register nothing by name."""

    name: str
    bundled: bool
    provides: Mapping[str, Sequence[str]]


@plugin.command("list")
@json_option
def list_plugins(as_json: bool) -> None:
    """List the bundled plugins, and those that other packages bring."""
    lines = _list(load())
    if as_json:
        emit_all(lines)
        return
    rows = [
        (line.name, "evolve" if line.bundled else "third party", kind, ", ".join(names))
        for line in lines
        for kind, names in (line.provides or {"-": ()}).items()
    ]
    say(table(("plugin", "from", "provides", "names"), rows, wrap="names"))


def _list(plugins: Plugins) -> list[PluginLine]:
    """Returns a line for each plugin, and one for each module that brings commands."""
    lines = []
    for name, module in plugins.manager.list_name_plugin():
        provides = {
            kind: [entry for entry, found in getattr(plugins, kind).items() if found.plugin == name]
            for kind in _REGISTRIES
        }
        callers = plugins.manager.get_hookcallers(module) or []
        provides["hooks"] = sorted(caller.name for caller in callers if not caller.name.startswith("register_"))
        lines.append(PluginLine(name, name in BUNDLED, {kind: names for kind, names in provides.items() if names}))
    commands: dict[tuple[str, bool], list[str]] = {}
    for point in sorted(entry_points(group=ENTRY_POINTS)):
        commands.setdefault((point.module, is_bundled(point)), []).append(point.name)
    return lines + [PluginLine(module, ours, {"commands": names}) for (module, ours), names in commands.items()]


@plugin.command("check")
@click.argument("name", required=False)
@json_option
def check_installed(name: str | None, as_json: bool) -> None:
    """Load plugin NAME, or every plugin, and try out all that it registers.

    Operators, strategies, evaluators and trackers pass the suites of evolve.testing: equal inputs give equal answers, a replay
    rebuilds a strategy, a tracker is told of a rehearsed campaign and leaves nothing open. Exit code 1 where something fails.
    """
    findings = list(check_plugins(*_select(name)))
    if as_json:
        emit_all(findings)
    else:
        say(_format(findings))
    if any(finding.verdict == "failed" for finding in findings):
        click.get_current_context().exit(1)


def _select(name: str | None) -> tuple[Sequence[EntryPoint], Sequence[str]]:
    """Returns the installed and the bundled plugins that are to be checked."""
    points = installed()
    if name is None:
        return points, BUNDLED
    named = [point for point in points if point.name == name]
    if not named and name not in BUNDLED:
        known = [*BUNDLED, *(point.name for point in points)]
        raise ConfigError(
            f"there is no plugin {name!r}.{did_you_mean(name, known)} Try: install its package (pip install -e .); `evolve plugin list` "
            "shows what there is"
        )
    return named, [] if named else [name]


def _format(findings: Sequence[PluginFinding]) -> str:
    rows = [(finding.plugin, finding.about, finding.verdict) for finding in findings]
    messages = [f"{one.verdict}: {one.plugin}, {one.about}: {one.message}" for one in findings if one.message]
    counts = Counter(finding.verdict for finding in findings)
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "nothing to check"
    return "\n".join([table(("plugin", "about", "result"), rows), "", *messages, summary])


@plugin.command("new")
@click.argument("name")
@debug_option
def new_plugin(name: str) -> None:
    """Write the package evolve-NAME with a plugin that works: a folder of that name in the current one.

    It has an operator that swaps two numbers of a program, and its tests.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"a plugin's name is made of small letters, digits, - and _, and begins with a letter, got {name!r}. "
            "Try: choose one, such as swap"
        )
    plain = name.replace("-", "_").removeprefix("evolve_")
    if plain in load().operators:
        raise ConfigError(f"there is the operator {plain!r} already. Try: choose another name")
    folder = Path(f"evolve-{plain.replace('_', '-')}")
    if folder.exists():
        raise ConfigError(f"there is {str(folder)!r} already. Try: choose another name, or remove it")
    try:
        for path, text in starter_files(plain).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(
            f"{str(folder)!r} cannot be written: {error.strerror}. Try: begin in another folder"
        ) from error
    commands = (f"cd {folder}", "pip install -e '.[dev]'", "python -m pytest", f"evolve plugin check {plain}")
    say(facts([("wrote", f"{folder}, with the operator {plain!r}"), ("next", "\n".join(commands))]))


def starter_files(name: str) -> dict[str, str]:
    """Returns the files of a package with a plugin, by their paths: the folder `starter` under another name."""
    return {
        # The suffix `.txt` keeps tools from taking the file for a part of this project.
        _rename(path.relative_to(_STARTER).as_posix().removesuffix(".txt"), name): _rename(
            path.read_text("utf-8"), name
        )
        for path in sorted(_STARTER.rglob("*"))
        if path.suffix in (".py", ".md", ".txt")
    }


def _rename(text: str, name: str) -> str:
    return text.replace("evolve-starter", f"evolve-{name.replace('_', '-')}").replace("starter", name)
