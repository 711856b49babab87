"""Places where a SEARCH text stands in a file: exactly, or but for white space; never nearly.

Every line of the text is a line of the file, in the same order; the white space around the lines alone may differ. How models spell code
is undone where it is certain: blanks that do not break, numbers before lines."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property
from itertools import accumulate

from evolve.edits.blocks import Span, outside
from evolve.edits.scanner import Lines, Split, parse_fence

_BLANKS = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f\u2002\u2003\u2009", " ") | dict.fromkeys("\ufeff\u200b"))
_MARGIN = re.compile(r"[ \t\u00a0\u2007\u202f\u2002\u2003\u2009\ufeff\u200b]*")
_NUMBERED = re.compile(r"[ \t]{0,12}(?P<number>\d{1,6})(?:[ \t]?[|:│]|\t)(?: (?P<rest>.*)|(?P<tight>.*))")


def strip_line(line: str) -> str:
    """Returns a line with ordinary blanks alone, and no white space behind."""
    return (line if line.isascii() else line.translate(_BLANKS)).rstrip()


def normalize_blanks(lines: Sequence[str]) -> Lines:
    """Lines whose blanks are ordinary ones: all that they begin with, and those in a line without a quote: in a string
    they may be meant."""
    return tuple(_normalize_blanks(line) for line in lines)


def remove_numbers(lines: Sequence[str]) -> Lines | None:
    """Returns the lines without the numbers that were copied with them; None where not every line has the next number."""
    found = [_NUMBERED.fullmatch(line) for line in lines if line.strip()]
    numbers = [int(match["number"]) for match in found if match]
    if not numbers or len(numbers) < len(found) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    rest = iter([match["rest"] if match["rest"] is not None else match["tight"] for match in found if match])
    return tuple(next(rest) if line.strip() else line for line in lines)


def has_numbers(lines: Sequence[str]) -> bool:
    """Returns whether any line begins as one that was copied with its number."""
    return any(_NUMBERED.fullmatch(line) for line in lines)


def _normalize_blanks(line: str) -> str:
    if line.isascii():
        return line
    end = _MARGIN.match(line)
    margin = end.end() if end else 0
    rest = line[margin:]
    return line[:margin].translate(_BLANKS) + (rest if '"' in rest or "'" in rest else rest.translate(_BLANKS))


_MOST_COMPARED, _LONGEST_COMPARED = 1_500, 160
"""Lines, and characters of a line, that are compared for the nearest lines of a message."""
MOST_PLACES = 40
"""Places of one text in one file that are looked at."""


@dataclass(frozen=True)
class LineChange:
    """Change of `lines[start:end]` to `new`; `number`: the edit of the reply that says so."""

    start: int
    end: int
    new: tuple[str, ...]
    number: int = 0


@dataclass(frozen=True)
class FileView:
    """A file; `spans`: what of it may change, in characters."""

    path: str
    text: str
    spans: tuple[Span, ...]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Lines, with their `\\r`."""
        return tuple(self.text.split("\n"))

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """Lines with ordinary blanks, and none behind."""
        return tuple(map(strip_line, self.lines))

    @cached_property
    def bare(self) -> tuple[str, ...]:
        """Lines without the blanks around them."""
        return tuple(map(str.strip, self.plain))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Starts of the lines, in characters, and the end of the text."""
        return (*accumulate([len(line) + 1 for line in self.lines[:-1]], initial=0), len(self.text))

    @cached_property
    def newline(self) -> str:
        """End of a line before the `\\n`: `\\r`, or nothing."""
        return "\r" if 2 * self.text.count("\r\n") > self.text.count("\n") else ""

    @cached_property
    def whole(self) -> bool:
        """True where the whole file may change."""
        return self.spans == (Span(0, len(self.text)),)

    def changeable_lines(self) -> Iterator[int]:
        """Yields the numbers of the lines that are in a block, at least in part."""
        for span in self.spans:
            first = bisect_right(self.starts, span.start) - 1
            for index in range(min(first, len(self.lines) - 1), len(self.lines)):
                if self.starts[index] >= span.end:
                    break
                yield index

    def allows(self, change: LineChange) -> bool:
        """Returns whether nothing outside the blocks would change."""
        low, high = self.starts[change.start], self.starts[change.end]
        if any(span.start <= low and high <= span.end for span in self.spans):
            return True
        return bool(self.spans) and outside(self.apply([change]), self.path) == outside(self.text, self.path)

    def apply(self, changes: Sequence[LineChange]) -> str:
        """Returns the text with changes that do not overlap, in the order of their places."""
        parts: list[str] = []
        place = 0
        for change in changes:
            parts += [*self.lines[place : change.start], *change.new]
            place = change.end
        return "\n".join([*parts, *self.lines[place:]])


def find_lines(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Yields the first few places at which `wanted` stands in `lines`."""
    text = "\n" + "\n".join(lines) + "\n"
    needle = "\n" + "\n".join(wanted) + "\n"
    place = text.find(needle)
    for _ in range(MOST_PLACES):
        if place < 0:
            return
        yield text.count("\n", 0, place)
        place = text.find(needle, place + 1)


Match = Callable[[FileView, Split], Iterator[LineChange]]

_TABS = (8, 4, 2)


def match_exactly(sheet: FileView, split: Split) -> Iterator[LineChange]:
    """Places where each character is the same."""
    for start in find_lines(sheet.lines, split.search):
        yield _trim(sheet, start, split.search, split.replace)


