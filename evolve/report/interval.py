"""Between which limits a best program's fitness lies.

Invariant: no limits without a standard error, and none where the value was proven."""

from dataclasses import dataclass

from evolve.report.best import Best
from evolve.statistics import LEVEL, PRIOR_DEGREES
from evolve.statistics.beta import student_quantile


@dataclass(frozen=True, slots=True)
class Limits:
    """The fitness lies between `low` and `high` with a probability of `level`, as far as the measurements are independent."""

    low: float
    high: float
    level: float


def limits(best: Best) -> Limits | None:
    """Of what is reported of a best program; None where nothing is known of the noise, or there is none."""
    if best.certified or not best.standard_error:
        return None
    half = student_quantile(LEVEL, PRIOR_DEGREES + best.measurements - 1) * best.standard_error
    return Limits(best.fitness - half, best.fitness + half, LEVEL)
