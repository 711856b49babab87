"""Tables and sentences that are no broader than a terminal.

Invariant: nothing is cut; what does not fit stands below. A single column beside the first one may still be broader."""

import textwrap
from collections.abc import Sequence

from evolve.cli.output import table

BREADTH = 100
_GAP = 2


def narrow(headings: Sequence[str], rows: Sequence[Sequence[str]], breadth: int = BREADTH) -> str:
    """A table, in parts one below the other where it is broader: each begins with the first column."""
    columns = list(zip(headings, *rows, strict=True))
    parts = [_told((columns[0], *part)) for part in _parts(columns, breadth)]
    return "\n\n".join(parts) if parts else _told(columns)


def _parts(columns: Sequence[Sequence[str]], breadth: int) -> list[list[Sequence[str]]]:
    """The columns but the first, as many together as fit beside it."""
    widths = [max(map(len, column)) for column in columns]
    parts, used = list[list[Sequence[str]]](), breadth
    for column, width in zip(columns[1:], widths[1:], strict=True):
        if used + _GAP + width > breadth:
            parts.append([])
            used = widths[0]
        parts[-1].append(column)
        used += _GAP + width
    return parts


def _told(columns: Sequence[Sequence[str]]) -> str:
    headings, *rows = zip(*columns, strict=True)
    return table(headings, rows)


def broken(sentence: str, breadth: int = BREADTH) -> str:
    """A sentence as lines, of which the further ones are indented."""
    return textwrap.fill(sentence, breadth, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
