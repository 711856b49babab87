"""Commands that other packages bring, in the entry-point group `evolve.commands`.

Invariant: what is wrong with one of them is an error that names its plugin, and only when it is called."""

from importlib.metadata import EntryPoint

import click

from evolve.plugins import guarded
from evolve.types import PluginError


def load_command(point: EntryPoint) -> click.Command:
    """The click command that an entry point names; raises `PluginError`."""
    command = guarded(point.name, point.load)
    if not isinstance(command, click.Command):
        raise PluginError(
            f"the command {point.name!r} is {point.value}, a {type(command).__name__}, and no click command. "
            "Do: name one in the entry-point group evolve.commands"
        )
    return command
