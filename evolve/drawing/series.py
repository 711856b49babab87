"""What a chart shows: series of points, and levels to compare them with.

Invariant: a series has as many heights as places, and so have its limits."""

from collections.abc import Sequence
from dataclasses import dataclass

_LARGEST = 1e150
"""Larger numbers are as good as infinite: their distances could not be computed."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points from left to right. `low` and `high` are the limits of a band around `y`; `step`: a value holds until the next one."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    step: bool = False

    def __post_init__(self) -> None:
        lengths = {len(values) for values in (self.x, self.y, self.low, self.high) if values is not None}
        if len(lengths) > 1 or (self.low is None) != (self.high is None):
            raise ValueError(
                f"series {self.name!r} has columns of lengths {sorted(lengths)}: give one of each for each point"
            )


@dataclass(frozen=True, slots=True)
class Level:
    """A value with a name, drawn across the chart."""

    value: float
    name: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A point that can be drawn; `low` and `high` are `y` where there is no band."""

    x: float
    y: float
    low: float
    high: float


def spots(series: Series) -> tuple[Spot, ...]:
    """The points whose place and height are finite. A limit that is not is left out: the band has no width there."""
    low, high = series.low or series.y, series.high or series.y
    found = zip(series.x, series.y, low, high, strict=True)
    return tuple(
        Spot(float(x), float(y), *(float(limit) if _drawable(limit) else float(y) for limit in (below, above)))
        for x, y, below, above in found
        if _drawable(x) and _drawable(y)
    )


def _drawable(value: float) -> bool:
    return abs(value) < _LARGEST
