"""Where a SEARCH text stands in a file: exactly, or but for white space; never nearly.

Invariant: every line of the text is a line of the file, in the same order; what differs is white space around the lines alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from evolve.edits.answer import Lines, Split
from evolve.edits.fences import fence
from evolve.edits.sheet import Change, Sheet, places
from evolve.edits.spelling import has_entities, has_numbers, mended, plain, unescaped, unnumbered

Match = Callable[[Sheet, Split], Iterator[Change]]

_TABS = (8, 4, 2)


def exact(sheet: Sheet, split: Split) -> Iterator[Change]:
    """Places where each character is the same."""
    for start in places(sheet.lines, split.search):
        yield _trimmed(sheet, start, split.search, split.replace)


def loose(sheet: Sheet, split: Split) -> Iterator[Change]:
    """Places where the lines are the same but for white space behind them, the kind of blanks, and blank lines around the text."""
    split = _without_blank_edges(split)
    search = tuple(plain(line) for line in split.search)
    for start in places(sheet.plain, search):
        yield _fitted(sheet, start, search, mended([line.rstrip("\r") for line in split.replace]))


def indented(sheet: Sheet, split: Split) -> Iterator[Change]:
    """Places where all lines are further in, or further out, by the same; or tabs stand for blanks. What replaces them moves likewise."""
    split = _without_blank_edges(split)
    search = tuple(plain(line) for line in split.search)
    for start in places(sheet.bare, [line.strip() for line in search]):
        there = sheet.plain[start : start + len(search)]
        moved = _moved(search, there, mended([line.rstrip("\r") for line in split.replace]))
        if moved is not None:
            yield _fitted(sheet, start, there, moved)


MATCHES: tuple[Match, ...] = (exact, loose, indented)
"""From the strictest on; the first that finds a place is believed."""


def spellings(split: Split) -> Iterator[Split]:
    """The edit as it is written, and as it may have been meant: without a fence around each part, without numbers before its lines,
    without HTML's spelling."""
    yield split
    bare = Split(_unfenced(split.search), _unfenced(split.replace))
    if bare.search != split.search:
        yield bare
    numberless = unnumbered(split.search)
    replacement = unnumbered(split.replace) or split.replace
    if numberless is not None and not has_numbers(replacement):
        yield Split(numberless, replacement)
    if has_entities(split.search):
        yield Split(_decoded(split.search), _decoded(split.replace))


def is_blank(lines: Sequence[str]) -> bool:
    """There is nothing to be seen in them."""
    return not any(plain(line) for line in lines)


def _decoded(lines: Lines) -> Lines:
    return tuple(unescaped(line) for line in lines)


def _unfenced(lines: Lines) -> Lines:
    kept = [index for index, line in enumerate(lines) if line.strip()]
    if len(kept) >= 2 and fence(lines[kept[0]]) and fence(lines[kept[-1]]):
        return lines[kept[0] + 1 : kept[-1]]
    return lines


def _without_blank_edges(split: Split) -> Split:
    """Blank lines at the edges of what is searched mean nothing; as many go from what replaces it."""
    search, replacement = list(split.search), list(split.replace)
    for edge in (0, -1):
        while search and not plain(search[edge]):
            search.pop(edge)
            if replacement and not plain(replacement[edge]):
                replacement.pop(edge)
    return Split(tuple(search), tuple(replacement))


def _fitted(sheet: Sheet, start: int, search: Lines, replacement: Lines) -> Change:
    """The change with the file's line ends; lines that stay are those of the file."""
    change = _trimmed(sheet, start, search, replacement)
    new = [line + sheet.newline for line in change.new]
    if new and change.end == len(sheet.lines):
        new[-1] = new[-1].removesuffix("\r")
    return replace(change, new=tuple(new))


def _trimmed(sheet: Sheet, start: int, search: Sequence[str], replacement: Sequence[str]) -> Change:
    """The change without the lines at both ends that stay."""
    low, most = 0, min(len(search), len(replacement))
    while low < most and search[low] == replacement[low]:
        low += 1
    high = 0
    while high < most - low and search[-1 - high] == replacement[-1 - high]:
        high += 1
    return Change(start + low, start + len(search) - high, tuple(replacement[low : len(replacement) - high]))


def _moved(search: Lines, there: Lines, replacement: Lines) -> Lines | None:
    """The replacement indented as the file is; None where the two differ by more than one distance."""
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
