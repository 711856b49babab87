"""The colours of a chart, by what they are for.

Invariant: in a page a chart follows the page's variables `--chart-NAME`, and is legible without any; a chart that is a file of its own knows
both a light and a dark reader."""

import re

from evolve.drawing.elements import element

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
_DASHES = (None, "7 3", "2 2", "9 3 2 3")
LINES = 8
"""How many series have a colour of their own."""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--chart-{name}:{colour};" for name, colour in colours.items())


VARIABLES = (
    f":root{{{_variables(_LIGHT)}}}@media screen and (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}}}}}"
    "svg.chart{max-width:100%;height:auto}"
)
"""A style sheet for pages that hold charts."""


_COLOUR = re.compile(r'="var\(--chart-[a-z0-9-]+, (#[0-9a-f]{6})\)"')
"""An attribute that holds an ink. In a text the quotes would be escaped."""


def ink(name: str) -> str:
    """The value of `fill` or `stroke` for one purpose."""
    return f"var(--chart-{name}, {_LIGHT[name]})"


def line_ink(place: int) -> str:
    """The colour's name of the series at `place`."""
    return f"line-{place % LINES + 1}"


def dash(place: int) -> str | None:
    """How the series at `place` is dashed, so that two are told apart without colours, too."""
    return _DASHES[(place + place // LINES) % len(_DASHES)]


def alone(chart: str) -> str:
    """A chart as a file of its own, with colours and a paper of its own."""
    rules = "".join(f".f-{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}" for name, colour in _DARK.items())
    style = element("style", f"@media screen and (prefers-color-scheme:dark){{{rules}}}")
    paper = element("rect", width="100%", height="100%", fill=_LIGHT["paper"], class_="f-paper")
    begin, bracket, rest = _COLOUR.sub(r'="\1"', chart).partition(">")
    return f"{begin}{bracket}{style}{paper}{rest}"
