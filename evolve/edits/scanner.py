"""Scanner of replies: their edits, fenced texts and lines of prose, in their order.

Linear in the reply's length; what is inside an edit or a fence is never taken for anything else. An edit's
markers have 5 to 20 characters each."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from evolve.edits.errors import EditFailed, EditKind, quote_lines
from evolve.edits.paths import clean_path, find_in_passing, read_info, read_label

Lines = tuple[str, ...]
NO_NEWLINE = "\\ No newline at end of file"
"""As the last line of a whole file: its last line has no end. Unified diffs say it so."""


@dataclass(frozen=True, slots=True)
class Split:
    """A way to read an edit: more than one divider in it makes several."""

    search: Lines
    replace: Lines


@dataclass(frozen=True, slots=True)
class EditBlock:
    """An edit. `number`: which one of the reply, from 1; `path`: as the model wrote it, empty where it did not."""

    number: int
    path: str
    ways: tuple[Split, ...]


@dataclass(frozen=True, slots=True)
class FencedText:
    """A fenced text that may be a file or a block. `named`: the path was given for it, and not in passing; `hint`: a path in passing;
    `closed`: its fence ends."""

    path: str
    named: bool
    tag: str
    lines: Lines
    closed: bool


@dataclass(frozen=True, slots=True)
class BrokenEdit:
    """Text that begins like an edit and is none."""

    kind: EditKind
    message: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A line of the reply outside everything else."""

    text: str


Item = EditBlock | FencedText | BrokenEdit | Prose


_FENCE = re.compile(r"(?P<margin>[ \t]*(?:>[ \t]?)?)(?P<run>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)")
_FURTHER = 2_000
_TRIPLE = re.compile(r'"""|' + r"'''")


class Fence(NamedTuple):
    """A line that may open or end a fenced text."""

    margin: str
    run: str
    info: str


def parse_fence(line: str) -> Fence | None:
    """Returns the fence that a line is, if it is one."""
    found = _FENCE.fullmatch(line) if line.lstrip()[:3] in ("```", "~~~", "> `") else None
    return Fence(found["margin"], found["run"], found["info"].strip()) if found else None


def find_closing(lines: Sequence[str], start: int, opened: Fence, stop: int) -> int:
    """Returns the line that ends the fence opened before `start`: one that is outside of triple quotes and no further in than the fence, or
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


def remove_margin(lines: Sequence[str], margin: str) -> tuple[str, ...]:
    """Returns the lines without the margin of their fence, where all have it."""
    if margin and all(line.startswith(margin) or not line.strip() for line in lines):
        return tuple(line.removeprefix(margin) for line in lines)
    return tuple(lines)


def _ends(line: str, opened: Fence) -> bool:
    found = parse_fence(line)
    return (
        found is not None
        and not found.info
        and found.run[0] == opened.run[0]
        and len(found.run) >= len(opened.run)
        and len(found.margin) <= len(opened.margin)
    )


def _quotes_after(line: str, quotes: str) -> str:
    """Returns the triple quotes that are open after a line, given those that were open before it."""
    for found in _TRIPLE.finditer(line):
        if not quotes:
            quotes = found[0]
        elif quotes == found[0]:
            quotes = ""
    return quotes


_MOST_WAYS = 8
_OPENS = re.compile(
    r"\s*(?:<{5,20}|-{5,20})[ \t]*(?:SEARCH|ORIGINAL|OLD|BEFORE|FIND)\b:?[ \t]*(?P<rest>\S*)\s*", re.IGNORECASE
)
_CLOSES = re.compile(r"\s*(?:[<>]{5,20}|\+{5,20})[ \t]*(?:REPLACE|REPLACEMENT|UPDATED|NEW|AFTER)\b:?\s*", re.IGNORECASE)
_DIVIDES = re.compile(r"\s*={5,20}\s*")


class MarkerIndex:
    """Markers of a reply, found once, so that looking up the edit at each line that opens one stays linear."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._opens, self._divides, self._closes = (
            [
                index
                for index, line in enumerate(lines)
                if len(line) <= 200 and line.lstrip()[:1] in starts and pattern.fullmatch(line)
            ]
            for starts, pattern in ((("<", "-"), _OPENS), (("=",), _DIVIDES), (("<", ">", "+"), _CLOSES))
        )

    def opens(self, start: int) -> int:
        """Returns the first line from `start` on that opens an edit; behind the last line where none does."""
        return _first(self._opens, start, len(self._lines))

    def path_on(self, start: int) -> str:
        """Returns the text behind the word of a line that opens an edit: a path, if anything."""
        found = _OPENS.fullmatch(self._lines[start])
        return found["rest"] if found else ""

    def edit(self, start: int) -> tuple[tuple[Split, ...] | BrokenEdit, int]:
        """Returns the edit that `lines[start]` opens, and the line after it."""
        stop = self.opens(start + 1)
        end = _first(self._closes, start + 1, stop)
        if end == stop:
            return self._report_unfinished(start, stop), stop
        low = bisect_left(self._divides, start)
        dividers = [place for place in self._divides[low : low + _MOST_WAYS] if place < end]
        if not dividers:
            return self._report_undivided(start, end), end + 1
        return tuple(self._split(start, middle, end) for middle in dividers), end + 1

    def _split(self, start: int, middle: int, end: int) -> Split:
        margin = self._lines[start][: len(self._lines[start]) - len(self._lines[start].lstrip())]
        body = self._lines[start + 1 : end]
        if margin and all(line.startswith(margin) or not line.strip() for line in body):
            body = [line.removeprefix(margin) for line in body]
        return Split(tuple(body[: middle - start - 1]), tuple(body[middle - start :]))

    def _report_unfinished(self, start: int, stop: int) -> BrokenEdit:
        kind = EditKind.CUT_OFF if stop == len(self._lines) else EditKind.UNPARSABLE
        begun = quote_lines(self._lines[start : min(stop, start + 6)])
        return BrokenEdit(
            kind, f"This edit has no line `>>>>>>> REPLACE`:\n{begun}\nDo: write every edit out to its end"
        )

    def _report_undivided(self, start: int, end: int) -> BrokenEdit:
        whole = quote_lines(self._lines[start : end + 1])
        return BrokenEdit(
            EditKind.UNPARSABLE,
            f"This edit has no line `=======` between what is searched and what replaces it:\n{whole}\nDo: write both parts",
        )


