"""What a person reads: every text that is printed for people passes here.

Invariant: nothing that a program, or its evaluator, has written can move the cursor, hide words, or turn them around on a terminal."""

from typing import IO, Any

import click

from evolve.cli.output import CELL, brief, harmless, one_line
from evolve.sandbox.output import BLANK


def say(text: str, *, nl: bool = True, err: bool = False, file: IO[Any] | None = None) -> None:
    """Prints a text, on stderr with `err`, without what a terminal would obey and without what nobody sees."""
    click.echo(harmless(text), nl=nl, err=err, file=file)


def say_exactly(text: str) -> None:
    """Prints a text that people look at for what it is, such as code, and how much of it cannot be shown."""
    plain = text.replace("\r\n", "\n")
    _say_lines(harmless(plain))
    hidden = len(plain) - len(harmless(BLANK.sub("", plain)))
    if hidden > 0:
        say(
            f"({hidden} characters that cannot be shown are left out, or are spaces here; --json has all of it)",
            err=True,
        )


def say_file(path: str, text: str) -> None:
    """Prints a program's file below a line with its path and how many lines it has, so that no line of the file passes for such a
    line. They stand there without a mark, to be copied."""
    shown = harmless(text)
    count = shown.count("\n") + (not shown.endswith("\n")) if shown else 0
    say(f"\n--- {brief(one_line(path), CELL)} ({count} line{'' if count == 1 else 's'})")
    say_exactly(text)


def _say_lines(shown: str) -> None:
    if shown:
        say(shown, nl=not shown.endswith("\n"))
