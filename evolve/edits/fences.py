"""Where a fence ends: not at the first line that could end it, where that line is in a string of the program.

Invariant: beyond the first line that could end a fence at most 2,000 lines are looked at."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_FENCE = re.compile(r"(?P<margin>[ \t]*(?:>[ \t]?)?)(?P<run>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)")
_FURTHER = 2_000
_TRIPLE = re.compile(r'"""|' + r"'''")


class Fence(NamedTuple):
    """A line that may open or end a fenced text."""

    margin: str
    run: str
    info: str


def fence(line: str) -> Fence | None:
    """The fence that a line is, if it is one."""
    found = _FENCE.fullmatch(line) if line.lstrip()[:3] in ("```", "~~~", "> `") else None
    return Fence(found["margin"], found["run"], found["info"].strip()) if found else None


def closing(lines: Sequence[str], start: int, opened: Fence, stop: int) -> int:
    """The line that ends the fence opened before `start`: one that is outside of triple quotes and no further in than the fence, or
    else the first that could; `stop` where none does."""
    quotes, first = "", stop
    for index in range(start, stop):
        line = lines[index]
        if _ends(line, opened):
            if not quotes:
                return index
            first = min(first, index)
            stop = min(stop, first + _FURTHER)
        elif '"""' in line or "'''" in line:
            quotes = _quotes_after(line, quotes)
    return first


def unmargined(lines: Sequence[str], margin: str) -> tuple[str, ...]:
    """The lines without the margin of their fence, where all have it."""
    if margin and all(line.startswith(margin) or not line.strip() for line in lines):
        return tuple(line.removeprefix(margin) for line in lines)
    return tuple(lines)


def _ends(line: str, opened: Fence) -> bool:
    found = fence(line)
    return (
        found is not None
        and not found.info
        and found.run[0] == opened.run[0]
        and len(found.run) >= len(opened.run)
        and len(found.margin) <= len(opened.margin)
    )


def _quotes_after(line: str, quotes: str) -> str:
    """Which triple quotes are open after a line, if they were open before it."""
    for found in _TRIPLE.finditer(line):
        if not quotes:
            quotes = found[0]
        elif quotes == found[0]:
            quotes = ""
    return quotes
