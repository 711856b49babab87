"""What a document is made of, before it is HTML or Markdown.

Invariant: texts here are plain, whoever wrote them; no block holds markup but pictures, which renderers keep apart."""

from dataclasses import dataclass, field
from typing import Literal

from evolve.drawing import Level, Series

Tone = Literal["", "good", "bad"]
Size = Literal["whole", "low", "small"]


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


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences; with a tone, set apart."""

    line: Line
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """Sentences in a row."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with what belongs to them."""

    rows: tuple[tuple[str, Line], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below headings. Columns in `numbers` stand to the right."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Words:
    """Somebody else's words of any number of lines. `prose`: sentences whose lines may be broken elsewhere."""

    text: str
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A file of a program, whole or from its beginning: `open_lines` are the numbers of those that may change, empty where all may; `notes` stand beside
    lines, by their numbers."""

    path: str
    text: str
    open_lines: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A unified diff of one file."""

    path: str
    diff: str


@dataclass(frozen=True, slots=True)
class Commands:
    """What to type, each with what it does."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines in a picture, and the same as a table for a document without pictures; not `tabled`: that table stands elsewhere, too. A `low`
    one is for a first glance, a `small` one has others beside it."""

    series: tuple[Series, ...]
    x: str
    y: str
    caption: Line
    table: Table
    levels: tuple[Level, ...] = ()
    log_x: bool = False
    size: Size = "whole"
    tabled: bool = True


@dataclass(frozen=True, slots=True)
class Picture:
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
class Row:
    """Small charts side by side, as far as there is room."""

    charts: tuple[Chart, ...]


Block = Paragraph | Bullets | Facts | Table | Words | Code | Change | Commands | Chart | Picture | Folded | Row


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter. `anchor` names it in links."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A title, what is to be known first, and the chapters."""

    title: str
    about: Line
    summary: tuple[Block, ...]
    sections: tuple[Section, ...] = field(default=())
