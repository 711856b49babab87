"""The incomplete beta function and its inverse, of which binomial sums, Student's t and exact limits of a share are all values.

Plain functions of their arguments, right to about 1e-11; what is asked for again is remembered."""

import math
from functools import lru_cache

_CLOSE = 1e-16
_TINY = 1e-300


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Returns the probability that a Beta(a, b) variable is at most `x` (I_x(a, b); the continued fraction of https://dlmf.nist.gov/8.17#v)."""
    if not 0.0 < x < 1.0:
        return float(x >= 1.0)
    # The fraction converges fast on this side of the mean alone; the other side is its mirror image.
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(1.0 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(scale) / (a * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d1 / (1 + d2 / (1 + ...)), from the front (Lentz, https://doi.org/10.1364/AO.15.000668)."""
    value, above, below, term = 1.0, 1.0, 0.0, 0
    while True:
        term += 1
        half = term // 2
        if term % 2:
            d = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            d = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        below = 1.0 / (1.0 + d * below or _TINY)
        above = 1.0 + d / above or _TINY
        value *= above * below
        if abs(above * below - 1.0) <= _CLOSE:
            return value


@lru_cache(maxsize=4096)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """Returns the `x` that a Beta(a, b) variable exceeds with one minus this probability; by halving, to the last digit."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2.0) < high:
        if incomplete_beta(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return high


def student_quantile(level: float, degrees: float) -> float:
    """Within how many standard errors of zero Student's t lies with the probability `level`. Its square over itself plus `degrees`
    is Beta(1/2, degrees / 2)."""
    share = beta_quantile(level, 0.5, degrees / 2.0)
    return math.sqrt(degrees * share / (1.0 - share))


def binomial_at_most(most: int, trials: int, probability: float) -> float:
    """Returns the probability of at most `most` successes in so many trials."""
    if not 0 <= most < trials:
        return float(most >= trials)
    return incomplete_beta(1.0 - probability, trials - most, most + 1)
