"""Picture of the scores of all instances as SVG, which reads on light and on dark pages.

It is plain well-formed XML without scripts or links, drawn from numbers and escaped texts alone."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN, LINE = 160.0, 80.0, 4.0, 7.0
INK, LATE = "#808080", "hsl(0 65% 55%)"
HUES = (215, 30, 130, 280, 60, 180)
"""Hues of the kinds, in turn."""


def draw_scores(rows: Sequence[Mapping[str, Any]], noun: str = "instances") -> str:
    """Returns a bar for each instance, the worst first, in the colour of its kind, red where it was late; a dashed line stands at a score of 1. `noun` says what the rows are."""
    kinds = list(dict.fromkeys(str(row["kind"]) for row in rows))
    ordered = sorted(rows, key=lambda row: float(row["score"]))
    title = f"{len(rows)} {noun}, the worst {float(ordered[0]['score']):.4g}"
    heads = [(title, INK), *((kind, _colour(number)) for number, kind in enumerate(kinds) if kind)]
    base = MARGIN + LINE * len(heads) + HEIGHT
    scale = HEIGHT / max(1.0, float(ordered[-1]["score"]))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 2 * MARGIN:g} {base + MARGIN:g}" role="img">',
        f"<title>{escape(title)}</title>",
        *(_words(number, *head) for number, head in enumerate(heads)),
    ]
    for number, row in enumerate(ordered):
        colour = LATE if row["late"] else _colour(kinds.index(str(row["kind"])))
        lines.append(_bar(number, len(ordered), base, scale * float(row["score"]), colour))
    one = f'y1="{base - scale:.3f}" y2="{base - scale:.3f}"'
    lines.append(
        f'<line x1="{MARGIN:g}" x2="{MARGIN + WIDTH:g}" {one} stroke="{INK}" stroke-width="0.4" stroke-dasharray="2 1"/>'
    )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _words(number: int, text: str, colour: str) -> str:
    place = f'x="{MARGIN:g}" y="{MARGIN + LINE * (number + 0.7):g}"'
    return f'<text {place} font-size="5" font-family="sans-serif" fill="{colour}">{escape(text)}</text>'


def _bar(number: int, count: int, base: float, height: float, colour: str) -> str:
    width = WIDTH / count
    place = f'x="{MARGIN + number * width:.3f}" y="{base - height:.3f}"'
    return f'<rect {place} width="{0.8 * width:.3f}" height="{height:.3f}" fill="{colour}"/>'


def _colour(number: int) -> str:
    return f"hsl({HUES[number % len(HUES)]} 65% 55%)"
