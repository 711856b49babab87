"""Charts as SVG: well-formed, whatever their names are, and legible without colours or eyes."""

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve_view.charts import (
    ChartFigure,
    Reference,
    Scale,
    Series,
    Spot,
    alone,
    band_path,
    chart,
    element,
    escape_text,
    find_span,
    find_spots,
    is_far,
    line_path,
    thin,
    ticks,
)

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


def draw(
    *series: Series, x: str = "programs", y: str = "fitness", levels: tuple[Reference, ...] = (), width: int = 720
) -> str:
    return chart(ChartFigure(series, x, y, levels), width)


def texts(made: str) -> list[str]:
    return [each.text or "" for each in parsed(made).iter(f"{SVG}text")]


def test_before_anything_is_spent_the_axis_begins_at_0() -> None:
    places = texts(draw(Series("best so far", [0], [3.0], step=True)))
    assert [place for place in places if place.startswith("-")] == []
    assert places[-1] == "1.0"


def test_a_chart_tells_its_axes_its_marks_and_its_end() -> None:
    made = draw(Series("best so far", [0, 10, 20], [1.0, 2.0, 2.0], step=True), y="sum of radii")
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
    made = draw(
        Series(hostile, [0, 1], [0, 1]),
        Series(hostile, [0, 1], [1, 0]),
        x=hostile,
        y=hostile,
        levels=(Reference(0.5, hostile),),
    )
    tags = {each.tag.removeprefix(SVG) for each in parsed(alone(made)).iter()}
    assert {"svg", "style", "title", "text", "line", "path", "circle", "rect"} == tags


def test_a_band_lies_below_its_line_and_two_series_are_named() -> None:
    first = Series("islands", [1, 2], [1.0, 2.0], [0.5, 1.5], [1.5, 2.5])
    made = draw(first, Series("random", [1, 2], [1.0, 1.5]))
    paths = [(each.get("class"), each.get("stroke-dasharray")) for each in parsed(made).iter(f"{SVG}path")]
    assert paths == [("f-line-1", None), ("s-line-1", None), ("s-line-2", "7 3")]
    assert [told for told in texts(made) if told in ("islands", "random")] == ["islands", "random"]


def test_levels_are_named_at_their_ends_and_a_far_one_has_no_line() -> None:
    levels = (Reference(2.5, "anchor"), Reference(1.0, "seed"), Reference(99.0, "bound"))
    made = draw(Series("best", [0, 1], [1.0, 2.0]), levels=levels)
    named = {each.text: (each.get("x"), float(each.get("y") or 0)) for each in parsed(made).iter(f"{SVG}text")}
    assert "best" not in named
    lines = {float(each.get("y1") or 0) for each in parsed(made).iter(f"{SVG}line") if each.get("class") == "s-level"}
    assert lines == {named["anchor"][1] + 4, named["seed"][1] + 4}
    assert named["anchor"][0] == named["seed"][0] == named["above: bound"][0] == "708"
    assert named["above: bound"][1] < named["anchor"][1] < named["seed"][1]


def test_names_of_levels_never_stand_in_one_another() -> None:
    levels = tuple(Reference(value, f"{value}") for value in (1.0, 1.001, 1.002))
    made = draw(Series("best", [0, 1], [1.0, 2.0]), levels=levels)
    named = {each.text: float(each.get("y") or 0) for each in parsed(made).iter(f"{SVG}text")}
    assert named["1.0"] - 14 >= named["1.001"] >= named["1.002"] + 14


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
def test_there_is_a_chart_of_whatever_there_is(series: tuple[Series, ...]) -> None:
    made = draw(*series, levels=(Reference(3.0, "anchor"),), width=360)
    assert "nan" not in made.replace("programs", "")
    assert ("nothing to show yet" in texts(made)) == (
        not any(math.isfinite(y) for each in series for y in each.y if y is not None)
    )


def test_a_page_gives_the_colours_and_a_file_has_its_own() -> None:
    made = draw(Series("a", [0, 1], [0, 1]))
    assert 'stroke="var(--chart-line-1, #0b62c4)"' in made
    single = alone(made)
    assert 'stroke="#0b62c4"' in single
    assert "var(" not in single
    assert ".s-line-1{stroke:#6cb0ff}" in single


def test_a_hundred_thousand_points_are_a_small_picture() -> None:
    count = 100_000
    made = draw(Series("a", range(count), [math.sin(place) for place in range(count)]))
    assert len(made) < 60_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b & c", "a &lt; b &amp; c"),
        ('"it\'s"', "&quot;it&#x27;s&quot;"),
        ("]]>", "]]&gt;"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("bell\x07", "bell�"),
        ("turned \u202eround", "turned �round"),
        ("\ud800", "�"),
        ("\ufffe", "�"),
    ],
)
def test_a_text_is_escaped_and_what_nobody_sees_is_marked(text: str, shown: str) -> None:
    assert shown == escape_text(text)


def test_an_attribute_cannot_end_early() -> None:
    made = element("text", "inside", class_='"><script>', stroke_width=1.0, x=-0.001, y=12.345, fill=None)
    assert made == '<text class="&quot;&gt;&lt;script&gt;" stroke-width="1" x="0" y="12.35">inside</text>'
    assert ElementTree.fromstring(made).get("class") == '"><script>'


def test_an_element_without_content_closes_itself() -> None:
    assert element("path", d="M0 0") == '<path d="M0 0"/>'


