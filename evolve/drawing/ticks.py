"""Where an axis is marked, and what stands there.

Invariant: two marks of an axis never have the same label, and a label has no digit that tells nothing."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

_HUGE = 1e9
_TINY = 1e-4


@dataclass(frozen=True, slots=True)
class Ticks:
    """Values with their labels, from low to high; all lie within the axis."""

    values: tuple[float, ...]
    labels: tuple[str, ...]


def ticks(low: float, high: float, most: int = 6) -> Ticks:
    """At most `most` (2 or more) round values within `low` to `high`, which differ."""
    step = next(step for step in _steps(high - low) if _last(high, step) - _first(low, step) < most)
    values = [number * step for number in range(_first(low, step), _last(high, step) + 1)]
    return Ticks(tuple(values), labels(values, step))


def _steps(width: float) -> Iterator[float]:
    """Round distances for an axis of that width, the shortest first."""
    power = math.floor(math.log10(width)) - 2
    return (factor * 10.0**further for further in count(power) for factor in (1.0, 2.0, 5.0))


def _first(low: float, step: float) -> int:
    return math.ceil(low / step - 1e-9)


def _last(high: float, step: float) -> int:
    return math.floor(high / step + 1e-9)


def log_ticks(low: float, high: float, most: int = 6) -> Ticks:
    """The same on a logarithmic axis; `low` is more than 0. Powers of ten, and between them others where there is room."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for factors in ((1, 2, 5), (1, 3), (1,)):
        values = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
        values = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(values) <= most:
            break
    if len(values) < 2:
        return ticks(low, high, most)
    values = values[:: math.ceil(len(values) / most)]
    return Ticks(tuple(values), tuple(map(_single, values)))


def labels(values: Sequence[float], step: float) -> tuple[str, ...]:
    """Values that are multiples of `step`, with as many decimals as tell them apart."""
    largest = max((abs(value) for value in values), default=0.0)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if largest >= _HUGE or (0.0 < largest < _TINY):
        digits = max(0, math.floor(math.log10(largest)) - math.floor(math.log10(step) + 1e-9))
        return tuple("0" if value == 0.0 else f"{value:.{digits}e}" for value in values)
    return tuple(f"{value if round(value, decimals) else 0.0:,.{decimals}f}" for value in values)


def _single(value: float) -> str:
    if value >= _HUGE or value < _TINY:
        return f"{value:.0e}"
    return f"{value:,.{max(0, -math.floor(math.log10(value) + 1e-9))}f}"
