"""Measurements of one thing in one pool: their mean and how sure it is.

Values in, values out; nothing here knows what was measured. Figures are in the unit of the measured value."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# How many deviations the noise floor counts for beside a pool's own: it usually rests on five measurements of the seed.
PRIOR_DEGREES = 4


@dataclass(frozen=True, slots=True)
class Pool:
    """Measurements of one thing, merged one by one (Welford, https://doi.org/10.1080/00401706.1962.10490022). `squares` is the
    sum of squared deviations from the mean; `within` the mean of the squared standard errors that came with the values."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    within: float = 0.0

    def add(self, value: float, standard_error: float | None = None) -> "Pool":
        """Returns the pool with one more measurement."""
        return self.merge(Pool(1, value, 0.0, (standard_error or 0.0) ** 2))

    def merge(self, other: "Pool") -> "Pool":
        """Returns both pools as one; the order makes no difference but for rounding."""
        count = self.count + other.count
        if count == 0:
            return self
        share = other.count / count
        distance = other.mean - self.mean
        return Pool(
            count,
            self.mean + distance * share,
            self.squares + other.squares + distance * distance * share * self.count,
            self.within + (other.within - self.within) * share,
        )

    def standard_error(self, noise: float | None) -> float | None:
        """Returns the standard error of the mean. The variance of one measurement is that of the pool, shrunk towards the larger of
        `noise` (one standard deviation, from elsewhere) and what the measurements said of themselves: two values that agree
        by luck are no proof of precision. None when nothing is known: no noise given, nothing said, fewer than two values."""
        if self.count == 0 or (noise is None and self.within == 0.0 and self.count < 2):
            return None
        prior = max((noise or 0.0) ** 2, self.within)
        # Two values that agree by luck are no proof of precision.
        degrees = PRIOR_DEGREES if prior > 0.0 else 0
        own = self.count - 1
        variance = (prior * degrees + self.squares) / (degrees + own) if degrees + own else 0.0
        return math.sqrt(variance / self.count)


def pool_values(values: Sequence[float]) -> Pool:
    """Returns all of `values` in one pool."""
    pool = Pool()
    for value in values:
        pool = pool.add(value)
    return pool


def noise_floor(values: Sequence[float]) -> float:
    """Returns one standard deviation of a single measurement, from repeated measurements of one program; raises `ValueError` for
    fewer than two."""
    if len(values) < 2:
        raise ValueError(f"a noise floor needs at least two measurements of one program, got {len(values)}")
    pool = pool_values(values)
    return math.sqrt(pool.squares / (pool.count - 1))


def error_of_difference(first: float, second: float) -> float:
    """Returns the standard error of the difference of two independent means with these standard errors."""
    return math.hypot(first, second)
