"""Exact limits of a share and the exact test of disagreements, which need no assumption about a distribution."""

import math

from evolve.statistics.beta import beta_quantile, binomial_at_most
from evolve.statistics.intervals import LEVEL, Interval


def clopper_pearson(successes: int, trials: int, level: float = LEVEL) -> Interval:
    """Returns the share of successes and its exact interval, which encloses the truth at least as often as it says (Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404).
    Raises `ValueError` for counts that cannot be."""
    if not (0 <= successes <= trials and trials > 0):
        raise ValueError(f"successes are between 0 and the number of trials, got {successes} of {trials}")
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level of an interval is between 0 and 1, got {level!r}")
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
