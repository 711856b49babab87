"""Statistics of noisy measurements: pools of noisy values, intervals of medians, races, and exact tests. docs/concepts.md explains them.

Plain numbers in, values out; nothing here knows what was measured, draws numbers that nobody could draw again, or needs a library.
`bootstrap`, which is imported by its own name, needs numpy."""

from evolve.statistics.beta import student_quantile
from evolve.statistics.exact import clopper_pearson, mcnemar, sign_flip, tie
from evolve.statistics.intervals import LEVEL, Interval, aa_floor, combined, log_ratios, median_interval, zero_floor
from evolve.statistics.pools import PRIOR_DEGREES, Pool, error_of_difference, noise_floor, pooled
from evolve.statistics.racing import Finding, Race

__all__ = [
    "student_quantile",
    "LEVEL",
    "PRIOR_DEGREES",
    "Finding",
    "Interval",
    "Pool",
    "Race",
    "aa_floor",
    "clopper_pearson",
    "combined",
    "error_of_difference",
    "log_ratios",
    "mcnemar",
    "median_interval",
    "noise_floor",
    "pooled",
    "sign_flip",
    "tie",
    "zero_floor",
]
