"""Application of SEARCH/REPLACE edits: each is looked up in the text as it was shown, and all of them are applied, or none.

A SEARCH text stands in a file exactly, or but for the white space around its lines; never nearly. Text outside the blocks is the same
afterwards, two edits never change the same lines, and a new line that stands for code which is left out (`...`) is refused."""

import functools
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import accumulate, islice, pairwise

from evolve.edits.blocks import END, START, Span, changeable, outside
from evolve.edits.changes import matches
from evolve.edits.errors import EditFailed, EditKind, quote_lines
from evolve.types import Program

LARGEST = 400_000
"""Characters that a file may always have; a larger one may not grow to twice its size."""
MOST_PLACES = 40
"""Places of one text in one file that are looked at."""
_OTHERS = 5
_MOST_COMPARED = 1_500
"""Lines that are compared for the nearest one of a message."""

_LONGEST = 160
_CODE = r"(?:code|functions?|methods?|class(?:es)?|implementations?|program|file|logic|imports?|everything|all|\w+\(\))"
_ELISION = re.compile(
    rf"(?:.*\b(?:rest|remainder|remaining|existing|previous)\b.*{_CODE}(?!\w).*"
    rf"|.*{_CODE}(?!\w).*(?:unchanged|omitted|(?:remain|stay|is|are)s? the same|as is)\b.*"
    r"|.*(?:code|implementation) (?:\w+ )?(?:here|omitted).*"
    r"|(?:rest )?(?:unchanged|omitted|same as (?:before|above)|snip)|no changes?(?: below.*)?)[ .]*",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?:#+|//+|--+|/\*+|<!--|;+|%+|\[|<|(?=\.{3}|…))\s*(?P<said>.*?)\s*(?:\*/|-->|\]|>)?")
_DOTS = ("...", "…")


def find_elision(lines: Sequence[str], kept: Collection[str]) -> str:
    """Returns the first line that stands for code which it leaves out (`# ... existing code ...`, `# rest unchanged`); empty where none does.
    A line that is among `kept`, the lines of the program without the blanks around them, is the program's own."""
    for line in lines:
        text = line.strip()
        if text and len(text) <= _LONGEST and text not in kept and _stands_for_code(text):
            return text
    return ""


def _stands_for_code(text: str) -> bool:
    comment = _COMMENT.fullmatch(text)
    if comment is None:
        return False
    said = comment["said"]
    words = said.strip(" .…()[]{}*:-")
    dotted = said.startswith(_DOTS) and said.endswith(_DOTS)
    return dotted or bool(words and _ELISION.fullmatch(words))


@dataclass(frozen=True, slots=True)
class EditBlock:
    """An edit. `number`: its place in the reply, from 1; `path`: as the model wrote it, empty where it did not."""

    number: int
    path: str
    search: tuple[str, ...]
    replace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineChange:
    """Change of `lines[start:end]` to `new`; `number`: the edit of the reply that says so."""

    start: int
    end: int
    new: tuple[str, ...]
    number: int


@dataclass(frozen=True)
class FileView:
    """A file as an edit sees it: `text` ends its lines with `\\n` alone; `spans`: what of it may change, in characters."""

    path: str
    text: str
    spans: tuple[Span, ...]
    has_crlf: bool

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Lines without their ends."""
        return tuple(self.text.split("\n"))

    @cached_property
    def bare(self) -> tuple[str, ...]:
        """Lines without the blanks around them."""
        return tuple(map(str.strip, self.lines))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Starts of the lines, in characters, and the end of the text."""
        return (*accumulate([len(line) + 1 for line in self.lines[:-1]], initial=0), len(self.text))

    @property
    def whole(self) -> bool:
        """True where the whole file may change."""
        return self.spans == (Span(0, len(self.text)),)

    def changeable_lines(self) -> Iterator[int]:
        """Yields the numbers of the lines that are in a block, at least in part."""
        for span in self.spans:
            first = min(bisect_right(self.starts, span.start) - 1, len(self.lines) - 1)
            yield from (index for index in range(first, len(self.lines)) if self.starts[index] < span.end)

    def allows(self, change: LineChange) -> bool:
        """Returns whether nothing outside the blocks would change."""
        low, high = self.starts[change.start], self.starts[change.end]
        if any(span.start <= low and high <= span.end for span in self.spans):
            return True
        # A block may share a line with text outside it; then only the texts themselves can tell.
        return bool(self.spans) and outside(self.apply([change]), self.path) == outside(self.text, self.path)

    def apply(self, changes: Sequence[LineChange]) -> str:
        """Returns the text with changes that do not overlap, in the order of their places."""
        parts, place = list[str](), 0
        for change in changes:
            parts += [*self.lines[place : change.start], *change.new]
            place = change.end
        return "\n".join([*parts, *self.lines[place:]])

    def finish(self, text: str) -> str:
        """Returns a new text of the file as it is stored. Raises `EditFailed` where it is too large or differs outside the blocks."""
        refuse_large(self, len(text))
        if self.whole and START not in self.text:
            # Markers in a file without blocks would say that the rest of it may not change any more.
            text = "\n".join(line for line in text.split("\n") if START not in line and END not in line)
        elif not self.whole and outside(text, self.path) != outside(self.text, self.path):
            raise EditFailed(
                EditKind.OUTSIDE,
                f"{self.path} would change outside its blocks, or its EVOLVE-BLOCK markers would: "
                "a marker was written, or a string or a comment is not ended. "
                "Try: change only the lines between the markers, and leave the markers as they are",
            )
        return text.replace("\n", "\r\n") if self.has_crlf else text


Place = tuple[FileView, LineChange]


@functools.lru_cache(maxsize=16)
def view_files(program: Program) -> Mapping[str, FileView]:
    """Returns the files of a program, with what may change of each. Cached: one parent has many children."""
    crlf = {path for path, text in program.files.items() if 0 < text.count("\n") == text.count("\r\n")}
    texts = {path: text.replace("\r\n", "\n") if path in crlf else text for path, text in program.files.items()}
    spans = changeable(texts)
    return {path: FileView(path, text, tuple(spans[path]), path in crlf) for path, text in texts.items()}


def apply_edits(edits: Sequence[EditBlock], known: Mapping[str, FileView], new_files: Sequence[str]) -> dict[str, str]:
    """Returns the texts of the files that the edits change or add. Raises `EditFailed`, with a word on every edit that does not apply."""
    changes: dict[str, list[LineChange]] = {}
    added: dict[str, str] = {}
    # All failures are collected, so that one more round can repair all of them.
    failures: list[tuple[int, EditFailed]] = []
    for edit in edits:
        try:
            path = resolve_path(edit.path, tuple(known), new_files) if edit.path else ""
            if path and path not in known:
                _add(added, path, edit)
                continue
            view, change = _find_place(edit, [known[path]] if path else list(known.values()))
            changes.setdefault(view.path, []).append(change)
        except EditFailed as failure:
            failures.append((edit.number, failure))
    if failures:
        raise _combine(failures)
    return added | {path: merge_changes(known[path], found) for path, found in changes.items()}


def resolve_path(path: str, paths: Sequence[str], new_files: Sequence[str]) -> str:
    """Returns the path of the program, or the new one, that a model means; a leading folder too many or too few is forgiven where it is
    certain which is meant; a path that climbs (`..`) is none of a program's. Raises `EditFailed`."""
    if path in paths:
        return path
    # Where a path that climbs would end up is not asked: no file of a program is there.
    if ".." not in path.split("/"):
        if any(matches(path, pattern) for pattern in new_files):
            return path
        near = [known for known in paths if known.endswith(f"/{path}") or path.endswith(f"/{known}")]
        if len(near) == 1:
            return near[0]
    allowed = f", and new ones that match {' or '.join(new_files)}" if new_files else ", and no new ones"
    raise EditFailed(
        EditKind.UNKNOWN_FILE,
        f"There is no file {path[:200]!r} that could be edited. The program has {', '.join(paths)[:600]}{allowed}. Try: name one of these",
    )


def merge_changes(view: FileView, changes: Sequence[LineChange]) -> str:
    """Returns the text of a file with all its changes."""
    # Models repeat an edit word for word at times, which means one.
    distinct = {(change.start, change.end, change.new): change for change in reversed(changes)}
    ordered = sorted(distinct.values(), key=lambda change: (change.start, change.end, change.number))
    for before, after in pairwise(ordered):
        if after.start < before.end:
            there = quote_lines(view.lines[after.start : before.end])
            raise EditFailed(
                EditKind.CONFLICT,
                f"Edits {before.number} and {after.number} both change these lines of {view.path}:\n{there}\nTry: write one edit for them",
            )
    return view.finish(view.apply(ordered))


def refuse_large(view: FileView, size: int) -> None:
    """Raises `EditFailed` where a file would have more characters than any file needs."""
    if size > max(LARGEST, 2 * len(view.text)):
        raise EditFailed(
            EditKind.TOO_LARGE, f"{view.path} would have {size:,} characters. Try: keep it below {LARGEST:,}"
        )


def join_lines(lines: Sequence[str]) -> str:
    """Returns the text of a file: its last line is ended."""
    return "\n".join(lines if not lines or lines[-1] == "" else [*lines, ""])


def refuse_elision(lines: Sequence[str], kept: Collection[str], where: str) -> None:
    """Raises `EditFailed` for a line that stands for code which is left out."""
    left_out = find_elision(lines, kept)
    if left_out:
        raise EditFailed(
            EditKind.ELIDED,
            f"{where} puts a line into the program that stands for code which is left out: {left_out!r}. "
            "Try: write that code, or do not touch it",
        )


def _add(added: dict[str, str], path: str, edit: EditBlock) -> None:
    if _strip_edges(edit.search):
        raise EditFailed(
            EditKind.NOT_FOUND,
            f"Edit {edit.number} searches in {path}, and there is no such file. Try: leave SEARCH empty to add it",
        )
    if path in added:
        raise EditFailed(
            EditKind.CONFLICT, f"Edit {edit.number} adds {path}, and so does one before it. Try: add it once"
        )
    refuse_elision(edit.replace, (), f"Edit {edit.number}")
    added[path] = join_lines(edit.replace)


def _find_place(edit: EditBlock, views: Sequence[FileView]) -> Place:
    """Returns the one place of an edit: where it stands exactly, else but for white space around its lines."""
    search, replace = _strip_edges(edit.search), _strip_edges(edit.replace)
    if not search:
        raise EditFailed(
            EditKind.AMBIGUOUS,
            f"Edit {edit.number} has nothing between SEARCH and =======, so it does not say where. "
            "Try: search for the line before the place, and repeat it in REPLACE",
        )
    # An exact place wins over a loose one: the same lines may stand further in elsewhere.
    exact = [(view, start) for view in views for start in _find_lines(view.lines, edit.search)]
    if exact:
        found = [(view, _trim(edit.number, start, edit.search, edit.replace)) for view, start in exact]
    else:
        bare = [line.strip() for line in search]
        loose = [(view, start) for view in views for start in _find_lines(view.bare, bare)]
        found = [
            (view, _trim(edit.number, start, there, moved))
            for view, start in loose
            if (moved := _move(search, there := view.lines[start : start + len(search)], replace)) is not None
        ]
    if not found:
        raise _explain_not_found(edit, views)
    return _choose_place(edit, found)


def _choose_place(edit: EditBlock, found: Sequence[Place]) -> Place:
    inside = [(view, change) for view, change in found if view.allows(change)]
    if not inside:
        raise EditFailed(
            EditKind.OUTSIDE,
            f"Edit {edit.number} would change {_at(*found[0])}, which is outside the blocks that may change:\n"
            f"{quote_lines(edit.search, 8)}\n{_describe_allowed([view for view, _ in found])}",
        )
    if len(inside) > 1:
        where = "; ".join(_at(view, change) for view, change in inside[:6])
        raise EditFailed(
            EditKind.AMBIGUOUS,
            f"The SEARCH text of edit {edit.number} stands in {len(inside)} places ({where}):\n{quote_lines(edit.search, 8)}\n"
            "Try: add lines before or after it, until it stands in one place",
        )
    view, change = inside[0]
    refuse_elision(change.new, frozenset(view.bare), f"Edit {edit.number}")
    return view, change


def _find_lines(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Yields the first few places at which `wanted` stands in `lines`."""
    text = "\n" + "\n".join(lines) + "\n"
    needle = "\n" + "\n".join(wanted) + "\n"
    place = text.find(needle)
    for _ in range(MOST_PLACES):
        if place < 0:
            return
        yield text.count("\n", 0, place)
        place = text.find(needle, place + 1)


def _strip_edges(lines: Sequence[str]) -> tuple[str, ...]:
    """Returns the lines without the blank ones at both ends."""
    kept = [index for index, line in enumerate(lines) if line.strip()]
    return tuple(lines[kept[0] : kept[-1] + 1]) if kept else ()


def _trim(number: int, start: int, search: Sequence[str], replace: Sequence[str]) -> LineChange:
    """Returns the change without the lines at both ends that stay: they may be outside a block, or another edit's."""
    low, most = 0, min(len(search), len(replace))
    while low < most and search[low] == replace[low]:
        low += 1
    high = 0
    while high < most - low and search[-1 - high] == replace[-1 - high]:
        high += 1
    end = start + len(search) - high
    return LineChange(start + low, end, tuple(replace[low : len(replace) - high]), number)


def _move(search: Sequence[str], there: Sequence[str], replace: Sequence[str]) -> tuple[str, ...] | None:
    """Returns the replacement, indented as the file is; None where not all lines are further in, or further out, by the same."""
    pairs = [(_margin(line), _margin(old)) for line, old in zip(search, there, strict=True) if line.strip()]
    written, own = min(pairs, key=lambda pair: len(pair[0]))
    if any(old != own + margin.removeprefix(written) for margin, old in pairs):
        return None
    known = dict(zip(search, there, strict=True))
    moved = []
    for line in replace:
        if line in known:
            # A line that stays is the file's own, with the blanks behind it.
            moved.append(known[line])
        elif not line.strip() or line.startswith(written):
            moved.append(f"{own}{line.removeprefix(written)}" if line.strip() else "")
        else:
            return None
    return tuple(moved)


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _explain_not_found(edit: EditBlock, views: Sequence[FileView]) -> EditFailed:
    views = [view for view in views if view.spans] or views
    names = ", ".join(view.path for view in views)[:300]
    begin = f"The SEARCH text of edit {edit.number} is not in {names}:\n{quote_lines(edit.search, 8)}\n"
    left_out = find_elision(edit.search, frozenset(line for view in views for line in view.bare))
    if left_out:
        remedy = f"Its line {left_out!r} stands for others. Try: write all lines of a SEARCH text, or make it shorter"
        return EditFailed(EditKind.NOT_FOUND, begin + remedy)
    longest = max((line.strip() for line in edit.search[:8]), key=len)[:_LONGEST]
    for view in views:
        rows = {view.bare[index][:_LONGEST]: index for index in islice(view.changeable_lines(), _MOST_COMPARED)}
        near = get_close_matches(longest, [row for row in rows if row], n=1, cutoff=0.5)
        if near:
            first = rows[near[0]]
            there = quote_lines(view.lines[first : first + len(edit.search)])
            remedy = f"The nearest is line {first + 1} of {view.path}:\n{there}\nTry: copy the lines as they stand, each one in full"
            return EditFailed(EditKind.NOT_FOUND, begin + remedy)
    return EditFailed(EditKind.NOT_FOUND, f"{begin}Nothing there is like it. {_describe_allowed(views)}")


def _at(view: FileView, change: LineChange) -> str:
    return f"{view.path} line {min(change.start, len(view.lines) - 1) + 1}"


def _describe_allowed(views: Sequence[FileView]) -> str:
    """Returns the remedy: what may change."""
    parts = []
    for view in views[:_OTHERS]:
        lines = list(view.changeable_lines())
        if lines:
            rows = f"lines {lines[0] + 1} to {lines[-1] + 1}" if lines[0] < lines[-1] else f"line {lines[0] + 1}"
            parts.append(f"{rows if len(view.spans) == 1 else 'the blocks'} of {view.path}")
    return f"Try: edit {' or '.join(dict.fromkeys(parts)) or 'what is between the EVOLVE-BLOCK markers'}"


def _combine(failures: Sequence[tuple[int, EditFailed]]) -> EditFailed:
    """Returns the first failure in full, and a line on the others."""
    _, first = failures[0]
    others = [f"edit {number} ({failure.kind.value.replace('_', ' ')})" for number, failure in failures[1:]]
    if not others:
        return first
    more = f" and {len(others) - _OTHERS} more" if len(others) > _OTHERS else ""
    return EditFailed(
        first.kind, f"{first}\nThese do not apply either: {', '.join(others[:_OTHERS])}{more}. Nothing was changed."
    )
