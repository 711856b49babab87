"""Values to HTML: the templates of this package, for pages and for documents that are files of their own.

Everything that no template wrote is escaped and made readable, and a name that a template misspells is an error."""

import base64
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evolve import wording
from evolve.sandbox.output import one_line, readable
from evolve.stop import duration
from evolve_view import code
from evolve_view.charts import chart
from evolve_view.documents import (
    CHANGED_LINES,
    FILE_LINES,
    ChartFigure,
    CodeChange,
    CodeListing,
    Document,
    cut_line,
    cut_words,
    split_spans,
)

FOLDER = Path(__file__).parent
_DAY_SECONDS = 86_400
_PARTS = re.compile(r"\n(?:[ \t]*\n)+")
_STANDS = re.compile(r"\s|[-*+|#>`~]|\d+[.)]\s")


def render(template: str, **values: Any) -> str:
    """Returns a template of this package with these values."""
    return _environment().get_template(template).render(values)


def render_document(document: Document, mark: str) -> str:
    """Returns a document as one HTML file that needs no other: no script, no font, no picture from elsewhere, light and dark, on paper and on a phone.
    `mark` is a comment in its second line, by which it is known again."""
    sheets = [(FOLDER / "static" / name).read_text("utf-8") for name in ("site.css", "document.css")]
    style = Markup("".join(sheets))
    return render("document.html", document=document, mark=Markup(mark), style=style)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_make_readable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(changed_lines=CHANGED_LINES)
    environment.filters.update(
        ago=format_ago,
        counted=wording.counted,
        cut_line=cut_line,
        cut_words=cut_words,
        difference=wording.difference,
        draw=_draw,
        duration=duration,
        kind=lambda value: type(value).__name__,
        level=wording.level,
        listing=_list_code,
        moment=format_moment,
        number=wording.number,
        one_line=one_line,
        paragraphs=_split_paragraphs,
        quoted=quote,
        readable=readable,
        change=_compare_code,
        seconds=wording.seconds,
        spans=split_spans,
        svg_data=_encode_svg,
        with_chosen=with_chosen,
    )
    return environment


def _make_readable(value: object) -> object:
    """Leaves out what nobody sees, and what turns a line around, of every text that a template did not write."""
    return readable(value) if type(value) is str else value


def _draw(figure: ChartFigure, width: int, height: int) -> Markup:
    levels = () if figure.size == "small" else figure.levels
    names = {"x": figure.x, "y": figure.y}
    return Markup(chart(figure.series, levels=levels, width=width, height=height, log_x=figure.log_x, **names))


def _list_code(listing: CodeListing) -> code.CodeFile:
    return code.show_file(listing.path, listing.text, most=FILE_LINES)


def _compare_code(change: CodeChange) -> code.FileChange:
    return code.compare_texts(change.path, change.before, change.after)


def _split_paragraphs(text: str) -> list[tuple[str, bool]]:
    """Returns the paragraphs of a text, and of each whether its lines must stand as they are: those of a list, a table, a heading, or code."""
    parts = _PARTS.split(text.expandtabs(4))
    return [(part, any(_STANDS.match(line) for line in part.split("\n"))) for part in parts]


def _encode_svg(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8", "replace")).decode("ascii")


def format_moment(at: float) -> str:
    """Formats a time in seconds since 1970, in the time of this machine: `2026-11-22 16:40`."""
    return datetime.fromtimestamp(at).isoformat(" ", "minutes")


def format_ago(seconds: float) -> str:
    """Formats how long ago something was, in one unit."""
    for size, unit in ((_DAY_SECONDS, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "now"


def with_chosen(kept: Mapping[str, object], **values: object) -> str:
    """Returns a query that keeps what was chosen, but for these values."""
    return f"?{urlencode({**kept, **values})}"
