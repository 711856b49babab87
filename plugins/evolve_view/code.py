"""Programs as lines of HTML: in colours, with their EVOLVE blocks, and with what differs between two of them.

Every line is escaped, and a character that nobody sees stands by its number, so that no text reads otherwise than it runs. A text that is long beyond
reading is cut, and said to be."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Literal

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

from evolve.edits.blocks import blocks
from evolve.sandbox.output import unseen

COLOURED = 100_000
"""Characters of a file that is coloured; a larger one is shown as it is."""
LINES = 4_000
"""Lines of a file that are shown."""
_LINE = 2_000
"""Characters of a line that are shown."""
_AROUND = 3
"""Equal lines around a difference."""
_BREAKS = re.compile("\r\n|\r")
_NUMBERED = re.compile(r"\[U\+[0-9A-F]{4,6}\]")
_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)
_WORDS = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\w+|\s+|[^\w\s]")
"""Numbers, names, empty room, and other signs one by one."""
_PIECES = re.compile(r"<[^>]*>|&[^;]*;|[^<&]")
"""An element's beginning or end, or one character."""
_MARK = '<mark class="part">'
_ALIKE = 0.5
"""Share of their words that two lines have in common of which one became the other."""
_PAIRED = 400
"""Pairs of lines that are compared in one block; in a larger one the first is compared with the first."""
RowKind = Literal["same", "old", "new", "gap"]
SideKind = Literal["same", "change", "gap"]
Pairs = tuple[tuple[int, int], ...]
Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line. `in_block`: it may be changed, in a file that has blocks."""

    number: int
    html: Markup
    in_block: bool


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file of a program. `anchor` begins the names of its lines: `L` of the first file, `f2L` of the second. `left_out` counts lines
    that are not shown."""

    path: str
    anchor: str
    size: int
    lines: tuple[CodeLine, ...]
    left_out: int

    @property
    def has_blocks(self) -> bool:
        """Some of its lines may change, and others may not."""
        return any(line.in_block for line in self.lines)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A line of one side or of both; `old` and `new` are its numbers, 0 where it is not. A gap stands for equal lines that are not shown."""

    kind: RowKind
    old: int
    new: int
    html: Markup


@dataclass(frozen=True, slots=True)
class SideRow:
    """A line as it `was` beside what it is `now`; the number of a side is 0 where it has none. A gap stands for equal lines that are not shown."""

    kind: SideKind
    old: int
    new: int
    was: Markup
    now: Markup


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs. `is_cut`: it has more lines than are compared."""

    path: str
    sides: tuple[SideRow, ...]
    added: int
    removed: int
    is_cut: bool

    @property
    def rows(self) -> tuple[ChangeRow, ...]:
        """The lines below each other: those of a block that were there, then those that came."""
        return tuple(
            row for kind, block in groupby(self.sides, key=lambda row: row.kind) for row in _stack(kind, list(block))
        )


def _stack(kind: SideKind, block: Sequence[SideRow]) -> Iterator[ChangeRow]:
    if kind != "change":
        yield from (ChangeRow(kind, row.old, row.new, row.now) for row in block)
        return
    yield from (ChangeRow("old", row.old, 0, row.was) for row in block if row.old)
    yield from (ChangeRow("new", 0, row.new, row.now) for row in block if row.new)


def show_file(path: str, text: str, number: int = 1, most: int = LINES) -> CodeFile:
    """Returns a file of a program with at most so many lines."""
    lines = split_lines(text)
    inside = _find_blocks(_BREAKS.sub("\n", text), path, min(len(lines), most))
    html = colour(path, lines[:most])
    shown = tuple(CodeLine(at, one, block) for at, (one, block) in enumerate(zip(html, inside, strict=True), 1))
    return CodeFile(path, "L" if number == 1 else f"f{number}L", len(text), shown, max(0, len(lines) - most))


def show_files(files: Mapping[str, str]) -> tuple[CodeFile, ...]:
    """Returns the files of a program, in their order."""
    return tuple(show_file(path, text, number) for number, (path, text) in enumerate(files.items(), 1))


def split_lines(text: str) -> list[str]:
    """Returns the lines of a text; one that is empty at the end is none."""
    return _BREAKS.sub("\n", text).removesuffix("\n").split("\n") if text else []


