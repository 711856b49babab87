"""Errors that a user can cause: one line on stderr and an exit code, with a traceback only where it is asked for. A bug is never caught."""

import errno
import os
import select
import sys
from collections.abc import Callable
from typing import Any, TextIO

import click

from evolve.cli.options import DEBUG
from evolve.cli.output import FACT, brief, quoted, say
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
        say("\n".join([f"evolve: error: {first}", *map(quoted, quotes)]), err=True)


def reported(call: Callable[[click.Context], Any], context: click.Context) -> Any:
    """Returns `call(context)`; reports what it raises for the user, with the traceback where `--debug` is given."""
    try:
        return call(context)
    except KeyboardInterrupt as interrupt:
        say(f"\nevolve: {interrupt.args[0] if interrupt.args else _STOPPED}", err=True)
        context.exit(INTERRUPTED)
    except BrokenPipeError:
        if not _drop_closed_outputs():
            raise
        context.exit(NO_READER)
    except (EvolveError, OSError, MemoryError, RuntimeError, OverflowError) as error:
        message = _message(error)
        if context.meta.get(DEBUG) or not message:
            raise
        raise PrintedError(message) from error


def _drop_closed_outputs() -> bool:
    """Returns whether the reader of stdout or stderr is gone, such as `head` that has seen enough, and sends the rest nowhere, so that
    Python does not complain of it at its end."""
    closed = [stream.fileno() for stream in (sys.stdout, sys.stderr) if _has_lost_its_reader(stream)]
    for number in closed:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
    return bool(closed)


def _has_lost_its_reader(stream: TextIO | None) -> bool:
    if stream is None:
        return False
    poll = select.poll()
    try:
        poll.register(stream.fileno(), select.POLLOUT)
    except OSError:  # it is no file of the system's
        return False
    return any(found & (select.POLLERR | select.POLLHUP) for _, found in poll.poll(0))


def _message(error: Exception) -> str:
    """Returns the words for the user; empty where the error is none that a user can cause."""
    if isinstance(error, EvolveError):
        return str(error)
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOSPC:
        return "the disk is full. Do: make room, then go on; what had settled is in the log"
    # Python has no kinds of their own for the other two.
    if isinstance(error, MemoryError) or number == errno.ENOMEM or str(error) == "can't start new thread":
        return (
            "there is not enough memory, or room for threads. Do: raise the limits (`ulimit -a` shows them), or give fewer `--workers`; "
            "what had settled is in the log"
        )
    if str(error).startswith("timestamp "):
        return "this machine's clock says a time that Python cannot tell. Do: set the clock"
    return ""
