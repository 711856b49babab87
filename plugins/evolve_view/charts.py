"""Line charts and scatters as SVG text, for pages, reports and files.

The same arguments give the same text. Colours are the CSS variables `--chart-NAME` of a page (`static/site.css` sets them), with light colours where there are none;
`alone` makes a chart a file of its own. Names of series stand in a legend and those of reference lines at the lines' ends, so that a chart can be read in black and white; every text
is escaped."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count, pairwise

UNREADABLE = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that nobody sees, that turns the direction of others, or that XML forbids."""
_LARGEST = 1e150
"""Larger numbers are as good as infinite: their distances could not be computed."""
_DOTS = 60
"""A series of no more points has each of them marked."""
_DENSE = 1_000
"""Up to so many points are drawn as they are."""
_MARGIN = 0.06
_FAR = 2.0
"""Times the height of all points: reference lines further away would press the points flat."""
_LETTER, _DIGIT = 6.9, 7.5
"""Width in pixels of a character of a name, and of a digit."""
_ROW = 18
"""Pixels from one line of text to the next."""
_NAME_ROW = 14
"""Pixels from the name of one reference line to the next, at least."""
_BELOW = 2 * _ROW + 4
"""Pixels below the horizontal axis."""
_LEGEND_ROWS = 2
"""Rows of a legend for which a chart has room."""
_SWATCH, _GAP = 26.0, 12.0
_LEAST = 1e-12
"""Share of the values by which the ends of an axis differ at least: nearer ones have no ticks that differ."""
_HUGE, _TINY = 1e9, 1e-4
_REFERENCE_DASH = "4 4"
_DASHES = (None, "7 3", "2 2", "9 3 2 3")
_HUES = 8
_LIGHT = {
    "paper": "#ffffff",
    "text": "#1f2328",
    "faint": "#656d76",
    "grid": "#d8dee4",
    "level": "#8a5a00",
    "line-1": "#0b62c4",
    "line-2": "#c2410c",
    "line-3": "#0f7b4f",
    "line-4": "#8a3ffc",
    "line-5": "#b0246f",
    "line-6": "#4d6b00",
    "line-7": "#00788a",
    "line-8": "#7a5c45",
}
_DARK = {
    "paper": "#0d1117",
    "text": "#e6edf3",
    "faint": "#9198a1",
    "grid": "#30363d",
    "level": "#e3b341",
    "line-1": "#6cb0ff",
    "line-2": "#ff9a62",
    "line-3": "#4fd18b",
    "line-4": "#c8a5ff",
    "line-5": "#ff8dc0",
    "line-6": "#b5d45c",
    "line-7": "#58d5e6",
    "line-8": "#d3b39a",
}
_COLOUR = re.compile(r'="var\(--chart-[a-z0-9-]+, (#[0-9a-f]{6})\)"')
"""An attribute that holds a colour. In a text the quotes would be escaped."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points from left to right; one whose `y` is None is left out. `low` and `high` limit a band around `y`. `step`: a value holds until the next point.
    `marks`: points without a line, with the addresses `links` and the words `titles` where these are given."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    step: bool = False
    marks: bool = False
    links: Sequence[str] = ()
    titles: Sequence[str] = ()

    def __post_init__(self) -> None:
        columns = (self.x, self.y, self.low, self.high, self.links or None, self.titles or None)
        lengths = {len(values) for values in columns if values is not None}
        if len(lengths) > 1 or (self.low is None) != (self.high is None):
            raise ValueError(
                f"series {self.name!r} has columns of lengths {sorted(lengths)}: give one of each for each point"
            )


@dataclass(frozen=True, slots=True)
class Reference:
    """A value with a name, drawn across the chart, with the limits between which it lies where these are known."""

    value: float
    name: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """A point that can be drawn, and its place in the series; `low` and `high` are `y` where there is no band."""

    x: float
    y: float
    low: float
    high: float
    place: int


@dataclass(frozen=True, slots=True)
class ChartFigure:
    """Chart before it has a size: its series, the names of its axes, and the values to compare them with."""

    series: tuple[Series, ...]
    x: str
    y: str
    levels: tuple[Reference, ...] = ()


def chart(figure: ChartFigure, width: int = 720, height: int = 320) -> str:
    """Returns a chart as one `<svg>` element.

    Points that are not finite are left out; reference lines far beyond the points are named at the edge, and not drawn. The chart is higher than `height` where
    its legend needs the room."""
    drawn = [(each, find_spots(each)) for each in figure.series]
    up = _vertical_axis(drawn, figure.levels, height)
    placed = _place_legend(_legend_entries(figure.series), width)
    rows = placed[-1].row + 1 if placed else 0
    height += _ROW * max(0, rows - _LEGEND_ROWS)
    up = Scale(up.low, up.high, height - _BELOW, up.end + _ROW * rows)
    paper = Paper(_horizontal_axis(drawn, up, width), up, width, height)
    summary = _summarize(drawn, figure)
    parts = [
        element("title", escape_text(summary)),
        _draw_axes(paper, figure.x, figure.y),
        *(_draw_legend_entry(each, paper) for each in placed),
        *(_draw_reference(each, paper) for each in figure.levels),
        *(_draw_band(each, spots, place, paper) for place, (each, spots) in enumerate(drawn)),
        *(_draw_line(each, spots, place, paper) for place, (each, spots) in enumerate(drawn)),
        _name_references(figure.levels, paper),
        "" if any(spots for _, spots in drawn) else _draw_nothing(paper),
    ]
    words = {"role": "img", "aria_label": summary, "font_family": "system-ui, sans-serif"}
    size: dict[str, str | float] = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return element(
        "svg", "".join(parts), xmlns="http://www.w3.org/2000/svg", class_="chart", **size, **words, font_size=12
    )


def alone(svg: str) -> str:
    """Returns a chart as a file of its own, with its own paper and with colours for light and dark readers."""
    rules = "".join(f".f-{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}" for name, colour in _DARK.items())
    style = element("style", f"@media screen and (prefers-color-scheme:dark){{{rules}}}")
    paper = element("rect", width="100%", height="100%", fill=_LIGHT["paper"], class_="f-paper")
    begin, bracket, rest = _COLOUR.sub(r'="\1"', svg).partition(">")
    return f"{begin}{bracket}{style}{paper}{rest}"


def escape_text(text: str) -> str:
    """Escapes a text as the content of an element, or as the value of an attribute in quotes; every kind of empty room becomes a space."""
    return escape("".join(" " if each.isspace() else each if each.isprintable() else UNREADABLE for each in text))


def element(name: str, content: str = "", /, **given: str | float | None) -> str:
    """Returns `<name key="value">content</name>`. The content is markup already; the values are escaped here, and those that are None left out. `class_`
    is `class`, other underscores are hyphens; numbers have at most two decimals."""
    attributes = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_text(_format_value(value))}"'
        for key, value in given.items()
        if value is not None
    )
    return f"<{name}{attributes}>{content}</{name}>" if content else f"<{name}{attributes}/>"


def _format_value(value: str | float) -> str:
    if isinstance(value, str):
        return value
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _paint(ink: str) -> str:
    return f"var(--chart-{ink}, {_LIGHT[ink]})"


def _line_ink(place: int) -> str:
    return f"line-{place % _HUES + 1}"


def _dash(place: int) -> str | None:
    """Returns how the series at `place` is dashed, so that two are told apart without colours, too."""
    return _DASHES[(place + place // _HUES) % len(_DASHES)]


# Axes


@dataclass(frozen=True, slots=True)
class Ticks:
    """Values with their labels, from low to high; all lie within the axis, and no two labels are equal."""

    values: tuple[float, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` at `start` to `high` at `end`, in pixels."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Returns where a value is drawn; one beyond an end of the axis is drawn there."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> Ticks:
        """Returns at most `most` marks."""
        return ticks(self.low, self.high, most)


def find_span(values: Iterable[float], margin: float = 0.0) -> tuple[float, float]:
    """Returns the least and the largest value with that share of their distance added on each side; a little around equal ones, 0 to 1 without any."""
    known = list(values)
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    least = _LEAST * max(abs(low), abs(high))
    if high - low <= least:
        around = max(abs(low) * 1e-3, least * 10) or 1.0
        return low - around, high + around
    around = margin * (high - low)
    return low - around, high + around


def ticks(low: float, high: float, most: int = 6) -> Ticks:
    """Returns at most `most` (2 or more) round values within `low` to `high`."""
    step = next(step for step in _steps(high - low) if _last(high, step) - _first(low, step) < most)
    values = [number * step for number in range(_first(low, step), _last(high, step) + 1)]
    return Ticks(tuple(values), label_ticks(values, step))


def _steps(width: float) -> Iterator[float]:
    """Yields round distances for an axis of that width, the shortest first."""
    power = math.floor(math.log10(width)) - 2
    return (factor * 10.0**further for further in count(power) for factor in (1.0, 2.0, 5.0))


def _first(low: float, step: float) -> int:
    return math.ceil(low / step - 1e-9)


def _last(high: float, step: float) -> int:
    return math.floor(high / step + 1e-9)


def label_ticks(values: Sequence[float], step: float) -> tuple[str, ...]:
    """Formats multiples of `step` with as many decimals as tell them apart."""
    largest = max((abs(value) for value in values), default=0.0)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if largest >= _HUGE or (0.0 < largest < _TINY):
        digits = max(0, math.floor(math.log10(largest)) - math.floor(math.log10(step) + 1e-9))
        return tuple("0" if value == 0.0 else f"{value:.{digits}e}" for value in values)
    return tuple(f"{value if round(value, decimals) else 0.0:,.{decimals}f}" for value in values)


_Drawn = Sequence[tuple[Series, tuple[Spot, ...]]]


def find_spots(series: Series) -> tuple[Spot, ...]:
    """Returns the points whose place and height are finite. A limit that is not finite is left out: the band has no width there."""
    spots = []
    for place, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        if y is not None and _is_finite(x) and _is_finite(y):
            low, high = (limits[place] if limits is not None else y for limits in (series.low, series.high))
            low, high = (limit if _is_finite(limit) else y for limit in (low, high))
            spots.append(Spot(float(x), float(y), float(low), float(high), place))
    return tuple(spots)


def _is_finite(value: float) -> bool:
    return abs(value) < _LARGEST


def _vertical_axis(drawn: _Drawn, references: Sequence[Reference], height: int) -> Scale:
    """Returns the axis of a chart without a legend."""
    heights = [value for _, spots in drawn for spot in spots for value in (spot.low, spot.high)]
    near = [each for each in references if not is_far(each.value, heights)]
    limits = [limit for each in near for limit in (each.value, each.low, each.high) if limit is not None]
    low, high = find_span([*heights, *limits], _MARGIN)
    return Scale(low, high, height - _BELOW, 2 * _ROW)


def _horizontal_axis(drawn: _Drawn, up: Scale, width: int) -> Scale:
    """Returns the axis that begins beside the labels of the vertical one."""
    spent = {spot.x for _, spots in drawn for spot in spots}
    # Of one moment alone, the axis begins where the campaign did.
    low, high = find_span(spent | {0.0, max(spent) or 1.0} if len(spent) == 1 else spent)
    return Scale(low, high, 14 + _DIGIT * max(map(len, up.ticks(_vertical_ticks(up)).labels), default=1), width - 12)


def _vertical_ticks(up: Scale) -> int:
    return max(3, int(abs(up.start - up.end) / 36))


def is_far(value: float, heights: Sequence[float]) -> bool:
    """Returns true for a value so far from the points that it would press them flat; nothing is far where all points are equal, or there are none."""
    if not heights or min(heights) == max(heights):
        return False
    far = _FAR * (max(heights) - min(heights))
    return not min(heights) - far <= value <= max(heights) + far


@dataclass(frozen=True, slots=True)
class Paper:
    """The two axes of one chart, and the two marks that everything is made of. A colour is named by its purpose, in the attribute and in the class."""

    across: Scale
    up: Scale
    width: float
    height: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Returns where a point is drawn."""
        return self.across.place(x), self.up.place(y)

    def text(self, text: str, x: float, y: float, *, ink: str = "faint", anchor: str | None = None) -> str:
        """Returns a line of text, its baseline at `y`."""
        return element("text", escape_text(text), x=x, y=y, fill=_paint(ink), class_=f"f-{ink}", text_anchor=anchor)

    def rule(
        self, ends: tuple[float, float, float, float], ink: str, dash: str | None = None, thick: float | None = None
    ) -> str:
        """Returns a straight line."""
        x1, y1, x2, y2 = ends
        place = {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke_width": thick}
        return element("line", **place, stroke=_paint(ink), class_=f"s-{ink}", stroke_dasharray=dash)


# Legend


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A name with the line or point that stands for it, and where it stands; the first row is 0."""

    name: str
    ink: str
    dash: str | None = None
    thick: float | None = None
    marks: bool = False
    x: float = 8.0
    row: int = 0


def _legend_entries(series: Sequence[Series]) -> list[LegendEntry]:
    """Returns one entry for each series; a single one needs none."""
    if len(series) < 2:
        return []
    return [LegendEntry(each.name, _line_ink(place), _dash(place), 2, each.marks) for place, each in enumerate(series)]


def _place_legend(entries: Sequence[LegendEntry], width: float) -> list[LegendEntry]:
    """Places entries row by row; a name is cut to the width of the chart."""
    placed: list[LegendEntry] = []
    x, row = 8.0, 0
    most = int((width - 16 - _SWATCH) / _LETTER)
    for each in entries:
        name = _cut(each.name, most)
        wide = _SWATCH + 6 + _LETTER * len(name)
        if x > 8.0 and x + wide > width:
            x, row = 8.0, row + 1
        placed.append(LegendEntry(name, each.ink, each.dash, each.thick, each.marks, x, row))
        x += wide + _GAP
    return placed


def _draw_legend_entry(entry: LegendEntry, paper: Paper) -> str:
    y = _ROW * (2 + entry.row)
    if entry.marks:
        sign = _draw_dot(entry.x + _SWATCH / 2, y - 4, entry.ink, "")
    else:
        sign = paper.rule((entry.x, y - 4, entry.x + _SWATCH, y - 4), entry.ink, entry.dash, entry.thick)
    return sign + paper.text(entry.name, entry.x + _SWATCH + 6, y, ink="text")


# Marks


def _summarize(drawn: _Drawn, figure: ChartFigure) -> str:
    """Describes where each line ends, for readers who cannot see the picture."""
    ends = [f"{each.name}: {spots[-1].y:.10g} at {spots[-1].x:,.10g}" for each, spots in drawn if spots]
    return f"{figure.y} against {figure.x}. {'; '.join(ends) or 'nothing to show yet'}"


def _draw_axes(paper: Paper, x: str, y: str) -> str:
    left, right, bottom, top = paper.across.start, paper.across.end, paper.up.start, paper.up.end
    heights = paper.up.ticks(_vertical_ticks(paper.up))
    parts = [paper.text(y, 8, _ROW, ink="text"), paper.text(x, right, paper.height - 4, ink="text", anchor="end")]
    for value, label in zip(heights.values, heights.labels, strict=True):
        at = paper.up.place(value)
        parts += [paper.rule((left, at, right, at), "grid"), paper.text(label, left - 6, at + 4, anchor="end")]
    places = paper.across.ticks(max(3, int((right - left) / 80)))
    for value, label in zip(places.values, places.labels, strict=True):
        at = paper.across.place(value)
        anchor = "end" if at + _DIGIT * len(label) / 2 > paper.width else "middle"
        parts += [
            paper.rule((at, bottom, at, bottom + 4), "faint"),
            paper.text(label, min(at, paper.width - 2), bottom + _ROW, anchor=anchor),
        ]
    axes = [paper.rule((left, bottom, right, bottom), "faint"), paper.rule((left, top, left, bottom), "grid")]
    return "".join([*parts, *axes])


def _draw_reference(source: Reference, paper: Paper) -> str:
    """Draws a line across the chart with the band of its limits; nothing where it lies beyond the chart."""
    if not paper.up.low <= source.value <= paper.up.high:
        return ""
    left, right, at = paper.across.start, paper.across.end, paper.up.place(source.value)
    line = paper.rule((left, at, right, at), "level", _REFERENCE_DASH)
    if source.low is None or source.high is None:
        return line
    top, bottom = paper.up.place(source.high), paper.up.place(source.low)
    size = {"x": left, "y": top, "width": right - left, "height": max(bottom - top, 0.0)}
    return line + element("rect", **size, fill=_paint("level"), class_="f-level", fill_opacity=0.12)


def _name_references(references: Sequence[Reference], paper: Paper) -> str:
    """Writes the names of reference lines at their right ends, above the lines; those beyond the chart at its edge."""
    # From the lowest up, so that a name which would stand in another one moves above it, away from both lines.
    parts, below, most = [], math.inf, int((paper.across.end - paper.across.start) / _LETTER)
    for each in sorted(references, key=lambda each: each.value):
        beyond = "above: " if each.value > paper.up.high else "below: " if each.value < paper.up.low else ""
        below = min(paper.up.place(each.value) - 4, below - _NAME_ROW)
        name = escape_text(_cut(f"{beyond}{each.name}", most))
        # A rim of the paper's colour, so that the name can be read where the curve passes.
        rim: dict[str, str | float] = {"stroke": _paint("paper"), "stroke_width": 3.0, "paint_order": "stroke"}
        place: dict[str, str | float] = {"x": paper.across.end, "y": below, "text_anchor": "end"}
        parts.append(element("text", name, **place, fill=_paint("level"), class_="f-level s-paper", **rim))
    return "".join(parts)


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: max(most - 1, 1)]}…"


def _draw_band(series: Series, spots: Sequence[Spot], place: int, paper: Paper) -> str:
    if series.low is None or len(spots) < 2:
        return ""
    low = [paper.at(spot.x, spot.low) for spot in spots]
    high = [paper.at(spot.x, spot.high) for spot in spots]
    ink = _line_ink(place)
    path = band_path(low, high, step=series.step)
    return element("path", d=path, fill=_paint(ink), class_=f"f-{ink}", fill_opacity=0.16)


def _draw_line(series: Series, spots: Sequence[Spot], place: int, paper: Paper) -> str:
    ink = _line_ink(place)
    if not spots:
        return ""
    if series.marks:
        return "".join(_draw_mark(series, spot, ink, paper) for spot in spots)
    path = element(
        "path",
        d=line_path([paper.at(spot.x, spot.y) for spot in spots], step=series.step),
        fill="none",
        stroke=_paint(ink),
        class_=f"s-{ink}",
        stroke_width=2,
        stroke_linejoin="round",
        stroke_dasharray=_dash(place),
    )
    return path + ("".join(_draw_mark(series, spot, ink, paper) for spot in spots) if len(spots) <= _DOTS else "")


def _draw_mark(series: Series, spot: Spot, ink: str, paper: Paper) -> str:
    title = series.titles[spot.place] if series.titles else f"{series.name}: {spot.y:.12g} at {spot.x:,.10g}"
    dot = _draw_dot(*paper.at(spot.x, spot.y), ink, title)
    return element("a", dot, href=series.links[spot.place]) if series.links else dot


def _draw_dot(x: float, y: float, ink: str, title: str) -> str:
    words = element("title", escape_text(title)) if title else ""
    return element("circle", words, cx=x, cy=y, r=2.5, fill=_paint(ink), class_=f"f-{ink}")


def _draw_nothing(paper: Paper) -> str:
    middle = (paper.across.start + paper.across.end) / 2
    return paper.text("nothing to show yet", middle, (paper.up.start + paper.up.end) / 2, anchor="middle")


Points = Sequence[tuple[float, float]]


def line_path(points: Points, *, step: bool) -> str:
    """Returns the `d` of an open path."""
    return _join_points(thin(corners(points) if step else points))


def band_path(low: Points, high: Points, *, step: bool) -> str:
    """Returns the `d` of the closed path between two lines."""
    below, above = (thin(corners(each) if step else each) for each in (low, high))
    return f"{_join_points([*above, *reversed(below)])}Z" if above else ""


def corners(points: Points) -> Points:
    """Returns the corners of a line whose height holds until the next point."""
    found = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        found += [(x, before), (x, y)]
    return found


def thin(points: Points) -> Points:
    """Keeps of the points in one pixel's column the first, the lowest, the highest and the last, in their order: a path has few points, and all of its
    peaks."""
    if len(points) <= _DENSE:
        return points
    kept: list[tuple[float, float]] = []
    column: list[tuple[float, float]] = []
    for point in points:
        if column and int(point[0]) != int(column[0][0]):
            kept += _outline(column)
            column = []
        column.append(point)
    return [*kept, *_outline(column)]


def _outline(column: list[tuple[float, float]]) -> Points:
    heights = [y for _, y in column]
    places = {0, heights.index(min(heights)), heights.index(max(heights)), len(column) - 1}
    return [column[place] for place in sorted(places)]


def _join_points(points: Points) -> str:
    return "".join(f"{'L' if place else 'M'}{x:.1f} {y:.1f}" for place, (x, y) in enumerate(points))
