"""Intervals of medians of few noisy values, of the log ratios of pairs above all, and exact intervals and tests of counts.

A bootstrap over pairs asks what the median would be of values drawn anew from those that there are. For a median that needs no drawing: the chance of each
value to be it is known (Efron 1979, https://doi.org/10.1214/aos/1176344552). So the standard error is that of infinitely many draws, and equal values give equal answers. The limits are not the bootstrap's
percentiles, which are order statistics as well, but too narrow for few values (of seven: 88 % where 95 % was asked for): they are the order statistics of the binomial
distribution, which hold whatever the values' distribution is.

Values in, values out, no randomness; an interval contains its estimate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from evolve.statistics.beta import beta_quantile, binomial_at_most, incomplete_beta, student_quantile
from evolve.statistics.pools import PRIOR_DEGREES

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """`estimate` rests on `count` values; what it estimates lies between `low` and `high` with the probability `level`.
    `standard_error` is that of the estimate, for `Evaluation.standard_error`."""

    estimate: float
    low: float
    high: float
    count: int
    standard_error: float
    level: float = LEVEL


def log_ratios(baseline: Sequence[float], candidate: Sequence[float]) -> list[float]:
    """ln(baseline / candidate) of each pair of times: larger is faster, 0 is equal, and a speed-up of 3 % is 0.03. Raises `ValueError`
    where a time has no other side, or is not positive and finite."""
    if len(baseline) != len(candidate):
        raise ValueError(
            f"pairs have two sides, got {len(baseline)} and {len(candidate)} times. Try: time both in turns"
        )
    for time in (*baseline, *candidate):
        if not 0.0 < time < math.inf:
            raise ValueError(
                f"a time is positive and finite, got {time!r}. Try: time more work at once, or another clock"
            )
    return [math.log(first / second) for first, second in zip(baseline, candidate, strict=True)]


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Returns the median of at least two finite values, and where that of all values lies which there could be; raises `ValueError` else.

    The limits are order statistics, interpolated between two (Hettmansperger and Sheather 1986, https://doi.org/10.1016/0167-7152(86)90021-0), and assume nothing about the distribution. Where even the
    smallest and the largest value do not enclose the median often enough (fewer than 6 values at 95 %), they are those of Student's t around the mean, which assume that the values are spread about
    symmetrically. The standard error is the bootstrap's (Maritz and Jarrett 1978, https://doi.org/10.1080/01621459.1978.10480027)."""
    _check_level(level)
    if len(values) < 2 or not all(map(math.isfinite, values)):
        raise ValueError(f"an interval needs at least two finite values, got {len(values)}: {list(values[:5])}")
    ordered = sorted(map(float, values))
    count = len(ordered)
    estimate = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2.0
    low, high = _limits(ordered, level)
    return Interval(estimate, min(low, estimate), max(high, estimate), count, _error_of_median(ordered), level)


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level of an interval is between 0 and 1, got {level!r}")


def _limits(ordered: Sequence[float], level: float) -> tuple[float, float]:
    count = len(ordered)
    # Even the smallest and the largest value are too near to each other: only an assumption helps.
    if 2.0 * 0.5**count > 1.0 - level:
        mean = math.fsum(ordered) / count
        squares = math.fsum((value - mean) ** 2 for value in ordered)
        half = student_quantile(level, count - 1) * math.sqrt(squares / (count - 1) / count)
        return mean - half, mean + half
    rank, share = _ranks(count, level)
    outer, inner = ordered[rank - 1], ordered[rank]
    upper, lower = ordered[count - rank], ordered[count - rank - 1]
    return outer + share * (inner - outer), upper + share * (lower - upper)


@lru_cache(maxsize=4096)
def _ranks(count: int, level: float) -> tuple[int, float]:
    """Returns the largest rank that is far enough outside, counted from 1, and how far the limit lies from it towards the next one."""
    outside, inside = 1, count // 2 + 1
    while inside - outside > 1:
        middle = (outside + inside) // 2
        outside, inside = (middle, inside) if _share_enclosed(middle, count) >= level else (outside, middle)
    wide, narrow = _share_enclosed(outside, count), _share_enclosed(outside + 1, count)
    excess = (wide - level) / (wide - narrow)
    return outside, (count - outside) * excess / (outside + (count - 2 * outside) * excess)


