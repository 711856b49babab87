"""Races of a candidate against a baseline: as many pairs as a decision needs and no more.

Whoever looks at an interval after every pair and stops when it excludes zero finds a difference where there is none, one day. So a race looks rarely (after 4, 6, 9, 13, 19, 28 and 40
pairs), and the chance to err is spent on the looks in parts that add up to `ERROR` (alpha spending, Lan and DeMets 1983, https://doi.org/10.1093/biomet/70.3.659): the interval of each look is as wide as its part demands.
That all of them contain the truth has at least the probability 1 - `ERROR`, however the looks depend on each other.

A verdict, once there is one, does not change."""

import math
from collections.abc import Sequence
from typing import Literal

from evolve.statistics.intervals import median_interval

Finding = Literal["better", "worse", "equal", "open"]
ERROR = 0.02
_GROWTH = 1.5


class Race:
    """Takes log ratios (larger is better) until the interval of their median decides, or there are `most`. The candidate is *better* when all of the
    interval lies above `floor`, *worse* when all of it lies below minus `floor`, *equal* when all of it lies between the two; else the race is *open*. The
    probability of any wrong verdict is `ERROR`. For single-threaded use."""

    def __init__(self, first: int = 4, most: int = 40, floor: float = 0.0) -> None:
        if not (2 <= first <= most and 0.0 <= floor < math.inf):
            raise ValueError(
                f"a race looks first after at least 2 pairs and at most all, with a floor from 0 on, got {first} of {most}, and {floor!r}"
            )
        self.floor = floor
        self._looks = _looks(first, most)
        self._values: list[float] = []
        self._verdict: Finding = "open"

    @property
    def values(self) -> Sequence[float]:
        """Values that were added."""
        return tuple(self._values)

    @property
    def wanted(self) -> int:
        """Number of values before the next look; 0 when the race has ended, decided or open."""
        count = len(self._values)
        if self._verdict != "open":
            return 0
        return next((look - count for look in self._looks if look > count), 0)

    @property
    def verdict(self) -> Finding:
        """*open* as long as it is not known, and for ever where `most` values did not tell."""
        return self._verdict

    def add(self, value: float) -> None:
        """Adds a log ratio; raises `ValueError` where it is not finite, or where none is wanted."""
        if not math.isfinite(value):
            raise ValueError(f"a log ratio is finite, got {value!r}")
        if not self.wanted:
            raise ValueError(f"the race has ended after {len(self._values)} values. Try: add while `wanted` is not 0")
        self._values.append(value)
        # Between two looks nothing is decided, for each decision spends some of the error.
        if len(self._values) in self._looks:
            self._look()

    def _look(self) -> None:
        found = median_interval(self._values, 1.0 - spent_error(self._looks, len(self._values)))
        if found.low > self.floor:
            self._verdict = "better"
        elif found.high < -self.floor:
            self._verdict = "worse"
        elif self.floor and -self.floor <= found.low and found.high <= self.floor:
            self._verdict = "equal"


def spent_error(looks: Sequence[int], look: int) -> float:
    """Returns the part of `ERROR` that belongs to this look: the error that is spent by then, without the error spent by the look before."""
    place = looks.index(look)
    before = looks[place - 1] if place else 0
    return ERROR * (_share(look / looks[-1]) - _share(before / looks[-1]))


def _share(time: float) -> float:
    """Returns the error that is spent by this share of all values: more in the beginning, so that what is plain is told at once."""
    return math.log1p((math.e - 1.0) * time)


def _looks(first: int, most: int) -> tuple[int, ...]:
    looks = [first]
    while looks[-1] < most:
        looks.append(min(most, max(looks[-1] + 1, int(looks[-1] * _GROWTH))))
    return tuple(looks)
