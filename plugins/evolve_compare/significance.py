"""Tests of one arm against another: the difference, and its probability by chance.

A failed campaign is worse than every other, and equal to another failed one; seeds that both arms have are compared pairwise."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np

from evolve.statistics import Interval
from evolve_compare.bootstrap import bootstrap, bootstrap_difference
from evolve_compare.ranks import holm, rank_sum, signed_rank

Verdict = Literal["better", "worse", "equal", "no difference", "too few"]
MOST_SEEDS = 200
"""Largest number of seeds that is tried as enough."""


@dataclass(frozen=True, slots=True)
class FinalValues:
    """Final values of an arm, larger is better, with the seeds of its campaigns."""

    name: str
    seeds: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ArmTest:
    """Test of `arm` against `baseline`, from `count` pairs, or from that many campaigns of the smaller side. `difference` is the interquartile mean of the differences of pairs (of unpaired campaigns the difference of both interquartile
    means) and larger where the arm is better. `probability` is how
    probable such values are where there is no difference, `corrected` for all tests of the comparison, and
    `least` the smallest `corrected` that so many can come to: where that decides nothing, neither does `corrected`."""

    arm: str
    baseline: str
    paired: bool
    count: int
    difference: Interval | None
    probability: float
    corrected: float
    verdict: Verdict
    enough: int
    least: float


def subtract_pairs(first: FinalValues, second: FinalValues) -> list[float]:
    """Returns first minus second seed by seed; nothing where the seeds are not the same, or one comes twice."""
    one, other = (dict(zip(arm.seeds, arm.values, strict=True)) for arm in (first, second))
    if one.keys() != other.keys() or {len(one)} != {len(first.seeds), len(second.seeds)}:
        return []
    # Two campaigns that failed do not differ: infinite minus infinite would be no number.
    return [0.0 if one[seed] == other[seed] else one[seed] - other[seed] for seed in sorted(one)]


def compare_with_baseline(
    arms: Sequence[FinalValues], baseline: FinalValues, rng: np.random.Generator, level: float
) -> tuple[ArmTest, ...]:
    """Tests each of the other arms against the baseline, and corrects the probabilities for their number (Holm)."""
    others = [arm for arm in arms if arm.name != baseline.name]
    paired = [subtract_pairs(arm, baseline) for arm in others]
    chances = [
        signed_rank(pairs) if pairs else rank_sum(arm.values, baseline.values)
        for arm, pairs in zip(others, paired, strict=True)
    ]
    return tuple(
        _test(arm, baseline, pairs, (chance, raised, len(others)), rng, level)
        for arm, pairs, chance, raised in zip(others, paired, chances, holm(chances), strict=True)
    )


def _test(
    arm: FinalValues,
    baseline: FinalValues,
    pairs: Sequence[float],
    chances: tuple[float, float, int],
    rng: np.random.Generator,
    level: float,
) -> ArmTest:
    sizes = (len(arm.values), len(baseline.values))
    count, found = len(pairs) or min(sizes), None
    if count >= 2:
        unpaired = (arm.values, baseline.values)
        found = bootstrap(pairs, rng, level=level) if pairs else bootstrap_difference(*unpaired, rng, level=level)
    probability, corrected, many = chances
    smallest = min(smallest_probability(bool(pairs), sizes) * many, 1.0)
    equal = set(arm.values) == set(baseline.values) and len(set(arm.values)) == 1
    return ArmTest(
        arm=arm.name,
        baseline=baseline.name,
        paired=bool(pairs),
        count=count,
        difference=found,
        probability=probability,
        corrected=corrected,
        verdict=_verdict(found, corrected, equal=equal, few=smallest > 1.0 - level + 1e-12),
        enough=enough_seeds(bool(pairs), many, 1.0 - level),
        least=smallest,
    )


def _verdict(found: Interval | None, corrected: float, *, equal: bool, few: bool) -> Verdict:
    if few or found is None:
        return "too few"
    if equal:
        return "equal"
    if corrected > 1.0 - found.level or found.low <= 0.0 <= found.high:
        return "no difference"
    return "better" if found.low > 0.0 else "worse"


def smallest_probability(paired: bool, sizes: tuple[int, int]) -> float:
    """Returns the smallest probability that so many campaigns can reach, however far the arms are apart."""
    return 2.0 / (2.0 ** sizes[0] if paired else comb(sum(sizes), sizes[0]))


def enough_seeds(paired: bool, many: int, error: float) -> int:
    """Returns the number of seeds with which each of `many` tests could be decided."""
    return next(
        count for count in range(2, MOST_SEEDS) if smallest_probability(paired, (count, count)) * many <= error + 1e-12
    )
