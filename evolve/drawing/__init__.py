"""Charts as SVG text.

Invariant: pure; no text reaches a chart unescaped."""

from evolve.drawing.chart import chart
from evolve.drawing.elements import attributes, element, escaped
from evolve.drawing.ink import VARIABLES, alone
from evolve.drawing.levels import outside
from evolve.drawing.series import Level, Series
from evolve.drawing.ticks import Ticks, log_ticks, ticks

__all__ = [
    "VARIABLES",
    "Level",
    "Series",
    "Ticks",
    "alone",
    "attributes",
    "chart",
    "element",
    "escaped",
    "log_ticks",
    "outside",
    "ticks",
]
