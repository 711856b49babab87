"""A packing as an SVG picture that reads on light and on dark pages.

Invariant: plain well-formed XML without scripts or links, drawn from numbers alone."""

from packing import SIDES, Contacts, Packing

SIZE = 100.0
MARGIN = 4.0
TITLE = 8.0
INK = "#808080"


def svg(packing: Packing, touch: Contacts) -> str:
    """Circles coloured by radius (small ones blue, large ones orange), contacts as thin lines, the value as the title."""
    title = f"{len(packing.radii)} circles, sum of radii {packing.total:.12f}"
    width, height = SIZE + 2 * MARGIN, SIZE + 2 * MARGIN + TITLE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{title}</title>",
        f'<text x="{MARGIN:g}" y="{TITLE:g}" font-size="4" font-family="sans-serif" fill="{INK}">{title}</text>',
        f'<g transform="translate({MARGIN:g} {MARGIN + TITLE:g})" fill="none" stroke="{INK}" stroke-width="0.3">',
        f'<rect width="{SIZE:g}" height="{SIZE:g}"/>',
        *_circles(packing),
        *_contacts(packing, touch),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _circles(packing: Packing) -> list[str]:
    low, high = min(packing.radii), max(packing.radii)
    span = high - low or 1.0
    return [
        f'<circle {_at(packing.centres[index], "cx", "cy")} r="{SIZE * radius:.4f}" '
        f'fill="hsl({215 - 185 * (radius - low) / span:.0f} 65% 55%)" fill-opacity="0.75"/>'
        for index, radius in enumerate(packing.radii)
    ]


def _contacts(packing: Packing, touch: Contacts) -> list[str]:
    ends = [(packing.centres[one], packing.centres[other]) for one, other in touch.pairs]
    ends += [(packing.centres[circle], _foot(packing.centres[circle], side)) for circle, side in touch.sides]
    return [f"<line {_at(one, 'x1', 'y1')} {_at(other, 'x2', 'y2')}/>" for one, other in ends]


def _foot(centre: tuple[float, float], side: int) -> tuple[float, float]:
    """The point of the side (0 left, 1 bottom, 2 right, 3 top) that is nearest to `centre`."""
    assert 0 <= side < SIDES
    wall = 0.0 if side < 2 else 1.0
    return (wall, centre[1]) if side % 2 == 0 else (centre[0], wall)


def _at(point: tuple[float, float], horizontal: str, vertical: str) -> str:
    """SVG counts downwards, mathematics upwards."""
    return f'{horizontal}="{SIZE * point[0]:.4f}" {vertical}="{SIZE * (1 - point[1]):.4f}"'