def _share_enclosed(rank: int, count: int) -> float:
    """Returns how often the values of this rank from below and from above have the median between them."""
    return 1.0 - 2.0 * binomial_at_most(rank - 1, count, 0.5)


def _error_of_median(ordered: Sequence[float]) -> float:
    first, weights = _weights(len(ordered))
    near = ordered[first : first + len(weights)]
    mean = math.fsum(weight * value for weight, value in zip(weights, near, strict=True))
    return math.sqrt(math.fsum(weight * (value - mean) ** 2 for weight, value in zip(weights, near, strict=True)))


@lru_cache(maxsize=1024)
def _weights(count: int) -> tuple[int, tuple[float, ...]]:
    """Returns the chance of each value to be the median of a bootstrap, from the first on whose chance is not negligible (of an even number, the usual smooth form of it)."""
    reach, half = 4.0 * math.sqrt(count), (count + 1) / 2.0
    first, last = max(0, math.floor(count / 2.0 - reach)), min(count, math.ceil(count / 2.0 + reach))
    below = [incomplete_beta(rank / count, half, half) for rank in range(first, last + 1)]
    return first, tuple(upper - lower for lower, upper in pairwise(below))


def combine(intervals: Sequence[Interval], level: float = LEVEL) -> Interval:
    """Returns one interval of several that measured the same thing at different times; raises `ValueError` for none. Each counts by its number of values, never by its own precision, which may be luck. Where the estimates differ by more
    than their errors explain, as processes do from one start to the next, the error is larger (Birge 1932, https://doi.org/10.1103/PhysRev.40.207), shrunk as a `Pool` is."""
    if not intervals:
        raise ValueError("no intervals to combine. Try: measure at least once")
    count, degrees = sum(one.count for one in intervals), len(intervals) - 1
    estimate = math.fsum(one.count * one.estimate for one in intervals) / count
    within = math.fsum((one.count * one.standard_error) ** 2 for one in intervals) / count**2
    scatter = math.fsum(one.count * (one.estimate - estimate) ** 2 for one in intervals) / count
    variance = max(within, (PRIOR_DEGREES * within + scatter) / (PRIOR_DEGREES + degrees))
    half = student_quantile(level, PRIOR_DEGREES + degrees) * math.sqrt(variance)
    return Interval(estimate, estimate - half, estimate + half, count, math.sqrt(variance), level)


def zero_floor(estimates: Sequence[float], level: float = LEVEL) -> float:
    """Returns how far from zero one more estimate lies at most, with the probability `level`, from estimates of something whose true value is 0,
    such as the log ratios of a program that was timed against itself: what pairs cannot cancel. A gain below it is none. Raises `ValueError` for fewer than two."""
    count = len(estimates)
    if count < 2:
        raise ValueError(f"a floor needs at least two runs of a program against itself, got {count}")
    return student_quantile(level, count) * math.sqrt(math.fsum(one**2 for one in estimates) / count)


def clopper_pearson(successes: int, trials: int, level: float = LEVEL) -> Interval:
    """Returns the share of successes and its exact interval, which encloses the truth at least as often as it says (Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404).
    Raises `ValueError` for counts that cannot be."""
    if not (0 <= successes <= trials and trials > 0):
        raise ValueError(f"successes are between 0 and the number of trials, got {successes} of {trials}")
    _check_level(level)
    tail, failures = (1.0 - level) / 2.0, trials - successes
    low = beta_quantile(tail, successes, failures + 1) if successes else 0.0
    high = beta_quantile(1.0 - tail, successes + 1, failures) if failures else 1.0
    share = successes / trials
    return Interval(share, low, high, trials, math.sqrt(share * (1.0 - share) / trials), level)


def mcnemar(first_only: int, second_only: int) -> float:
    """Returns the probability of such a disagreement of two equally good programs that answered the same questions, from how many
    only the one and only the other had right (McNemar 1947, https://doi.org/10.1007/BF02295996, exact). Raises `ValueError` for a negative count."""
    if min(first_only, second_only) < 0:
        raise ValueError(f"counts are not negative, got {first_only} and {second_only}")
    trials = first_only + second_only
    return min(1.0, 2.0 * binomial_at_most(min(first_only, second_only), trials, 0.5))
