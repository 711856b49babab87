"""From two programs to the edit that leads from one to the other, as a model would write it.

Invariant: each SEARCH text stands in its file once, so that reading it back is certain."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import NamedTuple

from evolve.blocks import Span, blocks, outside
from evolve.edits.answer import NO_NEWLINE
from evolve.edits.markers import LONGEST, SHORTEST, marker
from evolve.edits.matching import is_blank
from evolve.edits.sheet import places
from evolve.types import EditError, Program

_USUAL = 7
_MOST_PAIRS = 2_000_000
"""Pairs of lines that are compared; larger differences are written as one edit."""


class Hunk(NamedTuple):
    """`old[start:end]` becomes `new[low:high]`."""

    start: int
    end: int
    low: int
    high: int


def diff(old: Program, new: Program) -> str:
    """SEARCH/REPLACE text such that `read(diff(old, new), old)` gives `new`, where `new` may be: it changes nothing outside the blocks,
    and no line of it stands for code that is left out. Empty where the two are equal. Raises `EditError` where a file is gone: no edit
    takes one away."""
    gone = [path for path in old.files if path not in new.files]
    if gone:
        raise EditError(f"no edit can take {gone[0]!r} away. Do: keep every file")
    edits = [
        (path, search, replace)
        for path, text in new.files.items()
        if old.files.get(path) != text
        for search, replace in _edits(path, old.files.get(path, ""), text)
    ]
    length = _length(chain.from_iterable([*search, *replace] for _, search, replace in edits))
    named = len(new.files) > 1
    return "\n\n".join(_written(path if named else "", search, replace, length) for path, search, replace in edits)


def _edits(path: str, old: str, new: str) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    before, after = old.split("\n"), new.split("\n")
    if is_blank(before):
        yield (), _whole(new)
        return
    hunks = [hunk for part in _parts(path, old, new) for hunk in _hunks(before, after, part)]
    for hunk in _unique(before, hunks):
        yield before[hunk.start : hunk.end], after[hunk.low : hunk.high]


def _parts(path: str, old: str, new: str) -> list[Hunk]:
    """The lines of each block, so that no line of one is taken for a line of another; all lines where there is no block."""
    if not blocks(old, path) or outside(old, path) != outside(new, path):
        return [Hunk(0, old.count("\n") + 1, 0, new.count("\n") + 1)]
    return [
        Hunk(*_lines_of(old, before), *_lines_of(new, after))
        for before, after in zip(blocks(old, path), blocks(new, path), strict=True)
    ]


def _lines_of(text: str, span: Span) -> tuple[int, int]:
    """The lines of a block, also those that it shares, the last one of the file too."""
    first = text.count("\n", 0, span.start)
    whole_lines = span.end < len(text) and text[: span.end].endswith("\n")
    return first, text.count("\n", 0, span.end) + (0 if whole_lines else 1)


def _whole(text: str) -> list[str]:
    """The lines of a whole file as `answer` reads them."""
    lines = text.split("\n")
    if lines[-1]:
        return [*lines, NO_NEWLINE]
    return lines[:-1] if lines[:-1] and lines[-2] not in ("", NO_NEWLINE) else lines


def _hunks(lines: Sequence[str], others: Sequence[str], part: Hunk) -> Iterator[Hunk]:
    before, after = lines[part.start : part.end], others[part.low : part.high]
    low, most = 0, min(len(before), len(after))
    while low < most and before[low] == after[low]:
        low += 1
    high = 0
    while high < most - low and before[-1 - high] == after[-1 - high]:
        high += 1
    start, end, stop = low, len(before) - high, len(after) - high
    codes = [("replace", 0, end - start, 0, stop - low)]
    if (end - start) * (stop - low) <= _MOST_PAIRS:
        codes = list(SequenceMatcher(None, before[start:end], after[low:stop], autojunk=False).get_opcodes())
    for tag, i, j, k, m in codes:
        if tag != "equal" and (i < j or k < m):
            first, other = part.start + start, part.low + low
            yield Hunk(first + i, first + j, other + k, other + m)


def _unique(before: Sequence[str], hunks: Sequence[Hunk]) -> list[Hunk]:
    """The hunks with as many lines around them as make each stand in one place; those that then touch are one."""
    found: list[Hunk] = []
    rest = list(reversed(hunks))
    while rest:
        hunk, context = rest.pop(), 1
        while True:
            while found and found[-1].end >= hunk.start:
                hunk = _joined(found.pop(), hunk)
            while rest and rest[-1].start <= hunk.end:
                hunk = _joined(hunk, rest.pop())
            if _stands_once(before, hunk):
                break
            hunk = _wider(hunk, context, len(before))
            context *= 2
        found.append(hunk)
    return found


def _joined(first: Hunk, second: Hunk) -> Hunk:
    """Both and what is between them, or as much as the wider one covers."""
    start, end = min(first.start, second.start), max(first.end, second.end)
    return Hunk(start, end, first.low - (first.start - start), second.high + (end - second.end))


def _wider(hunk: Hunk, by: int, count: int) -> Hunk:
    up, down = min(by, hunk.start), min(by, count - hunk.end)
    return Hunk(hunk.start - up, hunk.end + down, hunk.low - up, hunk.high + down)


def _stands_once(before: Sequence[str], hunk: Hunk) -> bool:
    wanted = before[hunk.start : hunk.end]
    return not is_blank(wanted) and sum(1 for _, _ in zip(range(2), places(before, wanted), strict=False)) == 1


def _length(lines: Iterator[str]) -> int:
    """How long the markers must be to be told from every line that looks like one."""
    marks = map(marker, lines)
    taken = {mark.length for mark in marks if mark}
    lengths: list[int] = [*range(_USUAL, LONGEST + 1), *range(SHORTEST, _USUAL)]
    for length in lengths:
        if length not in taken:
            return length
    raise EditError("the program has lines that look like markers of an edit in every length. Do: shorten one")


def _written(path: str, search: Sequence[str], replace: Sequence[str], length: int) -> str:
    head = [path] if path else []
    return "\n".join([*head, "<" * length + " SEARCH", *search, "=" * length, *replace, ">" * length + " REPLACE"])
