"""`--sandbox`: the option, and the note where candidates run below the usual level."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from evolve.cli.output import say
from evolve.engine.isolation import LEVELS, VARIABLE, Confinement
from evolve.sandbox.means import Means

Command = TypeVar("Command", bound=Callable[..., Any])


def sandbox_option(command: Command) -> Command:
    """Adds `--sandbox`, given to the command as `sandbox`."""
    told = f"How candidates must be isolated at least; none: not at all.  [default: ${VARIABLE}, else standard]"
    return click.option("--sandbox", type=click.Choice(LEVELS), help=told)(command)


def note_isolation(found: Confinement) -> Means:
    """Returns the means, and prints a note about a level that nobody asked for."""
    if found.unasked:
        say(f"evolve: note: isolation {found.line}", err=True)
    return found.means
