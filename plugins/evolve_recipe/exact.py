"""Exact statements about counts of right answers.

Invariant: pure; nothing is approximated by a normal distribution."""

import math
from collections.abc import Callable


def clopper_pearson(hits: int, count: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of Clopper and Pearson (1934, https://doi.org/10.1093/biomet/26.4.404) for a share of which `hits` of `count` were seen: its
    coverage is at least `level`, whatever the share is."""
    tail = (1.0 - level) / 2.0
    low = 0.0 if hits == 0 else _solved(lambda share: _at_most(count - hits, count, 1.0 - share) - tail)
    high = 1.0 if hits == count else _solved(lambda share: tail - _at_most(hits, count, share))
    return low, high


def mcnemar(better: int, worse: int) -> float:
    """The two-sided exact p-value of McNemar's test (1947, https://doi.org/10.1007/BF02295996): how likely equal recipes differ as much, where
    one alone is right on `better` rows and the other alone on `worse`."""
    count = better + worse
    return 1.0 if count == 0 else min(1.0, 2.0 * _at_most(min(better, worse), count, 0.5))


def _at_most(hits: int, count: int, share: float) -> float:
    """How likely a binomial count is `hits` at most."""
    if share <= 0.0 or hits >= count:
        return 1.0
    if share >= 1.0:
        return 0.0
    log, other = math.log(share), math.log1p(-share)
    whole = math.lgamma(count + 1)
    terms = (
        whole - math.lgamma(number + 1) - math.lgamma(count - number + 1) + number * log + (count - number) * other
        for number in range(hits + 1)
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def _solved(rising: Callable[[float], float]) -> float:
    """Where a function that rises from below 0 to above it in [0, 1] is 0."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > 0.0 else (middle, high)
    return (low + high) / 2.0
