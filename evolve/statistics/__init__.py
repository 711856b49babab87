"""Statistics of noisy measurements: pools of noisy values, intervals of medians, races, and exact tests. docs/concepts.md explains them.

Plain numbers in, values out; nothing here knows what was measured, draws numbers that nobody could draw again, or needs a library."""

from evolve.statistics.beta import student_quantile
from evolve.statistics.intervals import (
    LEVEL,
    Interval,
    clopper_pearson,
    combine,
    log_ratios,
    mcnemar,
    median_interval,
    zero_floor,
)
from evolve.statistics.pools import PRIOR_DEGREES, Pool, error_of_difference, noise_floor, pool_values
from evolve.statistics.racing import Finding, Race

__all__ = [
    "student_quantile",
    "LEVEL",
    "PRIOR_DEGREES",
    "Finding",
    "Interval",
    "Pool",
    "Race",
    "clopper_pearson",
    "combine",
    "error_of_difference",
    "log_ratios",
    "mcnemar",
    "median_interval",
    "noise_floor",
    "pool_values",
    "zero_floor",
]
