"""A plain picture (SVG) as PDF: shapes, lines, paths of straight lines and words, which is what pictures of results are made of.

Invariant: it is drawn as it is, or not at all: whatever this does not know how to draw makes the answer None, and never a picture that lacks something."""

import colorsys
import io
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evolve.publish.paper.settings import NO_DATES, SETTINGS

_WIDTH = 5.0
"""Inches."""
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_TRANSLATE = re.compile(r"\s*translate\(\s*([-+.\deE]+)(?:[\s,]+([-+.\deE]+))?\s*\)\s*")
_HSL = re.compile(r"hsl\(\s*([-+.\d]+)[\s,]+([-+.\d]+)%[\s,]+([-+.\d]+)%\s*\)")
_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_TOKEN = re.compile(r"[MLHVZz]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[\s,]+|(.)", re.DOTALL)
_INHERITED = {
    "fill": "#000000",
    "stroke": "none",
    "stroke-width": "1",
    "stroke-dasharray": "none",
    "fill-opacity": "1",
    "stroke-opacity": "1",
    "font-size": "16",
    "font-family": "sans-serif",
    "text-anchor": "start",
}
_PLACES = {
    "svg": {"viewBox", "width", "height", "role"},
    "g": {"transform"},
    "rect": {"x", "y", "width", "height"},
    "circle": {"cx", "cy", "r"},
    "line": {"x1", "y1", "x2", "y2"},
    "polygon": {"points"},
    "polyline": {"points"},
    "path": {"d"},
    "text": {"x", "y"},
    "title": set[str](),
    "desc": set[str](),
}
"""What is drawn, with the attributes that place it."""
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


class _Unknown(Exception):
    """Something in a picture that is not drawn here."""


@dataclass(frozen=True, slots=True)
class _Pen:
    """Where drawing happens, moved by `x` and `y`; `style` is what elements inherit, `scale` points of the page in a unit."""

    axes: Any
    x: float
    y: float
    style: Mapping[str, str]
    scale: float

    def number(self, name: str) -> float:
        """An inherited number."""
        return _number(self.style[name])

    def lines(self) -> dict[str, Any]:
        """How shapes are filled and outlined."""
        dashes = self.style["stroke-dasharray"]
        width = self.number("stroke-width") * self.scale
        style: Any = "solid"
        if dashes != "none" and width:
            style = (0.0, [float(part) * self.scale / width for part in re.split(r"[\s,]+", dashes.strip())])
        return {
            "facecolor": _colour(self.style["fill"], self.number("fill-opacity")),
            "edgecolor": _colour(self.style["stroke"], self.number("stroke-opacity")),
            "linewidth": width if self.style["stroke"] != "none" else 0.0,
            "linestyle": style,
        }


