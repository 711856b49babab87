"""A plain picture as PDF."""

import importlib.util

import pytest

from evolve.publish.paper.vector import pdf

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" role="img">{}</svg>'
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed (the extra `paper`)"
)


@pytest.mark.parametrize(
    "inside",
    [
        '<title>a</title><g transform="translate(4 12)" fill="none" stroke="#808080" stroke-width="0.3"><rect width="9" height="9"/></g>',
        '<circle cx="1" cy="1" r="1" fill="hsl(215 65% 55%)" fill-opacity="0.75"/>',
        '<line x1="0" y1="0" x2="1" y2="1" stroke="#123" stroke-dasharray="2 1"/>',
        '<polygon points="0,0 1,1 2 0"/><polyline points="0,0 1,1"/>',
        '<path d="M0 80V0.5H-3L1e1,2Z"/>',
        '<text x="4" y="8" font-size="4" text-anchor="middle">$\\frac{1}{0$ 中</text>',
        "",
    ],
)
def test_shapes_lines_and_words_are_drawn(inside: str) -> None:
    """Twice alike."""
    first = pdf(SVG.format(inside))
    assert first is not None
    assert first.startswith(b"%PDF-")
    assert first == pdf(SVG.format(inside))


def test_a_dash_and_a_colour_are_in_the_page() -> None:
    """What is drawn differs where the picture does."""
    line = '<line x1="0" y1="0" x2="9" y2="9" stroke="{}" stroke-dasharray="{}"/>'
    drawn = {pdf(SVG.format(line.format(*words))) for words in (("#123", "none"), ("#124", "none"), ("#123", "2 1"))}
    assert len(drawn) == 3


@pytest.mark.parametrize(
    "inside",
    [
        '<ellipse cx="1" cy="1" rx="1" ry="2"/>',
        '<g transform="rotate(45)"/>',
        '<rect width="1" height="1" rx="1"/>',
        '<rect width="1" height="1" fill="red"/>',
        '<rect width="1" height="1" style="fill: #123"/>',
        '<rect width="50%" height="1"/>',
        '<rect width="nan" height="1"/>',
        '<rect width="1e9" height="1"/>',
        '<path d="M0 0C1 1 2 2 3 3"/>',
        '<path d="m0 0 1 1"/>',
        '<path d="M0 0L1 1ZM2 2L3 3Z"/>',
        '<path d="H3"/>',
        '<polygon points="0,0 1"/>',
        "<text>a<tspan>b</tspan></text>",
        '<text text-anchor="inherit">a</text>',
        '<line x1="0" y1="0" x2="9" y2="9" stroke="#123" stroke-dasharray="a"/>',
    ],
)
def test_what_is_not_known_leaves_nothing_half_drawn(inside: str) -> None:
    """There is no picture, instead of one that lacks something."""
    assert pdf(SVG.format(inside)) is None


@pytest.mark.parametrize("box", ["0 0 0 1", "0 0 1 1e9", "0 0 nan 1", "0 0 1", "a b c d"])
def test_a_page_has_a_size(box: str) -> None:
    """One that can be looked at."""
    assert pdf(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}"/>') is None


def test_what_is_no_picture_has_no_page() -> None:
    """Nor one without a size."""
    assert pdf("<svg") is None
    assert pdf('<svg xmlns="http://www.w3.org/2000/svg"/>') is None