def match_loosely(sheet: FileView, split: Split) -> Iterator[LineChange]:
    """Places where the lines are the same but for white space behind them, the kind of blanks, and blank lines around the text."""
    split = _without_blank_edges(split)
    search = tuple(strip_line(line) for line in split.search)
    for start in find_lines(sheet.plain, search):
        yield _fit(sheet, start, search, normalize_blanks([line.rstrip("\r") for line in split.replace]))


def match_indented(sheet: FileView, split: Split) -> Iterator[LineChange]:
    """Places where all lines are further in, or further out, by the same; or tabs stand for blanks. What read_hunks them moves likewise."""
    split = _without_blank_edges(split)
    search = tuple(strip_line(line) for line in split.search)
    for start in find_lines(sheet.bare, [line.strip() for line in search]):
        there = sheet.plain[start : start + len(search)]
        moved = _move(search, there, normalize_blanks([line.rstrip("\r") for line in split.replace]))
        if moved is not None:
            yield _fit(sheet, start, there, moved)


MATCHES: tuple[Match, ...] = (match_exactly, match_loosely, match_indented)
"""From the strictest on; the first that finds a place is believed."""


def list_spellings(split: Split) -> Iterator[Split]:
    """Yields the edit as it is written, and as it may have been meant: without a fence around each part, or without numbers before its lines."""
    yield split
    bare = Split(_remove_fence(split.search), _remove_fence(split.replace))
    if bare.search != split.search:
        yield bare
    numberless = remove_numbers(split.search)
    replacement = remove_numbers(split.replace) or split.replace
    if numberless is not None and not has_numbers(replacement):
        yield Split(numberless, replacement)


def is_blank(lines: Sequence[str]) -> bool:
    """Reports lines without visible text."""
    return not any(strip_line(line) for line in lines)


def _remove_fence(lines: Lines) -> Lines:
    kept = [index for index, line in enumerate(lines) if line.strip()]
    if len(kept) >= 2 and parse_fence(lines[kept[0]]) and parse_fence(lines[kept[-1]]):
        return lines[kept[0] + 1 : kept[-1]]
    return lines


def _without_blank_edges(split: Split) -> Split:
    """Blank lines at the edges of what is searched mean nothing; as many go from what read_hunks it."""
    search, replacement = list(split.search), list(split.replace)
    for edge in (0, -1):
        while search and not strip_line(search[edge]):
            search.pop(edge)
            if replacement and not strip_line(replacement[edge]):
                replacement.pop(edge)
    return Split(tuple(search), tuple(replacement))


def _fit(sheet: FileView, start: int, search: Lines, replacement: Lines) -> LineChange:
    """Returns the change with the file's line ends; lines that stay are those of the file."""
    change = _trim(sheet, start, search, replacement)
    new = [line + sheet.newline for line in change.new]
    if new and change.end == len(sheet.lines):
        new[-1] = new[-1].removesuffix("\r")
    return replace(change, new=tuple(new))


def _trim(sheet: FileView, start: int, search: Sequence[str], replacement: Sequence[str]) -> LineChange:
    """Returns the change without the lines at both ends that stay."""
    low, most = 0, min(len(search), len(replacement))
    while low < most and search[low] == replacement[low]:
        low += 1
    high = 0
    while high < most - low and search[-1 - high] == replacement[-1 - high]:
        high += 1
    return LineChange(start + low, start + len(search) - high, tuple(replacement[low : len(replacement) - high]))


def _move(search: Lines, there: Lines, replacement: Lines) -> Lines | None:
    """Returns the replacement indented as the file is; None where the two differ by more than one distance."""
    margins = {_margin(wanted): _margin(line) for wanted, line in zip(search, there, strict=True) if line}
    tabs = any("\t" in margin for pair in margins.items() for margin in pair)
    for size in _TABS if tabs else _TABS[:1]:
        distances = {_width(new, size) - _width(old, size) for old, new in margins.items()}
        moved = _at_distance(replacement, margins, distances.pop(), size) if len(distances) == 1 else None
        if moved is not None:
            return moved
    return None


def _at_distance(lines: Lines, margins: dict[str, str], distance: int, size: int) -> Lines | None:
    tabbed = any("\t" in margin for margin in margins.values())
    moved: list[str] = []
    for line in lines:
        margin = _margin(line)
        width = _width(margin, size) + distance
        if width < 0 and line.strip():
            return None
        blanks = "\t" * (width // size) + " " * (width % size) if tabbed else " " * width
        moved.append(margins.get(margin, blanks) + line[len(margin) :] if line.strip() else "")
    return tuple(moved)


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _width(margin: str, size: int) -> int:
    return len(margin.expandtabs(size))


def find_nearest(wanted: Sequence[str], lines: Sequence[str]) -> tuple[int, int] | None:
    """Returns the first of the lines that come nearest to a text which is not among them, and the one behind the last; None where nothing
    is near. For a message, never for an edit. The work is bounded, whatever the text."""
    wanted, lines = [line for line in wanted if line][:_MOST_COMPARED], lines[:_MOST_COMPARED]
    if not wanted:
        return None
    common = SequenceMatcher(None, wanted, lines, autojunk=False).find_longest_match()
    start = max(0, common.b - common.a)
    if not common.size:
        shortened = [line[:_LONGEST_COMPARED] for line in lines]
        telling = max(wanted[:8], key=len)[:_LONGEST_COMPARED]
        alike = get_close_matches(telling, [line for line in shortened if line], n=1, cutoff=0.5)
        if not alike:
            return None
        start = shortened.index(alike[0])
    return start, min(len(lines), start + max(3, len(wanted)))