def _find_blocks(text: str, path: str, count: int) -> list[bool]:
    """Returns for each line whether it begins in a block."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))][:count]
    spans = blocks(text, path)
    return [any(span.start <= start < span.end for span in spans) for start in starts]


def colour(path: str, lines: Sequence[str]) -> list[Markup]:
    """Returns lines of a file as HTML, one for each; `path` says in which language."""
    seen = [show_unseen(_shorten(line)) for line in lines]
    text = "\n".join(seen)
    if len(text) > COLOURED:
        return [_mark_unseen(str(escape(line))) for line in seen]
    html = highlight(f"{text}\n", _find_lexer(path), _FORMATTER).split("\n")[: len(lines)]
    assert len(html) == len(lines), f"{len(lines)} lines became {len(html)}"
    return [_mark_unseen(line) for line in html]


def _shorten(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[:_LINE]} … {len(line) - _LINE:,} more characters"


def show_unseen(line: str) -> str:
    """Returns a line in which each character that nobody sees stands by its number: `[U+202E]`."""
    for character in ("\u2028", "\u2029", *unseen(line)):
        if character != "\n":
            line = line.replace(character, f"[U+{ord(character):04X}]")
    return line


def _mark_unseen(html: str) -> Markup:
    return Markup(_NUMBERED.sub(lambda found: f'<mark class="unseen">{found[0]}</mark>', html))


def _find_lexer(path: str) -> Lexer:
    try:
        found: Lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False, ensurenl=False)
    return found


def compare_files(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileChange, ...]:
    """Returns the files that differ, by their paths."""
    return tuple(
        compare_texts(path, before.get(path, ""), after.get(path, ""))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    )


def compare_texts(path: str, before: str, after: str) -> FileChange:
    """Returns every line that differs, with its number on its side, and a few equal lines around."""
    old, new = split_lines(before), split_lines(after)
    is_cut = max(len(old), len(new)) > LINES
    old, new = old[:LINES], new[:LINES]
    sides = tuple(_sides(_Side.of(path, old), _Side.of(path, new)))
    changed = [row for row in sides if row.kind == "change"]
    added, removed = sum(row.new > 0 for row in changed), sum(row.old > 0 for row in changed)
    return FileChange(path, sides, added, removed, is_cut)


@dataclass(frozen=True, slots=True)
class _Side:
    """Lines of one text as they were, as they are read, and as HTML."""

    lines: Sequence[str]
    seen: Sequence[str]
    html: Sequence[Markup]

    @classmethod
    def of(cls, path: str, lines: Sequence[str]) -> "_Side":
        return cls(lines, [show_unseen(_shorten(line)) for line in lines], colour(path, lines))


def _sides(old: _Side, new: _Side) -> Iterator[SideRow]:
    seen, gap = 0, SideRow("gap", 0, 0, Markup(), Markup())
    for group in difflib.SequenceMatcher(None, old.lines, new.lines).get_grouped_opcodes(_AROUND):
        if group[0][1] > seen:
            yield gap
        seen = group[-1][2]
        for tag, first, last, begin, end in group:
            if tag == "equal":
                pairs = zip(range(first, last), range(begin, end), strict=True)
                yield from (SideRow("same", one + 1, two + 1, old.html[one], new.html[two]) for one, two in pairs)
            else:
                yield from _changes(old, new, range(first, last), range(begin, end))
    if seen < len(old.lines):
        yield gap


def _changes(old: _Side, new: _Side, was: range, now: range) -> Iterator[SideRow]:
    """Yields the lines that were replaced beside those that came: one that became another in the same row, with its differences marked."""
    one, two = was.start, now.start
    for former, later in [*_pair_lines(old.seen, new.seen, was, now), (was.stop, now.stop)]:
        yield from (SideRow("change", at + 1, 0, old.html[at], Markup()) for at in range(one, former))
        yield from (SideRow("change", 0, at + 1, Markup(), new.html[at]) for at in range(two, later))
        if former < was.stop:
            left, right = _compare_lines(old.seen[former], new.seen[later])
            yield SideRow("change", former + 1, later + 1, mark(old.html[former], left), mark(new.html[later], right))
        one, two = former + 1, later + 1


def _pair_lines(old: Sequence[str], new: Sequence[str], was: range, now: range) -> list[tuple[int, int]]:
    """Returns which lines became which, in their order: those that are the most alike together; in a large block the first became the first."""
    if len(was) * len(now) > _PAIRED:
        return [(one, two) for one, two in zip(was, now, strict=False) if _likeness(old[one], new[two])]
    # By dynamic programming: for each number of old and of new lines the most likeness, and the pairs that have it.
    above: list[tuple[float, Pairs]] = [(0.0, ())] * (len(now) + 1)
    for one in was:
        row: list[tuple[float, Pairs]] = [(0.0, ())]
        for place, two in enumerate(now):
            total, pairs = above[place]
            alike = _likeness(old[one], new[two])
            together = (total + alike, (*pairs, (one, two))) if alike else above[place]
            row.append(max(together, above[place + 1], row[place], key=itemgetter(0)))
        above = row
    return list(above[-1][1])


def _likeness(one: str, two: str) -> float:
    """Returns how alike two lines are, 0 where they have less than half of their words in common."""
    if not one.strip() or not two.strip():
        return 0.0
    matcher = difflib.SequenceMatcher(None, _WORDS.findall(one), _WORDS.findall(two), autojunk=False)
    share = matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0
    return share if share >= _ALIKE else 0.0


def _compare_lines(one: str, two: str) -> tuple[Spans, Spans]:
    """Returns where two lines differ, word by word: the spans of characters in each."""
    left, right = _WORDS.findall(one), _WORDS.findall(two)
    starts, begins = ([0, *accumulate(map(len, words))] for words in (left, right))
    codes = difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    differing = [code for code in codes if code[0] != "equal"]
    was = [(starts[first], starts[last]) for _, first, last, _, _ in differing if first < last]
    now = [(begins[begin], begins[end]) for _, _, _, begin, end in differing if begin < end]
    return was, now


def mark(html: Markup, spans: Spans) -> Markup:
    """Returns a line of HTML with these spans of its characters marked; an element is never cut by a mark."""
    inside = {at for first, last in spans for at in range(first, last)}
    parts, at, is_open = list[str](), 0, False
    for piece in _PIECES.findall(html):
        is_tag = piece.startswith("<")
        is_wanted = not is_tag and at in inside
        if is_open != is_wanted:
            parts.append(_MARK if is_wanted else "</mark>")
            is_open = is_wanted
        parts.append(piece)
        at += not is_tag
    return Markup("".join([*parts, "</mark>" * is_open]))
