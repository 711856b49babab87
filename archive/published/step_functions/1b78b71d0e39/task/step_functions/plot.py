"""A step function and its autoconvolution as an SVG picture that reads on light and on dark pages.

Invariant: plain well-formed XML without scripts or links, drawn from numbers alone."""

from collections.abc import Sequence

import numpy as np
from steps import Array, knots, ratio

WIDTH, HEIGHT = 160.0, 44.0
MARGIN = 4.0
TITLE = 8.0
INK = "#808080"
FUNCTION, CURVE = "#3d7fd9", "#d9813d"


def svg(kind: str, steps: Sequence[float]) -> str:
    """Above the steps (blue), below the autoconvolution or the overlap (orange) with a line at its maximum; the value as the title."""
    title = f"{kind} with {len(steps)} steps: {ratio(kind, steps):.12f}"
    width, height = WIDTH + 2 * MARGIN, 2 * HEIGHT + 4 * MARGIN + TITLE
    found = knots(kind, steps)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{title}</title>",
        f'<text x="{MARGIN:g}" y="{TITLE:g}" font-size="4" font-family="sans-serif" fill="{INK}">{title}</text>',
        *_panel(_outline(np.array(steps, dtype=np.float64)), TITLE + MARGIN, FUNCTION),
        *_panel(_polyline(found), TITLE + 3 * MARGIN + HEIGHT, CURVE),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _outline(steps: Array) -> Array:
    """The corners of the function's graph, from 0 to 1 in x; shape (2 n + 2, 2)."""
    places = np.repeat(np.linspace(0.0, 1.0, len(steps) + 1), 2)
    return np.column_stack((places, np.concatenate(([0.0], np.repeat(steps, 2), [0.0]))))


def _polyline(found: Array) -> Array:
    """The curve through its knots, which is 0 one knot beyond the first and the last; shape (2 n + 1, 2)."""
    return np.column_stack((np.linspace(0.0, 1.0, len(found) + 2), np.concatenate(([0.0], found, [0.0]))))


def _panel(points: Array, top: float, colour: str) -> list[str]:
    """A frame of `HEIGHT` with the curve filled down to 0, and a line where it is largest."""
    low, high = min(0.0, float(points[:, 1].min())), max(0.0, float(points[:, 1].max()))
    span = (high - low) or 1.0
    path = " ".join(f"{WIDTH * x:.3f},{HEIGHT * (high - y) / span:.3f}" for x, y in points.tolist())
    zero = HEIGHT * high / span
    return [
        f'<g transform="translate({MARGIN:g} {top:g})" stroke-width="0.3">',
        f'<polygon points="{path}" fill="{colour}" fill-opacity="0.25" stroke="{colour}"/>',
        f'<line x1="0" y1="{zero:.3f}" x2="{WIDTH:g}" y2="{zero:.3f}" stroke="{INK}"/>',
        f'<line x1="0" y1="0" x2="{WIDTH:g}" y2="0" stroke="{INK}" stroke-dasharray="1 1"/>',
        "</g>",
    ]