def lines(made: str) -> set[tuple[str | None, str | None]]:
    """The colours and dashes of its lines."""
    return {(each.get("class"), each.get("stroke-dasharray")) for each in parsed(made).iter(f"{SVG}path")}


def test_a_single_line_needs_no_name() -> None:
    assert "best so far" not in texts(draw(Series("best so far", [0, 1], [0, 1])))


def test_names_that_do_not_fit_stand_in_the_next_row_and_long_ones_are_cut() -> None:
    series = [Series(name, [0, 1], [0, 1]) for name in ("first", "second one")]
    made = draw(*series, levels=(Reference(0.5, "a name that is too long for the paper"),), width=180)
    rows = {each.text: each.get("y") for each in parsed(made).iter(f"{SVG}text")}
    assert (rows["first"], rows["second one"]) == ("36", "54")
    assert [name for name in rows if name and name.endswith("…")] == ["a name that is too…"]


def test_lines_differ_without_colours() -> None:
    assert len(lines(draw(*(Series(str(place), [0, 1], [0, place]) for place in range(16))))) == 16


def test_marks_are_points_with_links_and_words_of_their_own() -> None:
    marks = Series("front", [0, 1], [0.0, None], marks=True, links=["/one", "/two"], titles=["first", "second"])
    made = draw(marks)
    assert lines(made) == set()
    assert [each.get("href") for each in parsed(made).iter(f"{SVG}a")] == ["/one"]
    assert [each[0].text for each in parsed(made).iter(f"{SVG}circle")] == ["first"]


def test_the_limits_of_a_reference_line_are_a_band_on_the_paper() -> None:
    made = draw(Series("a", [0, 1], [1.0, 2.0]), levels=(Reference(1.5, "best", 1.4, 1.6),))
    band = next(parsed(made).iter(f"{SVG}rect"))
    assert (band.get("class"), float(band.get("height") or 0) > 10) == ("f-level", True)


def test_a_level_that_would_press_the_points_flat_is_is_far() -> None:
    assert [is_far(value, [1.0, 2.0]) for value in (3.9, 4.1, -0.9)] == [False, True, False]
    assert not is_far(1e9, [])
    assert not is_far(1e9, [1.0, 1.0])


def test_a_step_holds_its_height_until_the_next_one() -> None:
    assert line_path([(0, 1), (5, 3)], step=True) == "M0.0 1.0L5.0 1.0L5.0 3.0"
    assert line_path([(0, 1), (5, 3)], step=False) == "M0.0 1.0L5.0 3.0"


def test_a_band_goes_forth_above_and_back_below() -> None:
    assert band_path([(0, 4), (9, 5)], [(0, 0), (9, 1)], step=False) == "M0.0 0.0L9.0 1.0L9.0 5.0L0.0 4.0Z"
    assert band_path([], [], step=False) == ""


def test_of_many_points_the_peaks_are_kept() -> None:
    points = [(place / 100, 0.0) for place in range(5_000)]
    points[1234] = (12.34, 77.0)
    kept = thin(points)
    assert (12.34, 77.0) in kept
    assert points[0] == kept[0]
    assert points[-1] == kept[-1]
    assert len(kept) == 101


def test_places_are_in_proportion_and_stay_on_the_paper() -> None:
    scale = Scale(0.0, 10.0, 100.0, 200.0)
    assert [scale.place(value) for value in (-5.0, 5.0, 10.0, 99.0)] == [100.0, 150.0, 200.0, 200.0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], (0.0, 1.0)), ([0.0], (-1.0, 1.0)), ([2.0, 4.0], (1.0, 5.0)), ([1000.0], (999.0, 1001.0))],
)
def test_an_axis_has_a_width(values: list[float], expected: tuple[float, float]) -> None:
    assert expected == find_span(values, 0.5)


def test_what_is_not_finite_is_left_out() -> None:
    series = Series("a", [1, 2, 3, math.nan], [1.0, math.inf, 3.0, 4.0], [0.5, 0, -math.inf, 0], [2.0, 0, math.nan, 0])
    assert (Spot(1.0, 1.0, 0.5, 2.0, 0), Spot(3.0, 3.0, 3.0, 3.0, 2)) == find_spots(series)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"series 'a' has columns of lengths \[1, 2\]"):
        Series("a", [1, 2], [1.0])
    with pytest.raises(ValueError, match="series 'a'"):
        Series("a", [1], [1.0], low=[0.5])


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 1500, ("0", "500", "1,000", "1,500")),
        (0.96, 2.63, ("1.0", "1.5", "2.0", "2.5")),
        (-1.2, 1.2, ("-1.0", "-0.5", "0.0", "0.5", "1.0")),
        (2.635862756, 2.6358627574, ("2.6358627560", "2.6358627565", "2.6358627570")),
        (0, 3e12, ("0", "1e+12", "2e+12", "3e+12")),
        (0, 2e-6, ("0", "5.0e-07", "1.0e-06", "1.5e-06", "2.0e-06")),
    ],
)
def test_labels_have_the_digits_that_tell_them_apart(low: float, high: float, labels: tuple[str, ...]) -> None:
    assert ticks(low, high, 5).labels == labels


@given(
    st.tuples(
        st.floats(-1e140, 1e140, allow_subnormal=False),
        st.floats(-1e140, 1e140, allow_subnormal=False),
    ),
    st.integers(2, 12),
)
def test_no_two_labels_are_equal_whatever_the_values(ends: tuple[float, float], most: int) -> None:
    low, high = find_span(ends)
    found = ticks(low, high, most)
    assert len(found.labels) <= most
    assert len(set(found.labels)) == len(found.labels)
