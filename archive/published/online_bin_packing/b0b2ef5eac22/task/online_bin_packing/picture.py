"""How full the bins are, as an SVG picture that reads on light and on dark pages.

Invariant: plain well-formed XML without scripts or links, drawn from numbers alone."""

from collections.abc import Sequence

WIDTH, HEIGHT = 160.0, 80.0
MARGIN = 4.0
TITLE = 8.0
INK, FILLED = "#808080", "hsl(215 65% 55%)"


def svg(room_left: Sequence[int], volume_bound: int) -> str:
    """All bins side by side, the fullest first: what is filled is coloured, what is wasted is not; a dashed line stands where the bins
    would end if all were full. `room_left` has the number of bins by the room left in them."""
    bins = sum(room_left)
    title = f"{bins:,} bins, {volume_bound:,} if all were full: {100 * (bins / volume_bound - 1):.2f} % more"
    width, height = WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN + TITLE
    least = WIDTH * volume_bound / bins
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{title}</title>",
        f'<text x="{MARGIN:g}" y="{TITLE:g}" font-size="5" font-family="sans-serif" fill="{INK}">{title}</text>',
        f'<g transform="translate({MARGIN:g} {MARGIN + TITLE:g})" stroke="{INK}" stroke-width="0.3" fill="none">',
        f'<path d="{_outline(room_left, bins)}" fill="{FILLED}" fill-opacity="0.75" stroke="none"/>',
        f'<rect width="{WIDTH:g}" height="{HEIGHT:g}"/>',
        f'<line x1="{least:.3f}" y1="0" x2="{least:.3f}" y2="{HEIGHT:g}" stroke-width="0.6" stroke-dasharray="2 1"/>',
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _outline(room_left: Sequence[int], bins: int) -> str:
    """The filled part as a staircase, one step for each room that occurs."""
    capacity = len(room_left) - 1
    path, right = f"M0 {HEIGHT:g}", 0
    for room, count in enumerate(room_left):
        if count:
            top = HEIGHT * room / capacity
            path += f"V{top:.3f}"
            right += count
            path += f"H{WIDTH * right / bins:.3f}"
    return f"{path}V{HEIGHT:g}Z"
