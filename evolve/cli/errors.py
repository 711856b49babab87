"""Errors that a user can cause: one line on stderr and an exit code, with a traceback only where it is asked for. A bug is never caught."""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from evolve.cli.options import DEBUG
from evolve.cli.output import FACT, brief, quote, say
from evolve.types import EvolveError

INTERRUPTED = 130
_STOPPED = "stopped at once; what a campaign had settled is in its log."
NO_READER = 141
"""The exit code of a program that its closed output ended (128 + SIGPIPE)."""


class PrintedError(click.ClickException):
    """An error on its way to the terminal; exit code 1."""

    def show(self, file: Any = None) -> None:
        """One line on stderr; what the message quotes in further lines is marked as such."""
        first, *quotes = brief(self.message, FACT).split("\n")
        say("\n".join([f"evolve: error: {first}", *map(quote, quotes)]), err=True)


def report_errors(call: Callable[[click.Context], Any], context: click.Context) -> Any:
    """Returns `call(context)`; reports what it raises for the user, with the traceback where `--debug` is given."""
    try:
        return call(context)
    except KeyboardInterrupt as interrupt:
        say(f"\nevolve: {interrupt.args[0] if interrupt.args else _STOPPED}", err=True)
        context.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader is gone, such as `head` that has seen enough.
        _drop_outputs()
        context.exit(NO_READER)
    except (EvolveError, OSError, MemoryError, RuntimeError) as error:
        message = _message(error)
        if context.meta.get(DEBUG) or not message:
            raise
        raise PrintedError(message) from error


def _drop_outputs() -> None:
    """Sends what is left to say nowhere, so that Python does not complain of a closed output at its end."""
    for stream in (sys.stdout, sys.stderr):
        with open(os.devnull, "w") as nowhere, suppress(OSError, AttributeError):
            os.dup2(nowhere.fileno(), stream.fileno())


def _message(error: Exception) -> str:
    """Returns the words for the user; empty where the error is none that a user can cause."""
    if isinstance(error, EvolveError):
        return str(error)
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOSPC:
        return "the disk is full. Try: make room, then go on; what had settled is in the log"
    # Python has no kinds of their own for the other two.
    if isinstance(error, MemoryError) or number == errno.ENOMEM or str(error) == "can't start new thread":
        return (
            "there is not enough memory, or room for threads. Try: raise the limits (`ulimit -a` shows them), or give fewer `--workers`; "
            "what had settled is in the log"
        )
    return ""
