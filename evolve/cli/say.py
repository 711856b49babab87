"""What a person reads: every text that is printed for people passes here.

Invariant: nothing that a program, or its evaluator, has written can move the cursor, hide words, or pass for words of ours on a terminal."""

import re
import shutil
import sys
import unicodedata
from typing import IO, Any

import click

from evolve.cli.output import CELL, brief, harmless, one_line
from evolve.sandbox.output import BLANK, MARK

_QUOTE = re.compile(rf"^(\w* *){MARK}(.+)$", re.MULTILINE)
"""A line that is quoted, be it a fact."""
_WIDE = ("W", "F", "A")
"""Letters that may fill two cells of a terminal (https://www.unicode.org/reports/tr11)."""


def say(text: str, *, nl: bool = True, err: bool = False, file: IO[Any] | None = None) -> None:
    """Prints a text, on stderr with `err`, without what a terminal would obey and without what nobody sees. A terminal gets quoted lines
    folded, for it would break long ones itself and go on without their mark."""
    out = file or (sys.stderr if err else sys.stdout)
    shown = harmless(text)
    if out is not None and out.isatty():
        shown = folded(shown, shutil.get_terminal_size().columns)
    click.echo(shown, nl=nl, err=err, file=file)


def folded(text: str, columns: int) -> str:
    """`text`, whose quoted lines are no wider than `columns` cells, each part with the mark."""
    return _QUOTE.sub(lambda found: _folded(found[1], found[2].expandtabs(), columns), text)


def _folded(label: str, words: str, columns: int) -> str:
    room, used, parts = max(2, columns - len(label + MARK) - 1), 0, [""]
    for character in words:
        cells = 2 if unicodedata.east_asian_width(character) in _WIDE else 1
        if used + cells > room:
            parts.append("")
            used = 0
        parts[-1] += character
        used += cells
    return label + MARK + f"\n{' ' * len(label)}{MARK}".join(parts)


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
        click.echo(shown, nl=not shown.endswith("\n"))
