"""What a person reads: every text that is printed for people passes here.

Invariant: nothing that a program, or its evaluator, has written can move the cursor, hide words, or turn them around on a terminal."""

from typing import IO, Any

import click

from evolve.cli.output import harmless


def say(text: str, *, nl: bool = True, err: bool = False, file: IO[Any] | None = None) -> None:
    """Prints a text, on stderr with `err`, without what a terminal would obey and without what nobody sees."""
    click.echo(harmless(text), nl=nl, err=err, file=file)


def say_exactly(text: str) -> None:
    """Prints a text that people look at for what it is, such as code, and how much of it cannot be shown."""
    say(text, nl=not text.endswith("\n"))
    plain = text.replace("\r\n", "\n")
    hidden = len(plain) - len(harmless(plain))
    if hidden > 0:
        say(f"({hidden} characters that cannot be shown are left out; --json has all of it)", err=True)
