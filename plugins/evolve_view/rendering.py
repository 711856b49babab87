"""HTML from the templates of this package, for pages and for reports.

Everything that no template wrote is escaped and made readable, and a name that a template misspells is an error."""

import base64
import json
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
from evolve.stop import duration, spelled
from evolve_view.charts import ChartFigure, chart

FOLDER = Path(__file__).parent
_LINE, _WORDS = 400, 12_000
"""Characters of a line, and of somebody else's words, that are shown."""
_PARTS = re.compile(r"\n(?:[ \t]*\n)+")
_STANDS = re.compile(r"\s|[-*+|#>`~]|\d+[.)]\s")


def render(template: str, **values: Any) -> str:
    """Returns a template of this package with these values."""
    return environment().get_template(template).render(values)


def read_style(*names: str) -> Markup:
    """Returns style sheets of this package, one after the other."""
    return Markup("".join((FOLDER / "static" / name).read_text("utf-8") for name in names))


@cache
def environment() -> Environment:
    """Returns the templates with their filters; everything that no template wrote is escaped."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_make_readable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(wording=wording)
    made.filters.update(
        counted=wording.counted,
        cut_line=cut_line,
        cut_words=cut_words,
        difference=wording.difference,
        draw=_draw,
        duration=format_duration,
        level=wording.level,
        moment=format_moment,
        number=wording.number,
        one_line=one_line,
        paragraphs=_split_paragraphs,
        quoted=quote,
        readable=readable,
        setting=format_setting,
        share=wording.share,
        seconds=wording.seconds,
        spelled_money=lambda value: spelled("money", value),
        svg_data=_encode_svg,
        with_chosen=with_chosen,
    )
    return made


def _make_readable(value: object) -> object:
    """Leaves out what nobody sees, and what turns a line around, of every text that a template did not write."""
    return readable(value) if type(value) is str else value


def _draw(figure: ChartFigure, width: int, height: int) -> Markup:
    return Markup(chart(figure, width, height))


def cut_line(text: str) -> str:
    """Returns the beginning of a line, and how much more there is."""
    return _cut(text, _LINE, " ")


def cut_words(text: str) -> str:
    """Returns the beginning of a text of any number of lines, and how much more there is."""
    return _cut(text, _WORDS, "\n")


def _cut(text: str, most: int, gap: str) -> str:
    return text if len(text) <= most else f"{text[:most]}{gap}… ({len(text) - most:,} more characters)"


def format_duration(seconds: float) -> str:
    """Formats a time: `2 min 3 s`; less than a second in milliseconds."""
    return duration(seconds) if seconds >= 1.0 else f"{seconds * 1000:.3g} ms"


def _split_paragraphs(text: str) -> list[tuple[str, bool]]:
    """Returns the paragraphs of a text, and of each whether its lines must stand as they are: those of a list, a table, a heading, or code."""
    parts = _PARTS.split(text.expandtabs(4))
    return [(part, any(_STANDS.match(line) for line in part.split("\n"))) for part in parts]


def _encode_svg(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8", "replace")).decode("ascii")


def format_moment(at: float) -> str:
    """Formats a time in seconds since 1970, in the time of this machine: `2026-11-22 16:40`."""
    return datetime.fromtimestamp(at).isoformat(" ", "minutes")


def with_chosen(kept: Mapping[str, object], **values: object) -> str:
    """Returns a query that keeps what was chosen, but for these values."""
    return f"?{urlencode({**kept, **values})}"


def format_setting(value: object) -> str:
    """Formats a setting as JSON, of paths the last part alone: a report leaves the machine."""
    return json.dumps(_hide_folders(value), ensure_ascii=False)


def _hide_folders(value: object) -> object:
    match value:
        case str() if value.startswith(("/", "~/")):
            return f"…/{value.rstrip('/').rsplit('/', 1)[-1]}"
        case list() | tuple():
            return [_hide_folders(each) for each in value]
        case dict():
            return {key: _hide_folders(each) for key, each in value.items()}
        case _:
            return value
