"""Documents as Markdown, for a repository or a mail: the same words and tables as in HTML, without pictures.

Every text is escaped, or stands in a fence that is longer than any within: nothing that a program wrote begins a heading, link, image or HTML."""

import re

from evolve.sandbox.output import readable
from evolve_view.code import show_unseen
from evolve_view.documents import (
    CHANGED_LINES,
    FILE_LINES,
    Block,
    Bullets,
    ChartFigure,
    ChartRow,
    CodeChange,
    CodeListing,
    CommandList,
    Document,
    Facts,
    Folded,
    ImageFigure,
    Line,
    Mono,
    Paragraph,
    Strong,
    TableBlock,
    Words,
    cut_line,
    cut_lines,
    cut_words,
    split_spans,
)

_MEANS_SOMETHING = re.compile(r"([\\`*_\[\]<>#|!~&$])")
_BEGINS_SOMETHING = re.compile(r"^(\s*\d*)([-+=]|[.)](?=\s))")
_TICKS = re.compile(r"`+")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|www)([:.])")
_PROSE = 12_000
"""Characters of a paragraph."""


def render_markdown(document: Document, mark: str) -> str:
    """Returns the whole file; `mark` is a comment in its first line, by which it is known again."""
    parts = [mark, f"# {_escape(document.title)}", _line(document.about), *map(render_block, document.summary)]
    for number, chapter in enumerate(document.chapters, 1):
        parts += [f"## {number}. {_escape(chapter.title)}", *map(render_block, chapter.blocks)]
    return f"{_join(parts)}\n"


def render_block(block: Block) -> str:
    """Returns one block of a document; empty for one that Markdown lacks."""
    match block:
        case Paragraph(line, tone):
            return f"{'> ' if tone else ''}{_line(line)}"
        case Bullets(lines):
            return "\n".join(f"- {_line(line)}" for line in lines)
        case Facts(rows):
            return "\n".join(f"- {_escape(label)}: {_line(line)}" for label, line in rows)
        case CommandList(rows):
            return "\n".join(f"- {_code_span(command)}: {_escape(what)}" for command, what in rows)
        case TableBlock():
            return _table(block)
        case Words(text):
            return _fence(_lines(cut_words(text), FILE_LINES))
        case CodeChange(path=path, diff=diff):
            return f"{_code_span(path)}\n\n{_fence(_lines(diff, CHANGED_LINES), 'diff')}"
        case Folded(summary, blocks):
            return _join([_line(summary), *map(render_block, blocks)])
        case _:
            return _render_figure(block)


def _render_figure(block: CodeListing | ChartFigure | ImageFigure | ChartRow) -> str:
    match block:
        case CodeListing():
            return _listing(block)
        case ChartFigure(caption=caption, table=table):
            return f"{_line(caption)}\n\n{_table(table)}" if table else ""
        case ImageFigure(instead=instead):
            return _line(instead)
        case ChartRow():
            # Small charts have the same numbers as the chart before them.
            return ""


def _join(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _one_line(text: str) -> str:
    """Returns a text on one line, in which every character is seen."""
    return "".join(" " if each.isspace() else each for each in readable(text.expandtabs(4)))


def _escape(text: str) -> str:
    """Returns a text that means nothing to Markdown; no address in it becomes a link."""
    escaped = _MEANS_SOMETHING.sub(r"\\\1", _one_line(cut_line(text, _PROSE)))
    return _ADDRESS.sub(r"\1\\\2", _BEGINS_SOMETHING.sub(r"\1\\\2", escaped))


def _line(line: Line) -> str:
    parts = []
    for span in split_spans(line):
        match span:
            case Mono(text):
                parts.append(_code_span(cut_line(text)))
            case Strong(text):
                parts.append(f"**{_escape(text)}**")
            case _:
                parts.append(_escape(span))
    return "".join(parts)


def _code_span(text: str) -> str:
    text = _one_line(text)
    ticks = _ticks(text, 1)
    room = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def _ticks(text: str, least: int) -> str:
    """Returns more backticks than stand together anywhere in the text."""
    return "`" * max(least, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))


def _table(table: TableBlock) -> str:
    sides = ["---:" if column in table.numbers else "---" for column in range(len(table.headings))]
    rows = [[_cell(each) for each in table.headings], sides, *([_cell(each) for each in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(line: Line) -> str:
    # A bar would end the cell, in a word of code, too; one that is escaped already is no word of code.
    spans = tuple(span.text if isinstance(span, Mono) and "\\|" in span.text else span for span in split_spans(line))
    return re.sub(r"(?<!\\)\|", r"\\|", _line(spans))


def _fence(text: str, language: str = "") -> str:
    ticks = _ticks(text, 3)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _lines(text: str, most: int) -> str:
    shown, more = cut_lines(text, most)
    lines = [cut_line(_one_line(show_unseen(line))) for line in shown]
    return "\n".join([*lines, *([f"… {more:,} more lines are left out"] if more else [])])


def _listing(code: CodeListing) -> str:
    width = max(map(len, code.notes), default=0)
    lines = []
    for number, line in enumerate(_lines(code.text, FILE_LINES).split("\n"), 1):
        note = _one_line(code.notes[number - 1]) if number <= len(code.notes) else ""
        lines.append(f"{number:>4} {note.ljust(width) + ' ' if width else ''}{line}".rstrip())
    return f"{_code_span(code.path)}\n\n{_fence(chr(10).join(lines))}"