def pdf(picture: str) -> bytes | None:
    """The picture as PDF; None where it holds anything else than is drawn here."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    try:
        root = ElementTree.fromstring(picture)
        left, top, width, height = (float(part) for part in root.attrib["viewBox"].split())
        if not (0 < width < 1e6 and 0 < height < 20 * width):
            return None
        with mpl.rc_context(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mpl.rcdefaults()
            mpl.rcParams.update(SETTINGS)
            page = Figure(figsize=(_WIDTH, _WIDTH * height / width))
            axes: Any = page.add_axes((0.0, 0.0, 1.0, 1.0), frameon=False, xticks=[], yticks=[])
            axes.set_xlim(left, left + width)
            axes.set_ylim(top + height, top)
            _draw(_Pen(axes, 0.0, 0.0, _INHERITED, 72.0 * _WIDTH / width), root)
            out = io.BytesIO()
            page.savefig(out, format="pdf", metadata=NO_DATES["pdf"])
        return out.getvalue()
    except (_Unknown, ValueError, KeyError, ElementTree.ParseError):
        return None


def _draw(pen: _Pen, element: ElementTree.Element) -> None:
    """An element and what is in it; raises `_Unknown`."""
    name = element.tag.removeprefix(_NAMESPACE)
    if name not in _PLACES or not element.attrib.keys() <= _PLACES[name] | _INHERITED.keys():
        raise _Unknown(name)
    style = {**pen.style, **{key: value for key, value in element.attrib.items() if key in _INHERITED}}
    x, y = _moved(element.attrib.get("transform", "translate(0)"))
    inner = _Pen(pen.axes, pen.x + x, pen.y + y, style, pen.scale)
    if name in ("svg", "g"):
        for child in element:
            _draw(inner, child)
    elif name not in ("title", "desc"):
        _SHAPES[name](inner, element)


def _moved(transform: str) -> tuple[float, float]:
    found = _TRANSLATE.fullmatch(transform)
    if found is None:
        raise _Unknown(transform)
    return float(found[1]), float(found[2] or 0)


def _rect(pen: _Pen, element: ElementTree.Element) -> None:
    x, y, width, height = (_number(element.get(name, "0")) for name in ("x", "y", "width", "height"))
    _polygon(pen, [(x, y), (x + width, y), (x + width, y + height), (x, y + height)])


def _circle(pen: _Pen, element: ElementTree.Element) -> None:
    from matplotlib.patches import Circle

    x, y, radius = (_number(element.get(name, "0")) for name in ("cx", "cy", "r"))
    pen.axes.add_patch(Circle((pen.x + x, pen.y + y), radius, **pen.lines()))


def _line(pen: _Pen, element: ElementTree.Element) -> None:
    x, y, u, v = (_number(element.get(name, "0")) for name in ("x1", "y1", "x2", "y2"))
    _polygon(pen, [(x, y), (u, v)], closed=False)


def _points(pen: _Pen, element: ElementTree.Element) -> None:
    numbers = [_number(part) for part in re.split(r"[\s,]+", element.get("points", "").strip()) if part]
    if len(numbers) < 2 or len(numbers) % 2:
        raise _Unknown("points")
    _polygon(pen, list(zip(numbers[::2], numbers[1::2], strict=True)), closed=element.tag.endswith("polygon"))


def _path(pen: _Pen, element: ElementTree.Element) -> None:
    """Straight lines between absolute points."""
    for points, closed in _strokes(element.get("d", "")):
        _polygon(pen, points, closed=closed)


def _strokes(text: str) -> Iterator[tuple[list[tuple[float, float]], bool]]:
    if "M" not in text or text.count("M") > 1:  # holes of a path are filled by another rule
        raise _Unknown("path")
    tokens = [found[0] for found in _TOKEN.finditer(text) if not found[1] and found[0].strip(" ,\t\n")]
    if any(found[1] for found in _TOKEN.finditer(text)):
        raise _Unknown("path")
    points: list[tuple[float, float]] = []
    command, at = "", 0
    while at < len(tokens):
        if tokens[at].isalpha():
            command, at = tokens[at], at + 1
            if command in "Zz":
                yield points, True
                return
            continue
        at = _step(command, tokens, at, points)
    yield points, False


def _step(command: str, tokens: list[str], at: int, points: list[tuple[float, float]]) -> int:
    """Adds the next point; the place of the next token."""
    if command in ("M", "L") and at + 1 < len(tokens):
        points.append((_number(tokens[at]), _number(tokens[at + 1])))
        return at + 2
    if command in ("H", "V") and points:
        value = _number(tokens[at])
        points.append((value, points[-1][1]) if command == "H" else (points[-1][0], value))
        return at + 1
    raise _Unknown("path")


def _polygon(pen: _Pen, points: list[tuple[float, float]], *, closed: bool = True) -> None:
    from matplotlib.patches import Polygon

    pen.axes.add_patch(Polygon([(pen.x + x, pen.y + y) for x, y in points], closed=closed, **pen.lines()))


def _text(pen: _Pen, element: ElementTree.Element) -> None:
    if len(element):
        raise _Unknown("tspan")
    pen.axes.text(
        pen.x + _number(element.get("x", "0")),
        pen.y + _number(element.get("y", "0")),
        " ".join((element.text or "").split()),
        fontsize=pen.number("font-size") * pen.scale,
        color=_colour(pen.style["fill"], pen.number("fill-opacity")),
        ha=_ANCHORS[pen.style["text-anchor"]],
        va="baseline",
    )


_SHAPES: Mapping[str, Callable[[_Pen, ElementTree.Element], None]] = {
    "rect": _rect,
    "circle": _circle,
    "line": _line,
    "polygon": _points,
    "polyline": _points,
    "path": _path,
    "text": _text,
}


def _colour(text: str, opacity: float) -> Any:
    if text == "none":
        return "none"
    if hsl := _HSL.fullmatch(text):
        hue, saturation, lightness = float(hsl[1]) % 360 / 360, float(hsl[2]) / 100, float(hsl[3]) / 100
        return (*colorsys.hls_to_rgb(hue, lightness, saturation), opacity)
    if not _HEX.fullmatch(text):
        raise _Unknown(text)
    step = 1 if len(text) == 4 else 2
    parts = [text[start : start + step] * (3 - step) for start in range(1, len(text), step)]
    return (*(int(part, 16) / 255 for part in parts), opacity)


def _number(text: str) -> float:
    value = float(text)
    if not abs(value) < 1e6:
        raise _Unknown(text)
    return value
