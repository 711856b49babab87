"""Charts as SVG: well-formed, whatever their names are, and legible without colours or eyes."""

import math
from xml.etree import ElementTree

import pytest

from evolve.drawing import VARIABLES, Level, Series, alone, chart

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "</title><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "]]>",
    "\x00\x1b[31m",
    "\u202eabc",
    "\ud800",
    "&amp;<!--",
)


def parsed(made: str) -> ElementTree.Element:
    return ElementTree.fromstring(made)


def texts(made: str) -> list[str]:
    return [each.text or "" for each in parsed(made).iter(f"{SVG}text")]


def test_a_chart_tells_its_axes_its_marks_and_its_end() -> None:
    made = chart([Series("best so far", [0, 10, 20], [1.0, 2.0, 2.0], step=True)], y="sum of radii")
    heights, places = ["1.0", "1.2", "1.4", "1.6", "1.8", "2.0"], ["0", "5", "10", "15", "20"]
    assert texts(made) == ["sum of radii", "programs", *heights, *places]
    assert parsed(made).get("aria-label") == "sum of radii against programs. best so far: 2 at 20"
    assert [each[0].text for each in parsed(made).iter(f"{SVG}circle")] == [
        "best so far: 1 at 0",
        "best so far: 2 at 10",
        "best so far: 2 at 20",
    ]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_cannot_break_out(hostile: str) -> None:
    made = chart(
        [Series(hostile, [0, 1], [0, 1]), Series(hostile, [0, 1], [1, 0])],
        x=hostile,
        y=hostile,
        levels=[Level(0.5, hostile)],
    )
    tags = {each.tag.removeprefix(SVG) for each in parsed(alone(made)).iter()}
    assert {"svg", "style", "title", "text", "line", "path", "circle", "rect"} == tags


def test_a_band_lies_below_its_line_and_two_series_are_named() -> None:
    first = Series("islands", [1, 2], [1.0, 2.0], [0.5, 1.5], [1.5, 2.5])
    made = chart([first, Series("random", [1, 2], [1.0, 1.5])])
    paths = [(each.get("class"), each.get("stroke-dasharray")) for each in parsed(made).iter(f"{SVG}path")]
    assert paths == [("f-line-1", None), ("s-line-1", None), ("s-line-2", "7 3")]
    assert [told for told in texts(made) if told in ("islands", "random")] == ["islands", "random"]


def test_levels_are_in_the_legend_and_a_far_one_has_no_line() -> None:
    made = chart(
        [Series("best", [0, 1], [1.0, 2.0])], levels=[Level(2.5, "anchor"), Level(1.0, "seed"), Level(99.0, "bound")]
    )
    told = texts(made)
    assert told[told.index("best") : told.index("best") + 4] == [
        "best",
        "above: bound",
        "a: anchor",
        "b: seed",
    ]
    lines = [each for each in parsed(made).iter(f"{SVG}line") if each.get("class") == "s-level"]
    assert len(lines) == 3 + 2


@pytest.mark.parametrize("log_x", [False, True])
@pytest.mark.parametrize(
    "series",
    [
        (),
        (Series("a", [], []),),
        (Series("a", [0], [math.nan]),),
        (Series("a", [0], [5.0], [5.0], [5.0]),),
        (Series("a", [0, 0], [1e149, -1e149]),),
        (Series("a", [0, 1e-300], [1e-300, 2e-300]),),
    ],
)
def test_there_is_a_chart_of_whatever_there_is(series: tuple[Series, ...], log_x: bool) -> None:
    made = chart(series, levels=[Level(3.0, "anchor")], log_x=log_x, width=360, height=200)
    assert "nan" not in made.replace("programs", "")
    assert ("nothing to show yet" in texts(made)) == (not any(math.isfinite(y) for each in series for y in each.y))


def test_a_page_gives_the_colours_and_a_file_has_its_own() -> None:
    made = chart([Series("a", [0, 1], [0, 1])])
    assert 'stroke="var(--chart-line-1, #0b62c4)"' in made
    assert "--chart-line-1:#6cb0ff" in VARIABLES.partition("prefers-color-scheme:dark")[2]
    single = alone(made)
    assert 'stroke="#0b62c4"' in single
    assert "var(" not in single
    assert ".s-line-1{stroke:#6cb0ff}" in single


def test_a_hundred_thousand_points_are_a_small_picture() -> None:
    count = 100_000
    made = chart([Series("a", range(count), [math.sin(place) for place in range(count)])])
    assert len(made) < 60_000
