"""How everything that a user can cause ends: one line on stderr and an exit code.

Invariant: an error of ours never shows a traceback unless it is asked for, and a bug is never caught."""

import errno
from collections.abc import Callable
from typing import Any

import click

from evolve.cli.output import DEBUG
from evolve.types import EvolveError

INTERRUPTED = 130


class Reported(click.ClickException):
    """An error on its way to the terminal; exit code 1."""

    def show(self, file: Any = None) -> None:
        """One line on stderr."""
        click.echo(f"evolve: error: {self.message}", err=True)


def reported(call: Callable[[click.Context], Any], context: click.Context) -> Any:
    """`call(context)`; what it raises for the user is reported, with the traceback where `--debug` is given."""
    try:
        return call(context)
    except KeyboardInterrupt:
        click.echo("\nevolve: stopped at once; what had settled is in the log.", err=True)
        context.exit(INTERRUPTED)
    except (EvolveError, OSError) as error:
        message = _message(error)
        if context.meta.get(DEBUG) or not message:
            raise
        raise Reported(message) from error


def _message(error: EvolveError | OSError) -> str:
    """What to tell the user; nothing where the error is none that a user can cause."""
    if isinstance(error, EvolveError):
        return str(error)
    full = error.errno == errno.ENOSPC
    return "the disk is full. Do: make room, then go on; what had settled is in the log" if full else ""