def _first(places: Sequence[int], start: int, otherwise: int) -> int:
    """Returns the first of the sorted places from `start` on, if it is before `otherwise`."""
    index = bisect_left(places, start)
    return min(places[index], otherwise) if index < len(places) else otherwise


_HEAD = re.compile(r"@@.*")
_FILE = re.compile(r"(?:\*\*\* (?:Update|Add) File: |\+\+\+ )(?P<path>[^\t\n]{1,300}?)(?:\t.*)?\s*")
_LIKE_CHANGES = ("--- ", "+++ ")
"""How lines of a diff's head begin that may be changed lines of a program, too: `-- a comment` that goes."""
_NOISE = re.compile(
    r"diff --git .*|index [0-9a-f]+\.\..*|(?:new|old|deleted) .*mode .*|--- .*|\*\*\* (?:Begin Patch|End Patch|End of File).*"
)


def begins_diff(lines: Sequence[str], index: int) -> bool:
    """Returns whether a diff without a fence begins at a line."""
    line = lines[index]
    after = lines[index + 1] if index + 1 < len(lines) else ""
    return line.startswith("*** Begin Patch") or (line.startswith("--- ") and after.startswith("+++ "))


def find_diff_end(lines: Sequence[str], start: int, stop: int) -> int:
    """Returns the line behind a diff without a fence."""
    for index in range(start, stop):
        line = lines[index]
        if line.startswith("*** End Patch"):
            return index + 1
        if line and line[0] not in " +-@\\*" and not _NOISE.fullmatch(line[:300]):
            return index
    return stop


def looks_like_diff(lines: Sequence[str], tag: str) -> bool:
    """Returns whether a fenced text is one: by its heads, or because it says so and has lines that are taken out or put in."""
    if any(_HEAD.match(line) for line in lines[:60]) and any(line[:1] in ("+", "-") for line in lines):
        return True
    return tag in ("diff", "patch") and any(line[:1] in ("+", "-") for line in lines)


def read_hunks(lines: Sequence[str], path: str) -> Iterator[EditBlock | BrokenEdit]:
    """Yields the edits of a diff; `path` is what was named before it."""
    hunk: list[str] = []
    within = False
    for line, after in pairwise([*lines, "@@", ""]):
        if within and _is_change(line, after):
            hunk.append(line)
            continue
        found = _FILE.fullmatch(line[:400])
        if not (found or _HEAD.match(line) or _NOISE.fullmatch(line[:300])):
            hunk.append(line)
            within = within or bool(line.strip())
            continue
        if any(part.strip() for part in hunk):
            yield _replace(hunk, path)
        hunk, within = [], _HEAD.match(line) is not None
        if found and found["path"] != "/dev/null":
            path = clean_path(found["path"])


def _is_change(line: str, after: str) -> bool:
    """Returns whether a line of a hunk is one, though it begins as the head of the next file does."""
    return line.startswith(_LIKE_CHANGES) and not (line.startswith("--- ") and after.startswith("+++ "))


