"""Tables that fit a terminal: what all rows have in common is said once, what matters least is left out, and long texts are cut.

Invariant: a table that has room is not changed, and what is left out of one is named below it; `--json` has everything at any width."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evolve.cli.output import CELL, brief, one_line, table

REDIRECTED = 100
"""Columns of what is no terminal."""
_GAP = 2


@dataclass(frozen=True, slots=True)
class Fit:
    """How a table gets narrower, by its headings, in this order. `once`: a column of equal cells becomes words below the table, or nothing where they are
    empty. `spare`: columns that are left out for want of room, the first one first. `cut`: the column whose cells are cut, to no fewer than `least` characters."""

    once: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    cut: str = ""
    least: int = 16


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        return max(map(len, (self.heading, *self.cells)))


def fitted(headings: Sequence[str], rows: Iterable[Sequence[str]], fit: Fit) -> str:
    """A table as wide as the terminal at most, unless what may get narrower is not enough."""
    plain = [[brief(one_line(cell), CELL) for cell in row] for row in rows]
    room = terminal()
    columns = [_Column(one_line(name), tuple(row[place] for row in plain)) for place, name in enumerate(headings)]
    notes: list[str] = []
    if _width(columns) > room:
        columns, notes = _said_once(columns, fit)
    left_out = _spared(columns, fit, room)
    columns = [column for column in columns if column.heading not in left_out]
    columns = [_narrowed(column, columns, room, fit) for column in columns]
    if left_out:
        notes.append(f"(no room for {', '.join(left_out)}: a wider terminal and --json have it)")
    rows_left = zip(*(column.cells for column in columns), strict=True)
    return "\n".join([table([column.heading for column in columns], rows_left), *notes])


def terminal() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size((REDIRECTED, 24)).columns


def shortened(text: str, room: int) -> str:
    """A text of one line in so many characters."""
    return text if len(text) <= room else f"{text[: room - 1].rstrip()}…"


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.width + _GAP for column in columns) - _GAP


def _said_once(columns: Sequence[_Column], fit: Fit) -> tuple[list[_Column], list[str]]:
    """The columns that differ, and a line about the others."""
    equal = [column for column in columns if column.heading in fit.once and len(set(column.cells)) == 1]
    words = [f"{column.heading} {column.cells[0]}" for column in equal if column.cells[0]]
    return [column for column in columns if column not in equal], [f"(all: {', '.join(words)})"] if words else []


def _spared(columns: Sequence[_Column], fit: Fit, room: int) -> list[str]:
    """The headings of columns without which the rest fits, once it is cut."""
    left: list[str] = []
    needed = sum((min(fit.least, each.width) if each.heading == fit.cut else each.width) + _GAP for each in columns)
    for spare in fit.spare:
        if needed - _GAP <= room:
            break
        found = [column.width + _GAP for column in columns if column.heading == spare]
        needed -= sum(found)
        left += [spare] * bool(found)
    return left


def _narrowed(column: _Column, columns: Sequence[_Column], room: int, fit: Fit) -> _Column:
    if column.heading != fit.cut:
        return column
    least = max(min(fit.least, column.width), column.width - max(0, _width(columns) - room))
    return _Column(shortened(column.heading, least), tuple(shortened(cell, least) for cell in column.cells))
