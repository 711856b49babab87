"""Programs as lines of HTML: in colours, with their EVOLVE blocks, and with what differs between two of them.

Every line is escaped, and a character that nobody sees stands by its number, so that no text reads otherwise than it runs. A text that is long beyond
reading is cut, and said to be."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
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
RowKind = Literal["same", "old", "new", "gap"]


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
class FileChange:
    """A file that differs. `is_cut`: it has more lines than are compared."""

    path: str
    rows: tuple[ChangeRow, ...]
    added: int
    removed: int
    is_cut: bool


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
    rows = tuple(_rows(old, new, colour(path, old), colour(path, new)))
    added, removed = (sum(row.kind == kind for row in rows) for kind in ("new", "old"))
    return FileChange(path, rows, added, removed, is_cut)


def _rows(old: Sequence[str], new: Sequence[str], was: Sequence[Markup], now: Sequence[Markup]) -> Iterator[ChangeRow]:
    seen, gap = 0, ChangeRow("gap", 0, 0, Markup())
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_AROUND):
        if group[0][1] > seen:
            yield gap
        seen = group[-1][2]
        for tag, first, last, begin, end in group:
            if tag == "equal":
                pairs = zip(range(first, last), range(begin, end), strict=True)
                yield from (ChangeRow("same", one + 1, two + 1, now[two]) for one, two in pairs)
            else:
                yield from (ChangeRow("old", at + 1, 0, was[at]) for at in range(first, last))
                yield from (ChangeRow("new", 0, at + 1, now[at]) for at in range(begin, end))
    if seen < len(old):
        yield gap
