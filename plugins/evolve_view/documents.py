"""Parts of a document, before it is HTML or Markdown.

Texts are plain, whoever wrote them; only renderers make markup. A long text is cut, and what is left out is counted."""

from dataclasses import dataclass
from typing import Literal

from evolve_view.charts import Reference, Series

Tone = Literal["", "good", "bad"]
Size = Literal["whole", "low", "small"]
FILE_LINES = 1_500
"""Lines of a program's file that a document holds."""
CHANGED_LINES = 300
"""Lines of a change."""
_LINE = 400
"""Characters of a line."""
_WORDS = 12_000
"""Characters of somebody else's words."""


def cut_line(text: str, most: int = _LINE) -> str:
    """Returns the beginning of a line, and how much more there is."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


def cut_words(text: str) -> str:
    """Returns the beginning of a text, and how much more there is."""
    return text if len(text) <= _WORDS else f"{text[:_WORDS]}\n… ({len(text) - _WORDS:,} more characters)"


def cut_lines(text: str, most: int) -> tuple[list[str], int]:
    """Returns the first lines of a text, and how many more there are. Only line feeds end a line."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return lines[:most], max(0, len(lines) - most)


@dataclass(frozen=True, slots=True)
class Mono:
    """A word of code: a name, a command, a number of a table."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """A word that must not be missed."""

    text: str


Span = str | Mono | Strong
Line = Span | tuple[Span, ...]


def split_spans(line: Line) -> tuple[Span, ...]:
    """Returns the spans of a line."""
    return line if isinstance(line, tuple) else (line,)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences; with a tone, set apart."""

    line: Line
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """Sentences in a list."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their values."""

    rows: tuple[tuple[str, Line], ...]


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows below headings. Columns in `numbers` are aligned to the right."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Words:
    """Somebody else's words of any number of lines. `prose`: sentences whose lines may be broken elsewhere."""

    text: str
    prose: bool = False


@dataclass(frozen=True, slots=True)
class CodeListing:
    """A file of a program; `notes` stand beside its lines, in their order."""

    path: str
    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeChange:
    """A file that differs between two programs, with the difference as a unified diff."""

    path: str
    before: str
    after: str
    diff: str


@dataclass(frozen=True, slots=True)
class CommandList:
    """Commands to type, each with what it does."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ChartFigure:
    """A chart, and its values as a table for a document without pictures; None where that table stands elsewhere. A `low` chart is for a first glance, a
    `small` one has others beside it."""

    series: tuple[Series, ...]
    x: str
    y: str
    caption: Line = ""
    table: TableBlock | None = None
    levels: tuple[Reference, ...] = ()
    log_x: bool = False
    size: Size = "whole"


@dataclass(frozen=True, slots=True)
class ImageFigure:
    """A picture that a task drew: SVG that may hold a program's words. `instead` is for a document without pictures."""

    svg: str
    caption: Line
    instead: Line


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that most readers pass over."""

    summary: Line
    blocks: tuple["Block", ...]
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class ChartRow:
    """Small charts side by side, as far as there is room."""

    charts: tuple[ChartFigure, ...]


Block = (
    Paragraph
    | Bullets
    | Facts
    | TableBlock
    | Words
    | CodeListing
    | CodeChange
    | CommandList
    | ChartFigure
    | ImageFigure
    | Folded
    | ChartRow
)


@dataclass(frozen=True, slots=True)
class Chapter:
    """Blocks under a title. `anchor` names the chapter in links."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A title, what a reader must know first, and the chapters."""

    title: str
    about: Line
    summary: tuple[Block, ...]
    chapters: tuple[Chapter, ...] = ()
