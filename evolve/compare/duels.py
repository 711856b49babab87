"""One arm against another: by how much it is better, how often, and whether that can be chance.

Invariant: a failed campaign is worse than every other, and equal to another failed one; seeds that both arms have are compared with each other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np

from evolve.statistics import Interval
from evolve.statistics.beta import student_quantile
from evolve.statistics.bootstrap import bootstrap, bootstrap_difference
from evolve.statistics.ranks import holm, rank_sum, signed_rank, superiority

Verdict = Literal["better", "worse", "equal", "no difference", "too few"]
_POWER = 0.8
"""How often a difference that is called detectable would be found."""
MOST_SEEDS = 200
"""Up to so many are looked for when it is said how many would be enough."""


@dataclass(frozen=True, slots=True)
class Values:
    """The final values of an arm, larger is better, by the seeds of its campaigns."""

    name: str
    seeds: tuple[int, ...]
    values: tuple[float, ...]

    def by_seed(self) -> Mapping[int, float] | None:
        """None where a seed comes twice."""
        found = dict(zip(self.seeds, self.values, strict=True))
        return found if len(found) == len(self.seeds) else None


@dataclass(frozen=True, slots=True)
class Duel:
    """`arm` against `baseline`, from `count` pairs, or from that many campaigns of the smaller side. `difference` is the interquartile mean of the differences of pairs (of unpaired campaigns the difference of both interquartile
    means) and larger where the arm is better; `superiority` how probable it is that a campaign of the arm ends better. `probability` is how
    probable such values are where there is no difference, `corrected` for all duels of the comparison. `detectable` is a difference that would have been found four times in five;
    `least` the smallest `corrected` that so many can come to: where that decides nothing, neither does `corrected`."""

    arm: str
    baseline: str
    paired: bool
    count: int
    difference: Interval | None
    superiority: Interval
    probability: float
    corrected: float
    verdict: Verdict
    detectable: float | None
    enough: int
    least: float


@dataclass(frozen=True, slots=True)
class Wins:
    """How often `arm` ended better than `other`: seed by seed where it is `paired`, else each campaign against each."""

    arm: str
    other: str
    paired: bool
    won: int
    tied: int
    lost: int


def pairs(first: Values, second: Values) -> tuple[tuple[float, float], ...]:
    """The values of both arms seed by seed; none where the seeds are not the same."""
    one, other = first.by_seed(), second.by_seed()
    if one is None or other is None or one.keys() != other.keys():
        return ()
    return tuple((one[seed], other[seed]) for seed in sorted(one))


def wins(first: Values, second: Values) -> Wins:
    """Who ended better how often."""
    found = pairs(first, second)
    met = found or tuple((one, other) for one in first.values for other in second.values)
    won = sum(one > other for one, other in met)
    tied = sum(one == other for one, other in met)
    return Wins(first.name, second.name, bool(found), won, tied, len(met) - won - tied)


def duels(arms: Sequence[Values], baseline: Values, rng: np.random.Generator, level: float) -> tuple[Duel, ...]:
    """Each of the other arms against the baseline."""
    others = [arm for arm in arms if arm.name != baseline.name]
    chances = [_probability(arm, baseline) for arm in others]
    corrected = holm(chances)
    return tuple(
        _duel(arm, baseline, (chance, raised, len(others)), rng, level)
        for arm, chance, raised in zip(others, chances, corrected, strict=True)
    )


def _probability(arm: Values, baseline: Values) -> float:
    met = pairs(arm, baseline)
    return signed_rank(differences(met)) if met else rank_sum(arm.values, baseline.values)


def differences(met: Sequence[tuple[float, float]]) -> list[float]:
    """First minus second; two that failed do not differ."""
    return [0.0 if one == other else one - other for one, other in met]


def _duel(
    arm: Values, baseline: Values, chances: tuple[float, float, int], rng: np.random.Generator, level: float
) -> Duel:
    met = pairs(arm, baseline)
    sizes = (len(arm.values), len(baseline.values))
    count = len(met) or min(sizes)
    found = _difference(arm, baseline, rng, level) if count >= 2 else None
    probability, corrected, many = chances
    enough = seeds_enough(bool(met), many, 1.0 - level)
    smallest = min(least(bool(met), sizes) * many, 1.0)
    equal = set(arm.values) == set(baseline.values) and len(set(arm.values)) == 1
    return Duel(
        arm=arm.name,
        baseline=baseline.name,
        paired=bool(met),
        count=count,
        difference=found,
        superiority=superiority(arm.values, baseline.values, level),
        probability=probability,
        corrected=corrected,
        verdict=_verdict(found, corrected, equal=equal, few=smallest > 1.0 - level + 1e-12),
        detectable=_detectable(found, many, level),
        enough=enough,
        least=smallest,
    )


def _difference(arm: Values, baseline: Values, rng: np.random.Generator, level: float) -> Interval:
    met = pairs(arm, baseline)
    if met:
        return bootstrap(differences(met), rng, level=level)
    return bootstrap_difference(arm.values, baseline.values, rng, level=level)


def _verdict(found: Interval | None, corrected: float, *, equal: bool, few: bool) -> Verdict:
    if few or found is None:
        return "too few"
    if equal:
        return "equal"
    if corrected > 1.0 - found.level or found.low <= 0.0 <= found.high:
        return "no difference"
    return "better" if found.low > 0.0 else "worse"


def least(paired: bool, sizes: tuple[int, int]) -> float:
    """The smallest probability that so many campaigns can come to, however far the arms are apart."""
    return 2.0 / (2.0 ** sizes[0] if paired else comb(sum(sizes), sizes[0]))


def seeds_enough(paired: bool, many: int, error: float) -> int:
    """With how many seeds each of `many` duels could be decided."""
    return next(count for count in range(2, MOST_SEEDS) if least(paired, (count, count)) * many <= error + 1e-12)


def _detectable(found: Interval | None, many: int, level: float) -> float | None:
    """The difference that would be found four times in five; None where that cannot be said."""
    if found is None or not math.isfinite(found.standard_error) or found.standard_error == 0.0:
        return None
    degrees = found.count - 1
    strict = student_quantile(1.0 - (1.0 - level) / many, degrees)
    return (strict + student_quantile(2.0 * _POWER - 1.0, degrees)) * found.standard_error