def _replace(hunk: Sequence[str], path: str) -> EditBlock | BrokenEdit:
    while hunk and not hunk[-1].strip():
        hunk = hunk[:-1]
    search: list[str] = []
    replace: list[str] = []
    for line in hunk:
        if line[:1] not in ("", " ", "+", "-", "\\"):
            return BrokenEdit(
                EditKind.UNPARSABLE,
                f"This part of a diff has a line that begins with none of ' ', '-' and '+': {line[:100]!r}\n"
                f"{quote_lines(hunk)}\nDo: write SEARCH/REPLACE blocks",
            )
        if line[:1] != "+" and line != NO_NEWLINE:
            search.append(line[1:])
        if line[:1] != "-" and line != NO_NEWLINE:
            replace.append(line[1:])
    return EditBlock(0, path, (Split(tuple(search), tuple(replace)),))


MOST_EDITS = 300
_NEAR = 3
"""Lines before an edit in which its path is looked for."""

_BLANK = Prose("")


def scan(lines: Sequence[str], paths: Collection[str]) -> tuple[Item, ...]:
    """Returns the edits, the fenced texts and the lines of prose of a reply; `paths` are those of the program. Raises `EditFailed` where there
    are more than any reply needs."""
    found: list[Item] = []
    count = 0
    for item in Scanner(lines, paths).items():
        count += not isinstance(item, Prose)
        if count > MOST_EDITS:
            raise EditFailed(
                EditKind.TOO_LARGE,
                f"The reply has more than {MOST_EDITS} edits. Do: write one fenced text with the whole file",
            )
        found.append(item)
    return tuple(found)


class Scanner:
    """One pass over the lines of a reply, from its first to its last."""

    def __init__(self, lines: Sequence[str], paths: Collection[str]) -> None:
        self._lines = lines
        self._paths = paths
        self._markers = MarkerIndex(lines)
        self._index = 0
        self._free = 0
        self._number = 1
        self._path = ""
        self._around = ""

    def items(self) -> Iterator[Item]:
        """Yields the items of the reply, lines of prose among them."""
        while self._index < len(self._lines):
            if not self._lines[self._index].strip():
                self._index += 1
                yield _BLANK
                continue
            opened = parse_fence(self._lines[self._index])
            if self._index == self._markers.opens(self._index):
                yield self._edit()
            elif opened and self._around and not opened.info and opened.run[0] == self._around[0]:
                self._past(self._index + 1)
                self._around = ""
            elif opened:
                yield from self._read_fenced(opened)
            elif begins_diff(self._lines, self._index):
                yield from self._diff()
            else:
                yield Prose(self._lines[self._index])
                self._path = ""
                self._index += 1

    def _past(self, index: int) -> None:
        """Goes on behind what was read."""
        self._index = self._free = index

    def _edit(self) -> EditBlock | BrokenEdit:
        path = read_label(self._markers.path_on(self._index)) or self._label() or self._path
        found, after = self._markers.edit(self._index)
        self._past(after)
        self._path = path
        self._number += 1
        return found if isinstance(found, BrokenEdit) else EditBlock(self._number - 1, path, found)

    def _read_fenced(self, opened: Fence) -> Iterator[Item]:
        """Yields a fenced text; or, where an edit begins in it, nothing: the edit comes next."""
        start, count = self._index + 1, len(self._lines)
        tag, path = read_info(opened.info)
        named = path or self._label()
        opens = self._markers.opens(start)
        end = find_closing(self._lines, start, opened, count)
        if opens < end:
            self._path, self._around = named or self._path, opened.run
            self._free, self._index = start, opens
            return
        body = remove_margin(self._lines[start:end], opened.margin)
        if looks_like_diff(body, tag):
            yield from self._number_edits(read_hunks(body, named))
        else:
            yield FencedText(named or self._passing(), bool(named), tag, body, end < count)
        self._past(min(end + 1, count))
        self._path = ""

    def _diff(self) -> Iterator[Item]:
        start = self._index
        end = max(start + 1, find_diff_end(self._lines, start, self._markers.opens(start)))
        yield from self._number_edits(read_hunks(self._lines[start:end], self._label()))
        self._past(end)

    def _number_edits(self, found: Iterator[EditBlock | BrokenEdit]) -> Iterator[EditBlock | BrokenEdit]:
        for item in found:
            yield replace(item, number=self._number) if isinstance(item, EditBlock) else item
            self._number += 1

    def _before(self) -> Iterator[str]:
        """Yields the lines with text right before this one that nothing else holds, the nearest first."""
        for index in range(self._index - 1, max(self._free, self._index - _NEAR) - 1, -1):
            if self._lines[index].strip():
                yield self._lines[index]

    def _label(self) -> str:
        line = next(self._before(), "")
        bare = clean_path(line[:240])
        return bare if bare in self._paths else read_label(line)

    def _passing(self) -> str:
        return find_in_passing(next(self._before(), ""), self._paths)
