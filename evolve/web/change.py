"""What is different between two programs, line by line, in the colours of their code.

Invariant: every line that differs is there, with its number on its side; of equal lines only those around."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from evolve.web.code import LINES, coloured, lines_of

_AROUND = 3
Kind = Literal["same", "old", "new", "gap"]
_NOTHING = Markup()


@dataclass(frozen=True, slots=True)
class Row:
    """A line of one side or of both; `old` and `new` are its numbers, 0 where it is not. A gap stands for equal lines that are not shown."""

    kind: Kind
    old: int
    new: int
    html: Markup


@dataclass(frozen=True, slots=True)
class Change:
    """A file that differs. `cut`: it has more lines than are compared."""

    path: str
    rows: tuple[Row, ...]
    added: int
    removed: int
    cut: bool


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """The files that differ, by their paths."""
    return tuple(
        _change(path, before.get(path, ""), after.get(path, ""))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    )


def _change(path: str, before: str, after: str) -> Change:
    old, new = lines_of(before), lines_of(after)
    cut = max(len(old), len(new)) > LINES
    old, new = old[:LINES], new[:LINES]
    rows = tuple(_rows(old, new, coloured(path, old), coloured(path, new)))
    added, removed = (sum(row.kind == kind for row in rows) for kind in ("new", "old"))
    return Change(path, rows, added, removed, cut)


def _rows(old: Sequence[str], new: Sequence[str], was: Sequence[Markup], now: Sequence[Markup]) -> Iterator[Row]:
    seen = 0
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_AROUND):
        if group[0][1] > seen:
            yield Row("gap", 0, 0, _NOTHING)
        seen = group[-1][2]
        for tag, first, last, begin, end in group:
            if tag == "equal":
                pairs = zip(range(first, last), range(begin, end), strict=True)
                yield from (Row("same", one + 1, two + 1, now[two]) for one, two in pairs)
            else:
                yield from (Row("old", at + 1, 0, was[at]) for at in range(first, last))
                yield from (Row("new", 0, at + 1, now[at]) for at in range(begin, end))
    if seen < len(old):
        yield Row("gap", 0, 0, _NOTHING)
