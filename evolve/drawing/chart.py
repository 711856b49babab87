"""A chart of lines: best so far against programs, bands of several campaigns, and what to compare them with.

Invariant: the same arguments give the same text; the picture can be read in black and white, by a screen reader, and in the dark."""

from collections.abc import Sequence

from evolve.drawing import legend, paths
from evolve.drawing.elements import element, escaped
from evolve.drawing.frame import DIGIT, ROW, Frame
from evolve.drawing.ink import dash, ink, line_ink
from evolve.drawing.levels import Named, named, outside
from evolve.drawing.scale import Scale, log_span, span
from evolve.drawing.series import Level, Series, Spot, spots

_DOTS = 60
"""A series of no more points has each of them marked."""
_MARGIN = 0.06
_BELOW = 2 * ROW + 4
"""Pixels below the horizontal axis."""
_ROWS = 2
"""Rows of a legend for which a chart has room."""
_Drawn = Sequence[tuple[Series, tuple[Spot, ...]]]


def chart(
    series: Sequence[Series],
    *,
    x: str = "programs",
    y: str = "fitness",
    levels: Sequence[Level] = (),
    width: int = 720,
    height: int = 320,
    log_x: bool = False,
) -> str:
    """A chart as one `<svg>` element, `x` and `y` the names of its axes. It follows the variables of the page, for which `VARIABLES` is a style sheet; `alone` makes it
    a file of its own. Points that are not finite are left out; levels far beyond the points are named, and not
    drawn. It is higher than `height` where its legend needs the room. On a logarithmic axis what is not above 0 is drawn where the axis begins."""
    drawn = [(each, spots(each)) for each in series]
    up = _up(drawn, levels, height)
    placed = legend.places(legend.entries([each.name for each, _ in drawn], named(levels, up)), width)
    rows = legend.rows(placed)
    height += ROW * max(0, rows - _ROWS)
    up = Scale(up.low, up.high, height - _BELOW, up.end + ROW * rows)
    frame = Frame(_across(drawn, up, width, lettered=len(levels) > 1, log=log_x), up, width, height)
    parts = [
        element("title", escaped(_summary(drawn, x, y))),
        _grid(frame, x, y),
        *legend.drawn(placed, frame),
        *(_level(each, frame) for each in named(levels, up) if not each.beyond),
        *(_band(each, found, place, frame) for place, (each, found) in enumerate(drawn)),
        *(_line(each, found, place, frame) for place, (each, found) in enumerate(drawn)),
        "" if any(found for _, found in drawn) else _nothing(frame),
    ]
    told = {"role": "img", "aria_label": _summary(drawn, x, y), "font_family": "system-ui, sans-serif"}
    size: dict[str, str | float] = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return element(
        "svg", "".join(parts), xmlns="http://www.w3.org/2000/svg", class_="chart", **size, **told, font_size=12
    )


def _up(drawn: _Drawn, levels: Sequence[Level], height: int) -> Scale:
    """The vertical axis of a chart without a legend."""
    heights = [value for _, found in drawn for spot in found for value in (spot.low, spot.high)]
    near = [level.value for level in levels if not outside(level.value, heights)]
    low, high = span([*heights, *near], _MARGIN)
    return Scale(low, high, height - _BELOW, 2 * ROW)


def _across(drawn: _Drawn, up: Scale, width: int, *, lettered: bool, log: bool) -> Scale:
    """The horizontal axis; it begins beside the labels of the other one."""
    values = [spot.x for _, found in drawn for spot in found]
    left = 14 + DIGIT * max(map(len, up.ticks(_most(up)).labels), default=1)
    return Scale(*(log_span if log else span)(values), left, width - (24 if lettered else 12), log=log)


def _most(up: Scale) -> int:
    """How many marks a vertical axis has room for."""
    return max(3, int(abs(up.start - up.end) / 36))


def _summary(drawn: _Drawn, x: str, y: str) -> str:
    """For who cannot see the picture: where each line ends."""
    ends = [f"{each.name}: {found[-1].y:.10g} at {found[-1].x:,.10g}" for each, found in drawn if found]
    return f"{y} against {x}. {'; '.join(ends) or 'nothing to show yet'}"


def _grid(frame: Frame, x: str, y: str) -> str:
    left, right, bottom, top = frame.across.start, frame.across.end, frame.up.start, frame.up.end
    heights = frame.up.ticks(_most(frame.up))
    parts = [frame.text(y, 8, ROW, ink="text"), frame.text(x, right, frame.height - 4, ink="text", anchor="end")]
    for value, label in zip(heights.values, heights.labels, strict=True):
        at = frame.up.place(value)
        parts += [frame.rule((left, at, right, at), "grid"), frame.text(label, left - 6, at + 4, anchor="end")]
    places = frame.across.ticks(max(3, int((right - left) / 80)))
    for value, label in zip(places.values, places.labels, strict=True):
        at = frame.across.place(value)
        anchor = "end" if at + DIGIT * len(label) / 2 > frame.width else "middle"
        parts += [
            frame.rule((at, bottom, at, bottom + 4), "faint"),
            frame.text(label, min(at, frame.width - 2), bottom + ROW, anchor=anchor),
        ]
    axes = [frame.rule((left, bottom, right, bottom), "faint"), frame.rule((left, top, left, bottom), "grid")]
    return "".join([*parts, *axes])


def _level(level: Named, frame: Frame) -> str:
    left, right = frame.across.start, frame.across.end
    rule = frame.rule((left, level.line, right, level.line), "level", legend.LEVEL_DASH)
    return rule + (frame.text(level.letter, right + 6, level.text + 4, ink="level") if level.letter else "")


def _band(series: Series, found: tuple[Spot, ...], place: int, frame: Frame) -> str:
    if series.low is None or len(found) < 2:
        return ""
    low = [frame.at(spot.x, spot.low) for spot in found]
    high = [frame.at(spot.x, spot.high) for spot in found]
    colour, path = line_ink(place), paths.band(low, high, step=series.step)
    return element("path", d=path, fill=ink(colour), class_=f"f-{colour}", fill_opacity=0.16)


def _line(series: Series, found: tuple[Spot, ...], place: int, frame: Frame) -> str:
    if not found:
        return ""
    colour = line_ink(place)
    path = element(
        "path",
        d=paths.line([frame.at(spot.x, spot.y) for spot in found], step=series.step),
        fill="none",
        stroke=ink(colour),
        class_=f"s-{colour}",
        stroke_width=2,
        stroke_linejoin="round",
        stroke_dasharray=dash(place),
    )
    dots = [_dot(series, spot, colour, frame) for spot in found] if len(found) <= _DOTS else []
    return path + "".join(dots)


def _dot(series: Series, spot: Spot, colour: str, frame: Frame) -> str:
    x, y = frame.at(spot.x, spot.y)
    told = element("title", escaped(f"{series.name}: {spot.y:.12g} at {spot.x:,.10g}"))
    return element("circle", told, cx=x, cy=y, r=2.5, fill=ink(colour), class_=f"f-{colour}")


def _nothing(frame: Frame) -> str:
    middle = (frame.across.start + frame.across.end) / 2
    return frame.text("nothing to show yet", middle, (frame.up.start + frame.up.end) / 2, anchor="middle")
