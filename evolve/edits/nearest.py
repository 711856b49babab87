"""The lines of a file that a text which is not in it comes nearest to: for the message, never for the edit.

Invariant: the work is bounded, whatever the text."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher

_MOST_LINES = 1_500
_LONGEST = 160
_COMMON = 12
"""A line that stands in a file as often tells nothing of where a text comes from."""
_CLOSE = 0.5


def nearest(wanted: Sequence[str], lines: Sequence[str]) -> tuple[int, int] | None:
    """The first line of the nearest lines and the one behind the last; None where nothing is near. Both without blanks around lines."""
    wanted = [line for line in wanted if line][:_MOST_LINES]
    if not wanted:
        return None
    start = _by_equal_lines(wanted, lines)
    if start is None:
        start = _by_likeness(max(wanted[:8], key=len), lines)
    return None if start is None else (max(0, start), min(len(lines), max(0, start) + max(3, len(wanted))))


def _by_equal_lines(wanted: Sequence[str], lines: Sequence[str]) -> int | None:
    """Where most of the wanted lines would stand if they were at their distances."""
    where: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if line and len(where[line]) <= _COMMON:
            where[line].append(index)
    votes = Counter(
        index - offset
        for offset, line in enumerate(wanted)
        if len(where.get(line, ())) <= _COMMON
        for index in where.get(line, ())
    )
    return min(votes, key=lambda start: (-votes[start], start)) if votes else None


def _by_likeness(line: str, lines: Sequence[str]) -> int | None:
    """The line that is most alike."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(line[:_LONGEST])
    ranked: list[tuple[float, int]] = []
    for index, other in enumerate(lines[:_MOST_LINES]):
        matcher.set_seq1(other[:_LONGEST])
        if other and matcher.real_quick_ratio() >= _CLOSE:
            ranked.append((matcher.quick_ratio(), -index))
    best: tuple[float, int] = (_CLOSE, 1)
    for _, index in sorted(ranked, reverse=True)[:8]:
        matcher.set_seq1(lines[-index][:_LONGEST])
        best = max(best, (matcher.ratio(), index))
    return None if best[1] > 0 else -best[1]
