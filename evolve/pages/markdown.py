"""A document as Markdown, for a repository or a mail: the same words and tables, without pictures.

Invariant: every text is escaped, or stands in a fence that is longer than any within; what a program wrote begins no heading, link, image or HTML."""

import re
from functools import singledispatch

from evolve.drawing.elements import UNREADABLE
from evolve.pages import cut
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
    Span,
    Strong,
    Table,
    Words,
)

_MEANS_SOMETHING = re.compile(r"([\\`*_\[\]<>#|!~&$])")
_BEGINS_SOMETHING = re.compile(r"^(\s*\d*)([-+=]|[.)](?=\s))")
_TICKS = re.compile(r"`+")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|www)([:.])")
_TAB = 4


def markdown(document: Document, mark: str) -> str:
    """The whole file; `mark` is a comment in its first line, by which it is known again."""
    parts = [mark, f"# {_plain(document.title)}", _line(document.about), *map(block, document.summary)]
    parts += [_section(number, section) for number, section in enumerate(document.sections, 1)]
    return f"{_joined(*parts)}\n"


def _section(number: int, section: Section) -> str:
    return _joined(f"## {number}. {_plain(section.title)}", *map(block, section.blocks))


def _joined(*parts: str) -> str:
    """Without the parts that Markdown has not."""
    return "\n\n".join(part for part in parts if part)


def _seen(text: str) -> str:
    """One line, in which every character is seen."""
    return "".join(
        " " if each.isspace() else each if each.isprintable() else UNREADABLE for each in text.expandtabs(_TAB)
    )


def _plain(text: str) -> str:
    """A text that means nothing to Markdown; no address in it becomes a link."""
    told = _MEANS_SOMETHING.sub(r"\\\1", _seen(cut.line(text, cut.WORDS)))
    return _ADDRESS.sub(r"\1\\\2", _BEGINS_SOMETHING.sub(r"\1\\\2", told))


def _span(span: Span) -> str:
    match span:
        case Mono(text):
            return _code_span(cut.line(text))
        case Strong(text):
            return f"**{_plain(text)}**"
        case _:
            return _plain(span)


def _code_span(text: str) -> str:
    """A word of code; in a table a bar would end the cell, so that it is escaped there and everywhere."""
    told = _seen(text)
    ticks = _longer(told, 1)
    room = " " if told.startswith("`") or told.endswith("`") or not told.strip() else ""
    return f"{ticks}{room}{told}{room}{ticks}"


def _longer(text: str, least: int) -> str:
    """More backticks than stand together anywhere in the text."""
    return "`" * max(least, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))


def _line(line: Line) -> str:
    return "".join(map(_span, line)) if isinstance(line, tuple) else _span(line)


def _cell(line: Line) -> str:
    spans = line if isinstance(line, tuple) else (line,)
    line = tuple(span.text if isinstance(span, Mono) and "\\|" in span.text else span for span in spans)
    return re.sub(r"(?<!\\)\|", r"\\|", _line(line))


def _fenced(text: str, language: str = "") -> str:
    ticks = _longer(text, 3)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _lines(text: str, most: int) -> str:
    shown, more = cut.lines(text, most)
    told = [cut.line(_seen(line)) for line in shown]
    return "\n".join([*told, *([f"… {more:,} more lines are left out"] if more else [])])


@singledispatch
def block(found: object) -> str:
    """One block of a document."""
    raise TypeError(f"{found!r} is no block")


@block.register
def _paragraph(found: Paragraph) -> str:
    return f"{'> ' if found.tone else ''}{_line(found.line)}"


@block.register
def _bullets(found: Bullets) -> str:
    return "\n".join(f"- {_line(line)}" for line in found.lines)


@block.register
def _facts(found: Facts) -> str:
    return "\n".join(f"- {_plain(label)}: {_line(line)}" for label, line in found.rows)


@block.register
def _table(found: Table) -> str:
    sides = ["---:" if column in found.numbers else "---" for column in range(len(found.headings))]
    rows = [
        [_cell(heading) for heading in found.headings],
        sides,
        *([_cell(cell) for cell in row] for row in found.rows),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@block.register
def _words(found: Words) -> str:
    return _fenced(_lines(cut.words(found.text), cut.LINES))


@block.register
def _code(found: Code) -> str:
    notes = {number: note for number, note in enumerate(found.notes, 1) if note}
    width = max(map(len, notes.values()), default=0)
    shown = _lines(found.text, cut.LINES).split("\n")
    numbered = (
        f"{number:>4} {_seen(notes.get(number, '')).ljust(width) + ' ' if notes else ''}{line}".rstrip()
        for number, line in enumerate(shown, 1)
    )
    return f"{_code_span(found.path)}\n\n{_fenced(chr(10).join(numbered))}"


@block.register
def _change(found: Change) -> str:
    return f"{_code_span(found.path)}\n\n{_fenced(_lines(found.diff, cut.CHANGED), 'diff')}"


@block.register
def _commands(found: Commands) -> str:
    return "\n".join(f"- {_code_span(command)}: {_plain(what)}" for command, what in found.rows)


@block.register
def _chart(found: Chart) -> str:
    return f"{_line(found.caption)}\n\n{block(found.table)}" if found.tabled else ""


@block.register
def _row(found: Row) -> str:
    """The same numbers as the chart before them."""
    return ""


@block.register
def _picture(found: Picture) -> str:
    return _line(found.instead)


@block.register
def _folded(found: Folded) -> str:
    return _joined(_line(found.summary), *map(block, found.blocks))
