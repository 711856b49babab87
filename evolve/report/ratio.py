"""A fitness that is the logarithm of a ratio to the seed, told as that ratio, beside what the seed's ratio to itself was.

Invariant: the seed's true ratio to itself is 1, so whatever its measurements say else is noise; what is not beyond that noise is no gain."""

import math
from dataclasses import dataclass

from evolve.archive import Estimate
from evolve.campaign import Campaign
from evolve.statistics import LEVEL, PRIOR_DEGREES, zero_floor
from evolve.statistics.beta import student_quantile


@dataclass(frozen=True, slots=True)
class Ratio:
    """`factor` lies between `low` and `high` with a probability of 95 %; these are None while nothing is known of the noise. `confirmed`: it rests on measurements made after the program had won
    alone. `floor`: how far from 1, as a share, one more measurement of the seed against itself lies at most, 95 times in 100 (an A/A floor), by `seed_runs` of them; None for fewer than two."""

    factor: float
    low: float | None
    high: float | None
    confirmed: bool
    floor: float | None
    seed_runs: int

    @property
    def clears_the_floor(self) -> bool:
        """Whether it is further from 1 than the seed's own measurements."""
        return self.floor is not None and abs(math.log(self.factor)) > math.log1p(self.floor)


def ratio(campaign: Campaign, estimate: Estimate, *, confirmed: bool) -> Ratio | None:
    """Of a program with this estimate; None where the task's fitness is no such logarithm."""
    fitness, runs = campaign.task.fitness, campaign.state.noise_values
    if not fitness.log_ratio:
        return None
    shown = fitness.shown(estimate.mean)
    low, high = None, None
    if estimate.standard_error is not None:
        half = student_quantile(LEVEL, PRIOR_DEGREES + estimate.count - 1) * estimate.standard_error
        low, high = _factor(shown - half), _factor(shown + half)
    floor = _factor(zero_floor(runs)) - 1.0 if len(runs) > 1 else None
    return Ratio(_factor(shown), low, high, confirmed, floor, len(runs))


def _factor(logarithm: float) -> float:
    """Of a logarithm that may be anything."""
    return math.exp(min(max(logarithm, -700.0), 700.0))
