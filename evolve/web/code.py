"""A program's text as lines of HTML: colours, its EVOLVE blocks, and every character that is there.

Invariant: what a line holds is escaped, and a character that nobody sees is said by its number, so that no text reads otherwise than it
runs; a text that is long beyond reading is cut, and said to be."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

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
_BREAKS = re.compile("\r\n|\r")
_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `in_block`: it may be changed, in a file that has blocks."""

    number: int
    html: Markup
    in_block: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A file of a program. `anchor` begins the names of its lines: `L` of the first file, `f2L` of the second. `left_out` counts lines
    that are not shown."""

    path: str
    anchor: str
    size: int
    lines: tuple[Line, ...]
    left_out: int
    has_blocks: bool


def shown(files: Mapping[str, str]) -> tuple[Shown, ...]:
    """The files of a program, in their order."""
    return tuple(_file(path, text, number) for number, (path, text) in enumerate(files.items(), 1))


def _file(path: str, text: str, number: int) -> Shown:
    cut = lines_of(text)
    inside = _in_blocks(_BREAKS.sub("\n", text), path, min(len(cut), LINES))
    html = coloured(path, cut[:LINES])
    lines = tuple(Line(at, one, block) for at, (one, block) in enumerate(zip(html, inside, strict=True), 1))
    anchor = "L" if number == 1 else f"f{number}L"
    return Shown(path, anchor, len(text), lines, max(0, len(cut) - LINES), any(inside))


def lines_of(text: str) -> list[str]:
    """Its lines; one that is empty at the end is none."""
    return _BREAKS.sub("\n", text).removesuffix("\n").split("\n") if text else []


def _in_blocks(text: str, path: str, count: int) -> list[bool]:
    """Of each line whether it begins in a block."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))][:count]
    spans = blocks(text, path)
    return [any(span.start <= start < span.end for span in spans) for start in starts]


def coloured(path: str, lines: Sequence[str]) -> list[Markup]:
    """Lines of a file as HTML, one for each; `path` says in which language."""
    seen = [visible(_shortened(line)) for line in lines]
    text = "\n".join(seen)
    if len(text) > COLOURED:
        return [_marked(str(escape(line))) for line in seen]
    html = highlight(f"{text}\n", _lexer(path), _FORMATTER).split("\n")[: len(lines)]
    assert len(html) == len(lines), f"{len(lines)} lines became {len(html)}"
    return [_marked(line) for line in html]


def _shortened(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[:_LINE]} … {len(line) - _LINE:,} more characters"


def visible(line: str) -> str:
    """A line in which what nobody sees stands by its number, between marks that `coloured` turns into HTML."""
    for character in ("\u2028", "\u2029", *unseen(line)):
        if character != "\n":
            line = line.replace(character, f"[U+{ord(character):04X}]")
    return line


_NUMBERED = re.compile(r"\[U\+[0-9A-F]{4,6}\]")


def _marked(html: str) -> Markup:
    """HTML that is escaped already, with the numbers of unseen characters made to stand out."""
    return Markup(_NUMBERED.sub(lambda found: f'<mark class="unseen">{found[0]}</mark>', html))


def _lexer(path: str) -> Lexer:
    try:
        found: Lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False, ensurenl=False)
    return found
