"""Commands of plugins, from the entry-point group `evolve.commands`.

An entry point `NAME` becomes `evolve NAME`; `GROUP.NAME` becomes `evolve GROUP NAME`. A command that is not a plugin's cannot be replaced. The module imports click alone, for `evolve --help` imports it."""

import ast
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

ENTRY_POINTS = "evolve.commands"
_SUMMARY = 80
"""Characters of a command's line in `--help`."""


class PluginGroup(click.Group):
    """Group that lists and runs the commands of plugins beside its own."""

    @property
    def prefix(self) -> str:
        """Start of the entry points' names that belong to this group."""
        return f"{self.name}."

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of the group's own commands and of those of plugins."""
        return sorted({*super().list_commands(ctx), *find_commands(self.prefix)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns a command; raises `PluginError` for a plugin's that does not load."""
        own = super().get_command(ctx, cmd_name)
        point = find_commands(self.prefix).get(cmd_name)
        if own is not None or point is None:
            return own
        return load_command(point)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list for `--help`; plugins are read, not imported, so that one that is broken or slow spoils nothing."""
        points = find_commands(self.prefix)
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summarise(ctx, name, points)) for name in self.list_commands(ctx)])

    def summarise(self, ctx: click.Context, name: str, points: dict[str, EntryPoint]) -> str:
        """Returns a command's line in `--help`."""
        own = super().get_command(ctx, name)
        return own.get_short_help_str(_SUMMARY) if own is not None else read_summary(points[name])


def load_command(point: EntryPoint) -> click.Command:
    """Returns the click command that an entry point names; raises `PluginError`."""
    command = import_name("evolve.plugins:guarded")(point.name, point.load)
    if not isinstance(command, click.Command):
        raise import_name("evolve.types:PluginError")(
            f"the command {point.name!r} is {point.value}, a {type(command).__name__}, and no click command. "
            "Try: name one in the entry-point group evolve.commands"
        )
    return command


def find_commands(prefix: str = "") -> dict[str, EntryPoint]:
    """Returns the installed entry points that begin with `prefix` by the rest of their names, which has no dot. Of two with one name evolve's own counts."""
    points = sorted(entry_points(group=ENTRY_POINTS), key=is_bundled)
    rest = {point.name.removeprefix(prefix): point for point in points if point.name.startswith(prefix)}
    return {name: point for name, point in rest.items() if "." not in name}


def is_bundled(point: EntryPoint) -> bool:
    """Returns whether an entry point is one of this package."""
    return point.dist is not None and point.dist.name == "evolve"


def read_summary(point: EntryPoint) -> str:
    """Returns the first sentence of the docstring of the function that an entry point names, from its source; the reference itself where there is none."""
    try:
        tree = ast.parse(_source(point.module).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return f"({point.value})"
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == point.attr)
    text = next((ast.get_docstring(function) for function in functions), None)
    return click.Command(point.name, help=text).get_short_help_str(_SUMMARY) if text else f"({point.value})"


def _source(module: str) -> Path:
    """Returns the file of a module. `find_spec` of a module within a package would import the package."""
    package, *inner = module.split(".")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(module)
    if not inner:
        return Path(spec.origin)
    path = Path(spec.origin).parent.joinpath(*inner)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def import_name(reference: str) -> Any:
    """Returns what `module:name` refers to; the module is imported now."""
    module, _, name = reference.partition(":")
    return vars(import_module(module))[name]
