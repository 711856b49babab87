"""One file of a program while edits are looked up in it: its lines, and which of them may change.

Invariant: a text is its lines joined by `\\n`, so that a text which ends with one has an empty last line; line numbers begin at 0."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from evolve.blocks import Span, outside
from evolve.edits.spelling import plain

MOST_PLACES = 40
"""Places of one text in one file that are looked at."""


@dataclass(frozen=True)
class Change:
    """`lines[start:end]` become `new`; `number`: the edit of the reply that says so."""

    start: int
    end: int
    new: tuple[str, ...]
    number: int = 0


@dataclass(frozen=True)
class Sheet:
    """A file; `spans`: what of it may change, in characters."""

    path: str
    text: str
    spans: tuple[Span, ...]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Its lines, with their `\\r`."""
        return tuple(self.text.split("\n"))

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """Its lines with ordinary blanks, and none behind."""
        return tuple(map(plain, self.lines))

    @cached_property
    def bare(self) -> tuple[str, ...]:
        """Its lines without the blanks around them."""
        return tuple(map(str.strip, self.plain))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each line begins, in characters; one more for the end of the text."""
        return (*accumulate([len(line) + 1 for line in self.lines[:-1]], initial=0), len(self.text))

    @cached_property
    def newline(self) -> str:
        """What ends its lines before the `\\n`: `\\r`, or nothing."""
        return "\r" if 2 * self.text.count("\r\n") > self.text.count("\n") else ""

    @cached_property
    def whole(self) -> bool:
        """All of it may change."""
        return self.spans == (Span(0, len(self.text)),)

    def changeable_lines(self) -> Iterator[int]:
        """The numbers of the lines that are in a block, at least in part."""
        for span in self.spans:
            first = bisect_right(self.starts, span.start) - 1
            for index in range(min(first, len(self.lines) - 1), len(self.lines)):
                if self.starts[index] >= span.end:
                    break
                yield index

    def allows(self, change: Change) -> bool:
        """Whether nothing outside the blocks would change."""
        low, high = self.starts[change.start], self.starts[change.end]
        if any(span.start <= low and high <= span.end for span in self.spans):
            return True
        return bool(self.spans) and outside(self.changed([change]), self.path) == outside(self.text, self.path)

    def changed(self, changes: Sequence[Change]) -> str:
        """The text with changes that do not overlap, in the order of their places."""
        parts: list[str] = []
        place = 0
        for change in changes:
            parts += [*self.lines[place : change.start], *change.new]
            place = change.end
        return "\n".join([*parts, *self.lines[place:]])


def places(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Where `wanted` stands in `lines`, line by line; the first few places."""
    text = "\n" + "\n".join(lines) + "\n"
    needle = "\n" + "\n".join(wanted) + "\n"
    place = text.find(needle)
    for _ in range(MOST_PLACES):
        if place < 0:
            return
        yield text.count("\n", 0, place)
        place = text.find(needle, place + 1)
