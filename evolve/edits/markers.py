"""The lines that mark an edit, in all the ways in which models write them.

Invariant: a marker stands alone on its line; an edit's own markers have 5 to 20 characters, and of several that could end it those as
long as its first are preferred. So an edit can be written for any text: with markers of a length that the text has not."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from evolve.edits.answer import Broken, Split
from evolve.edits.failure import EditKind, shown

SHORTEST, LONGEST = 5, 20
_MOST_WAYS = 8

_OPENS = re.compile(
    rf"\s*(?P<run><{{{SHORTEST},{LONGEST}}}|-{{{SHORTEST},{LONGEST}}})[ \t]*"
    r"(?P<word>SEARCH|ORIGINAL|OLD|BEFORE|FIND)\b:?[ \t]*(?P<rest>\S*)\s*",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    rf"\s*(?P<run>[<>]{{{SHORTEST},{LONGEST}}}|\+{{{SHORTEST},{LONGEST}}})[ \t]*(?:REPLACE|REPLACEMENT|UPDATED|NEW|AFTER)\b:?\s*",
    re.IGNORECASE,
)
_DIVIDES = re.compile(rf"\s*(?P<run>={{{SHORTEST},{LONGEST}}})\s*")


class Kind(Enum):
    """What a marker does."""

    OPENS = "opens"
    DIVIDES = "divides"
    CLOSES = "closes"


class Mark(NamedTuple):
    """What a line marks, and by how many characters."""

    kind: Kind
    length: int


def marker(line: str) -> Mark | None:
    """The mark that a line is, if it is one."""
    if len(line) > 200 or line.lstrip()[:1] not in ("<", ">", "=", "-", "+"):
        return None
    for kind, pattern in ((Kind.OPENS, _OPENS), (Kind.DIVIDES, _DIVIDES), (Kind.CLOSES, _CLOSES)):
        found = pattern.fullmatch(line)
        if found:
            return Mark(kind, len(found["run"]))
    return None


def named_on(line: str) -> str:
    """What stands behind the word of a line that opens an edit: a path, if anything."""
    found = _OPENS.fullmatch(line)
    return found["rest"] if found else ""


class Markers:
    """All markers of a reply, found once; asked from each line that opens an edit."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at: dict[Mark, list[int]] = defaultdict(list)
        self._any: dict[Kind, list[int]] = {kind: [] for kind in Kind}
        for index, line in enumerate(lines):
            found = marker(line)
            if found:
                self._at[found].append(index)
                self._any[found.kind].append(index)

    def opens(self, start: int) -> int:
        """The first line from `start` on that opens an edit; behind the last line where none does."""
        return _first(self._any[Kind.OPENS], start, len(self._lines))

    def edit(self, start: int) -> tuple[tuple[Split, ...] | Broken, int]:
        """The edit that `lines[start]` opens, and the line after it."""
        found = marker(self._lines[start])
        assert found is not None, "asked for an edit where none begins"
        length, count = found.length, len(self._lines)
        stop = _first(self._at[Mark(Kind.OPENS, length)], start + 1, count)
        end = _first(self._at[Mark(Kind.CLOSES, length)], start + 1, stop)
        if end == stop:
            end = _first(self._any[Kind.CLOSES], start + 1, stop)
        if end == stop:
            return self._unfinished(start, stop), stop
        dividers = self._dividers(length, start + 1, end)
        if not dividers:
            return self._undivided(start, end), end + 1
        return tuple(self._split(start, middle, end) for middle in dividers), end + 1

    def _dividers(self, length: int, start: int, end: int) -> list[int]:
        own = _between(self._at[Mark(Kind.DIVIDES, length)], start, end)
        return (own or _between(self._any[Kind.DIVIDES], start, end))[:_MOST_WAYS]

    def _split(self, start: int, middle: int, end: int) -> Split:
        margin = self._lines[start][: len(self._lines[start]) - len(self._lines[start].lstrip())]
        body = self._lines[start + 1 : end]
        if margin and all(line.startswith(margin) or not line.strip() for line in body):
            body = [line.removeprefix(margin) for line in body]
        return Split(tuple(body[: middle - start - 1]), tuple(body[middle - start :]))

    def _unfinished(self, start: int, stop: int) -> Broken:
        kind = EditKind.CUT_OFF if stop == len(self._lines) else EditKind.UNPARSABLE
        begun = shown(self._lines[start : min(stop, start + 6)])
        return Broken(kind, f"This edit has no line `>>>>>>> REPLACE`:\n{begun}\nDo: write every edit out to its end")

    def _undivided(self, start: int, end: int) -> Broken:
        whole = shown(self._lines[start : end + 1])
        return Broken(
            EditKind.UNPARSABLE,
            f"This edit has no line `=======` between what is searched and what replaces it:\n{whole}\nDo: write both parts",
        )


def _first(places: Sequence[int], start: int, otherwise: int) -> int:
    """The first of the sorted places from `start` on, if it is before `otherwise`."""
    index = bisect_left(places, start)
    return min(places[index], otherwise) if index < len(places) else otherwise


def _between(places: Sequence[int], start: int, end: int) -> list[int]:
    """The first few of the sorted places in `start .. end`."""
    low = bisect_left(places, start)
    return [place for place in places[low : low + _MOST_WAYS] if place < end]
