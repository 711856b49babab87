"""Bootstrap: intervals of a figure of few independent values, by drawing as many of them anew, again and again (Efron 1979, https://doi.org/10.1214/aos/1176344552).

The middle of a few runs is their interquartile mean: the mean of the half in the middle, which one lucky or failed run does not move, and which wastes less than a median (Agarwal et al. 2021,
arXiv:2108.13264). Limits are percentiles of what the draws came to. Of few values these lie too near to each other; they are taken further outside, as far as Student's t lies outside of the normal
distribution (Hesterberg 2015, arXiv:1411.5279, section 5.3). Limits that correct for bias (BCa) need a figure for each value left out, which there is none of where a run failed; percentiles are order
statistics, and hold where a value is infinite.

All chance comes from the generator that is given; an infinite value makes limits infinite, and never NaN."""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from evolve.statistics import LEVEL, Interval, student_quantile

Reals = npt.NDArray[np.float64]
Statistic = Callable[[Reals], Reals]
"""From values along the last axis to one figure for each row."""
DRAWS = 5_000


def interquartile_mean(values: Reals) -> Reals:
    """Returns the mean of the half in the middle, along the last axis; a value that lies on the border of that half counts by its part within. Where both infinities are in the
    middle it is 0."""
    weights = _weights(values.shape[-1])
    middle = weights > 0.0
    with np.errstate(invalid="ignore"):
        found: Reals = np.sum(np.sort(values, axis=-1)[..., middle] * weights[middle], axis=-1)
    return np.where(np.isnan(found), 0.0, found)


def _weights(count: int) -> Reals:
    """Returns the weights of so many ordered values; 1 together."""
    if count == 0:
        raise ValueError("there is no mean of no values. Try: give at least one")
    edges = np.clip(np.arange(count + 1) / count, 0.25, 0.75)
    return np.asarray(2.0 * np.diff(edges), np.float64)


def draw_places(count: int, rng: np.random.Generator, draws: int = DRAWS) -> npt.NDArray[np.int64]:
    """Places of `count` values drawn with replacement, a row for each draw."""
    return rng.integers(count, size=(draws, count))


def bootstrap(
    values: Sequence[float],
    rng: np.random.Generator,
    statistic: Statistic = interquartile_mean,
    level: float = LEVEL,
) -> Interval:
    """Returns a figure of independent values and where it lies; raises `ValueError` for fewer than two values, and for NaN."""
    given = _check(values)
    return _interval(statistic(given), statistic(given[draw_places(len(given), rng)]), len(given), level)


def bootstrap_difference(
    first: Sequence[float],
    second: Sequence[float],
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Interval:
    """Returns the interquartile mean of `first` minus that of `second`, which have nothing to do with each other; raises `ValueError` as `bootstrap` does. `count` is that of
    the smaller one."""
    one, other = _check(first), _check(second)
    ones = interquartile_mean(one[draw_places(len(one), rng)])
    others = interquartile_mean(other[draw_places(len(other), rng)])
    estimate = _minus(interquartile_mean(one), interquartile_mean(other))
    return _interval(estimate, _minus(ones, others), min(len(one), len(other)), level)


def _minus(first: Reals, second: Reals) -> Reals:
    """Returns the difference; two equal infinities do not differ."""
    with np.errstate(invalid="ignore"):
        found = np.subtract(first, second)
    return np.where(np.isnan(found), 0.0, found)


def _check(values: Sequence[float]) -> Reals:
    given = np.asarray(values, np.float64)
    if len(given) < 2 or bool(np.isnan(given).any()):
        raise ValueError(f"an interval needs at least two numbers, got {len(given)}: {list(values[:5])}")
    return given


def _interval(estimate: Reals, estimates: Reals, count: int, level: float) -> Interval:
    low, high = limits(np.sort(estimates), count, level)
    middle = float(estimate)
    finite = bool(np.isfinite(estimates).all())
    error = float(np.std(estimates)) if finite else math.inf
    return Interval(middle, min(float(low), middle), max(float(high), middle), count, error, level)


def limits(estimates: Reals, count: int, level: float = LEVEL) -> tuple[Reals, Reals]:
    """Returns the percentiles of draws, which are ordered along the first axis, that enclose what is estimated from `count` values."""
    draws = len(estimates)
    outside = int(tail(count, level) * draws)
    return estimates[outside], estimates[draws - 1 - outside]


def tail(count: int, level: float = LEVEL) -> float:
    """Returns the share of the draws beyond each limit, so that intervals of few values are as wide as Student's."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level of an interval is between 0 and 1, got {level!r}")
    wide = student_quantile(level, count - 1) * math.sqrt(count / (count - 1))
    return 1.0 - NormalDist().cdf(wide)
