"""From values to places on the paper.

Invariant: `place` is monotone, and its range has a width, however near the values are to each other."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from evolve.drawing.ticks import Ticks, log_ticks, ticks

_LEAST = 1e-12
"""Of the size of the values, how far the ends of an axis are apart at least: nearer ones have no ticks that differ."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` at `start` to `high` at `end`, in pixels; logarithmic ones begin above 0."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value is drawn; one beyond an end of the axis is drawn there."""
        value = min(max(value, self.low), self.high)
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        share = ((math.log(value) if self.log else value) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> Ticks:
        """Its marks."""
        return (log_ticks if self.log else ticks)(self.low, self.high, most)


def span(values: Iterable[float], margin: float = 0.0) -> tuple[float, float]:
    """The least and the largest value, and on each side that share of their distance more; a little around equal ones, 0 to 1 without any."""
    found = list(values)
    if not found:
        return 0.0, 1.0
    low, high = min(found), max(found)
    least = _LEAST * max(abs(low), abs(high))
    if high - low <= least:
        around = max(abs(low) * 1e-3, least * 10) or 1.0
        return low - around, high + around
    around = margin * (high - low)
    return low - around, high + around


def log_span(values: Iterable[float]) -> tuple[float, float]:
    """The same for a logarithmic axis: from the least value above 0."""
    found = [value for value in values if value > 0.0]
    if not found:
        return 1.0, 10.0
    low, high = min(found), max(found)
    return (low, high) if high > low * 1.001 else (low / 2, high * 2)
