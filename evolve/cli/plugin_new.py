"""`evolve plugin new`: a package with a plugin that works and tests itself, to begin one's own from.

Invariant: what is written is the folder `starter` beside this file, of which tests run every part, under another name and without the
kinds that were not asked for. Nothing is overwritten."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import click

from evolve.cli.output import debug_option, facts
from evolve.cli.say import say
from evolve.plugins import Plugins, load
from evolve.types import ConfigError

KINDS = ("operator", "strategy", "evaluator", "tracker")
_STARTER = Path(__file__).parent / "starter"
_TEXTS = (".py", ".md", ".toml", ".starter")
"""A file that ends in `.starter` has another name here, lest tools take it for a part of this project."""
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_ONLY = re.compile(r"^<!-- \[(\w+)\] -->\n(.*?)^<!-- \[/\1\] -->\n", re.MULTILINE | re.DOTALL)
"""Lines of the README that are about one kind."""
_HOOKS = {
    "evaluator": "register_evaluators",
    "operator": "register_operators",
    "strategy": "register_strategies",
    "tracker": "register_trackers",
}


@click.command("new")
@click.argument("name")
@click.option(
    "--kind", "kinds", type=click.Choice(KINDS), multiple=True, required=True, help="What it provides; may be repeated."
)
@debug_option
def new_plugin(name: str, kinds: tuple[str, ...]) -> None:
    """Write the package evolve-NAME with a plugin that works: a folder of that name in the current one.

    It has an operator that swaps numbers, a strategy that holds tournaments, an evaluator with its task, or a tracker that writes
    down each better program, and tests of each.
    """
    plain = _plain(name)
    _refuse_what_is_taken(plain, kinds, load())
    folder = Path(f"evolve-{plain.replace('_', '-')}")
    _write(folder, package(plain, kinds))
    commands = (f"cd {folder}", "pip install -e '.[dev]'", "python -m pytest", f"evolve plugin check {plain}")
    what = " and the ".join(f"{kind} {plain!r}" for kind in dict.fromkeys(kinds))
    say(facts([("wrote", f"{folder}, with the {what}"), ("next", "\n".join(commands))]))


def package(name: str, kinds: Collection[str]) -> dict[str, str]:
    """The files of a package with a plugin, by their paths."""
    files = {}
    for path in sorted(_STARTER.rglob("*")):
        place = path.relative_to(_STARTER)
        if path.suffix in _TEXTS and _is_wanted(place, kinds):
            text = _ONLY.sub(lambda found: found[2] if found[1] in kinds else "", path.read_text("utf-8"))
            files[_renamed(place.as_posix().removesuffix(".starter"), name)] = _renamed(text, name)
    return files | {f"src/evolve_{name}/__init__.py": _module(name, kinds)}


def _module(name: str, kinds: Collection[str]) -> str:
    """The module that the entry point names: the hooks of each kind's own module."""
    hooks = {kind: hook for kind, hook in _HOOKS.items() if kind in kinds}
    imports = "\n".join(f"from evolve_{name}.{kind} import {hook}" for kind, hook in hooks.items())
    listed = ", ".join(f'"{hook}"' for hook in hooks.values())
    told = f"evolve imports this module by the entry point `{name}`, and calls the hooks that it finds here."
    return f'"""{told}"""\n\n{imports}\n\n__all__ = [{listed}]\n'


def _is_wanted(place: Path, kinds: Collection[str]) -> bool:
    """A file belongs to a kind that is in its name; tasks belong to evaluators."""
    if place.parts[0] == "tasks":
        return "evaluator" in kinds
    theirs = [kind for kind in KINDS if kind in place.stem]
    return not theirs or theirs[0] in kinds


def _renamed(text: str, name: str) -> str:
    return text.replace("evolve-starter", f"evolve-{name.replace('_', '-')}").replace("starter", name)


def _plain(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"a plugin's name is made of small letters, digits, - and _, and begins with a letter, got {name!r}. "
            "Do: choose one, such as swap"
        )
    return name.replace("-", "_").removeprefix("evolve_")


def _refuse_what_is_taken(name: str, kinds: Collection[str], plugins: Plugins) -> None:
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
    """Makes the folder with these files; raises `ConfigError` where there is something of its name."""
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
