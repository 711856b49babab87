"""A packing as an SVG picture that reads on light and on dark pages.

Invariant: plain well-formed XML without scripts or links, drawn from numbers alone."""

import math
from collections.abc import Sequence

SIZE = 100.0
MARGIN = 4.0
TITLE = 8.0
INK = "#808080"


def svg(centres: Sequence[Sequence[float]], radii: Sequence[float]) -> str:
    """Circles coloured by radius (small ones blue, large ones orange), the value as the title."""
    title = f"{len(radii)} circles, sum of radii {math.fsum(radii):.9f}"
    width, height = SIZE + 2 * MARGIN, SIZE + 2 * MARGIN + TITLE
    low, high = min(radii), max(radii)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{title}</title>",
        f'<text x="{MARGIN:g}" y="{TITLE:g}" font-size="4" font-family="sans-serif" fill="{INK}">{title}</text>',
        f'<g transform="translate({MARGIN:g} {MARGIN + TITLE:g})" fill="none" stroke="{INK}" stroke-width="0.3">',
        f'<rect width="{SIZE:g}" height="{SIZE:g}"/>',
        *(
            # SVG counts downwards, mathematics upwards.
            f'<circle cx="{SIZE * x:.4f}" cy="{SIZE * (1 - y):.4f}" r="{SIZE * radius:.4f}" '
            f'fill="hsl({215 - 185 * (radius - low) / (high - low or 1.0):.0f} 65% 55%)" fill-opacity="0.75"/>'
            for (x, y), radius in zip(centres, radii, strict=True)
        ),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
