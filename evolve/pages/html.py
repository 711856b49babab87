"""A document as one HTML file that needs no other: no script, no font, no picture from elsewhere, light and dark, on paper and on a phone.

Invariant: every text passes `escaped`; the only markup that is not made here is that of charts, and a task's pictures are data in an `img`, where nothing of them runs."""

import base64
import re
from collections.abc import Mapping
from functools import cache, singledispatch
from importlib import resources

from evolve.drawing import VARIABLES, attributes, chart, escaped
from evolve.pages import cut
from evolve.pages.colours import Piece, coloured
from evolve.pages.document import (
    Bullets,
    Change,
    Chart,
    Code,
    Commands,
    Document,
    Facts,
    Folded,
    Line,
    Mono,
    Paragraph,
    Picture,
    Row,
    Section,
    Size,
    Span,
    Strong,
    Table,
    Words,
)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_TAB = 4
_PARTS = re.compile(r"\n(?:[ \t]*\n)+")
_STANDS = re.compile(r"\s|[-*+|#>`~]|\d+[.)]\s")


def html(document: Document, mark: str) -> str:
    """The whole file; `mark` is a comment in its second line, by which it is known again."""
    head = "".join(
        [
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escaped(_POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            _tag("title", escaped(document.title)),
            f"<style>{VARIABLES}{_style()}</style>",
        ]
    )
    links = "".join(
        _tag("li", _tag("a", escaped(section.title), href=f"#{section.anchor}")) for section in document.sections
    )
    body = "".join(
        [
            _tag("header", _tag("h1", escaped(document.title)) + _tag("p", _line(document.about), class_="about")),
            *map(block, document.summary),
            _tag("nav", _tag("ol", links), aria_label="chapters"),
            *(_section(number, section) for number, section in enumerate(document.sections, 1)),
        ]
    )
    return f'<!doctype html>\n{mark}\n<html lang="en"><head>{head}</head>\n<body><main>\n{body}</main></body></html>\n'


@cache
def _style() -> str:
    return resources.files("evolve.pages").joinpath("page.css").read_text("utf-8")


def _section(number: int, section: Section) -> str:
    heading = _tag("h2", f"{number}. {escaped(section.title)}")
    return _tag("section", heading + "".join(map(block, section.blocks)), id=section.anchor) + "\n"


def _tag(name: str, content: str, /, **given: str | float | None) -> str:
    """An element with an end, also where it is empty: HTML knows no other."""
    return f"<{name}{attributes(**given)}>{content}</{name}>"


def _line(line: Line) -> str:
    return "".join(map(_span, line)) if isinstance(line, tuple) else _span(line)


def _span(span: Span) -> str:
    match span:
        case Mono(text):
            return _tag("code", escaped(cut.line(text)))
        case Strong(text):
            return _tag("strong", escaped(text))
        case _:
            return escaped(cut.line(span, cut.WORDS))


@singledispatch
def block(found: object) -> str:
    """One block of a document."""
    raise TypeError(f"{found!r} is no block")


@block.register
def _paragraph(found: Paragraph) -> str:
    return _tag("p", _line(found.line), class_=found.tone or None) + "\n"


@block.register
def _bullets(found: Bullets) -> str:
    return _tag("ul", "".join(_tag("li", _line(line)) for line in found.lines)) + "\n"


@block.register
def _facts(found: Facts) -> str:
    rows = (_tag("dt", escaped(label)) + _tag("dd", _line(line)) for label, line in found.rows)
    return _tag("dl", "".join(rows)) + "\n"


@block.register
def _table(found: Table) -> str:
    sides = ["r" if column in found.numbers else None for column in range(len(found.headings))]
    head = "".join(
        _tag("th", escaped(each), scope="col", class_=side) for each, side in zip(found.headings, sides, strict=True)
    )
    rows = (
        _tag("tr", "".join(_tag("td", _line(cell), class_=side) for cell, side in zip(row, sides, strict=True)))
        for row in found.rows
    )
    body = _tag("thead", _tag("tr", head)) + _tag("tbody", "\n".join(rows))
    return _tag("div", _tag("table", body), class_="scroll", tabindex="0") + "\n"


@block.register
def _words(found: Words) -> str:
    text = cut.words(found.text).expandtabs(_TAB)
    if not found.prose:
        return _tag("blockquote", _tag("pre", _kept(text))) + "\n"
    parts = (_tag("p", escaped(part)) if _flows(part) else _tag("pre", _kept(part)) for part in _PARTS.split(text))
    return _tag("blockquote", "".join(parts)) + "\n"


def _kept(text: str) -> str:
    return "\n".join(map(escaped, text.split("\n")))


def _flows(part: str) -> bool:
    """Whether a paragraph has no lines that must stand as they are: of a list, a table, a heading, or code."""
    return not any(_STANDS.match(line) for line in part.split("\n"))


@block.register
def _code(found: Code) -> str:
    shown, more = cut.lines(found.text, cut.LINES)
    rows = []
    notes = {number: note for number, note in enumerate(found.notes, 1) if note}
    for number, pieces in enumerate(coloured("\n".join(shown), found.path)[: len(shown)], 1):
        cells = [_tag("td", str(number), class_="n")]
        if notes:
            cells.append(_tag("td", escaped(notes.get(number, "")), class_="w"))
        cells.append(_tag("td", "".join(map(_piece, _cut(pieces))) or " "))
        rows.append(_tag("tr", "".join(cells), class_="open" if number in found.open_lines else None))
    table = _tag("div", _tag("table", "\n".join(rows), class_="code"), class_="scroll", tabindex="0")
    told = ": the number of each line, and of the record that brought it" if notes else ""
    caption = _tag("figcaption", _tag("code", escaped(cut.line(found.path))) + told)
    return _tag("figure", caption + table + _more(more)) + "\n"


def _cut(pieces: list[Piece]) -> list[Piece]:
    """A line of code without what is too long of it; what is left out is counted."""
    room = cut.CHARACTERS
    kept: list[Piece] = []
    for place, (kind, text) in enumerate(pieces):
        if len(text) > room:
            left = len(text) - room + sum(len(each) for _, each in pieces[place + 1 :])
            return [*kept, (kind, text[:room]), ("cut", f" … ({left:,} more characters)")]
        kept.append((kind, text))
        room -= len(text)
    return kept


def _piece(piece: Piece) -> str:
    kind, text = piece
    told = escaped(text.replace("\t", " " * _TAB))
    return _tag("span", told, class_=kind) if kind else told


def _more(lines: int) -> str:
    return _tag("p", f"… {lines:,} more lines are left out", class_="faint") if lines else ""


_KINDS = {"+": "added", "-": "gone", "@": "at"}


@block.register
def _change(found: Change) -> str:
    shown, more = cut.lines(found.diff, cut.CHANGED)
    lines = "\n".join(
        _tag("span", escaped(cut.line(line.replace("\t", " " * _TAB))) or " ", class_=_kind(line, number))
        for number, line in enumerate(shown)
    )
    caption = _tag("figcaption", _tag("code", escaped(cut.line(found.path))))
    return _tag("figure", caption + _tag("pre", lines, class_="diff", tabindex="0") + _more(more)) + "\n"


def _kind(line: str, number: int) -> str:
    """A line of a diff; the first two name the files."""
    return "at" if number < 2 else _KINDS.get(line[:1], "same")


@block.register
def _commands(found: Commands) -> str:
    rows = (_tag("dt", _tag("code", escaped(command))) + _tag("dd", escaped(what)) for command, what in found.rows)
    return _tag("dl", "".join(rows), class_="commands") + "\n"


@block.register
def _chart(found: Chart) -> str:
    caption = _tag("figcaption", _line(found.caption)) if found.caption else ""
    return _tag("figure", _drawn(found) + caption) + "\n"


_HEIGHTS: Mapping[Size, tuple[int, int]] = {"whole": (340, 260), "low": (210, 200), "small": (0, 260)}
"""Of a chart for a wide page, where it has one, and of one for a narrow page."""


def _drawn(found: Chart) -> str:
    """A chart for a wide page and one for a narrow one, of which a page shows what fits."""
    wide, narrow = _HEIGHTS[found.size]
    small = _sized(found, 360, narrow)
    return _tag("div", _sized(found, 880, wide), class_="wide") + _tag("div", small, class_="narrow") if wide else small


def _sized(found: Chart, width: int, height: int) -> str:
    names, levels = {"x": found.x, "y": found.y}, () if found.size == "small" else found.levels
    return chart(found.series, levels=levels, width=width, height=height, log_x=found.log_x, **names)


@block.register
def _row(found: Row) -> str:
    return _tag("div", "".join(map(block, found.charts)), class_="row") + "\n"


@block.register
def _picture(found: Picture) -> str:
    data = base64.b64encode(found.svg.encode("utf-8", "replace")).decode("ascii")
    told = "the picture that the task draws of this result"
    image = f"<img{attributes(src=f'data:image/svg+xml;base64,{data}', alt=told)}>"
    return _tag("figure", image + _tag("figcaption", _line(found.caption)), class_="picture") + "\n"


@block.register
def _folded(found: Folded) -> str:
    inside = _tag("summary", _line(found.summary)) + "".join(map(block, found.blocks))
    return f"<details{' open' if found.unfolded else ''}>{inside}</details>\n"
