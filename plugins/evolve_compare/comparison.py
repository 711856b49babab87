"""Comparison of arms, as one value: the outcome of each arm, its band over time, and its test against the baseline.

Equal outcomes give an equal comparison, draws included; no campaign is left out of any figure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolve.statistics import LEVEL
from evolve.types import ConfigError, Fitness
from evolve.types.errors import did_you_mean
from evolve_compare.bootstrap import bootstrap, draw_places, interquartile_mean, limits
from evolve_compare.fairness import ComparedArm, check_fairness
from evolve_compare.outcomes import (
    CampaignOutcome,
    Reals,
    Resource,
    amount,
    final_value,
    find_horizon,
    round_value,
    values_at,
)
from evolve_compare.significance import ArmTest, FinalValues, compare_with_baseline

_BASELINE = "best_of_n"
_UNSET = "-"
_MOST_PLACES = 160
_EVEN_PLACES = 65
"""Places of a band at equal distances, so that a picture shows a line and no dots."""
_BAND_DRAWS = 1_000
_SEED = 0
"""Seed of the bootstrap's draws, so that equal outcomes give an equal comparison."""


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """Figures of one arm, in the task's direction. `finals` are the values of its campaigns, None for those that failed; `final` is their interquartile mean with its limits. The amounts are medians."""

    arm: str
    campaigns: tuple[str, ...]
    seeds: tuple[int, ...]
    finals: tuple[float | None, ...]
    final: float | None
    low: float | None
    high: float | None
    failed: int
    trust: tuple[str, ...]
    isolation: tuple[str, ...]
    programs: float
    measurements: float
    seconds: float
    tokens: float
    money: float


@dataclass(frozen=True, slots=True)
class Band:
    """Interquartile mean of an arm with its limits at each amount spent, in the task's direction. Without limits where the arm has one campaign."""

    arm: str
    places: tuple[float, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of arms when `end` of the resource `per` was spent. `improved`: any campaign found a better program than the seed program; `notes` say what may have favoured an arm."""

    task: str
    version: str
    fitness: Fitness
    per: Resource
    end: float
    baseline: str
    level: float
    deterministic: bool
    lines: tuple[ArmSummary, ...]
    bands: tuple[Band, ...]
    duels: tuple[ArmTest, ...]
    anchors: tuple[tuple[float, str], ...]
    improved: bool
    settings: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]


def compare_outcomes(arms: Sequence[ComparedArm], baseline: str = "", per: Resource | None = None) -> Comparison:
    """Compares arms by the outcomes of their campaigns when all have spent equally much of a resource, without `per` the one that the budgets count.

    The others are compared with `baseline`, without it `best_of_n` or else the first arm. Raises `ConfigError` for campaigns that do not compare."""
    outcomes = [one for arm in arms for one in arm.outcomes]
    per = per or _default_resource(outcomes)
    notes = check_fairness(arms, per)
    end, conditions = find_horizon(outcomes, per), outcomes[0].conditions
    fitness = conditions.fitness
    values = [
        FinalValues(arm.name, arm.seeds, tuple(final_value(one, end, per) for one in arm.outcomes)) for arm in arms
    ]
    reference = _find_baseline(values, baseline)
    finals = [value for arm in values for value in arm.values]
    begun = _seed_value(outcomes, fitness)
    places = _find_places(outcomes, end, per)
    # A stream for each figure, so that none depends on how many draws another one took.
    streams = map(np.random.default_rng, np.random.SeedSequence(_SEED).spawn(2 * len(arms) + 1))
    return Comparison(
        task=conditions.task,
        version=conditions.version,
        fitness=fitness,
        per=per,
        end=end,
        baseline=reference.name,
        level=LEVEL,
        deterministic=conditions.deterministic,
        lines=tuple(_summarise(arm, own.values, fitness, next(streams)) for arm, own in zip(arms, values, strict=True)),
        bands=tuple(_band(arm, places, per, next(streams)) for arm in arms),
        duels=compare_with_baseline(values, reference, next(streams), LEVEL),
        anchors=conditions.anchors,
        improved=any(value > begun for value in finals),
        settings=_different_settings(arms),
        notes=notes,
    )


def _default_resource(outcomes: Sequence[CampaignOutcome]) -> Resource:
    """Returns the resource that the budgets of all campaigns count, else programs."""
    counted = {one.counted for one in outcomes}
    return counted.pop() if len(counted) == 1 else "programs"


def _find_baseline(values: Sequence[FinalValues], wanted: str) -> FinalValues:
    names = [one.name for one in values]
    if wanted and wanted not in names:
        raise ConfigError(
            f"there is no arm {wanted!r}.{did_you_mean(wanted, names)} Try: --baseline with one of {', '.join(names)}"
        )
    return values[names.index(wanted or (_BASELINE if _BASELINE in names else names[0]))]


def _seed_value(outcomes: Sequence[CampaignOutcome], fitness: Fitness) -> float:
    """Returns the largest value that the seed program was found to have."""
    found = [fitness.inside(one.seed_value) for one in outcomes if one.seed_value is not None]
    return round_value(max(found, default=-math.inf), fitness)


def _summarise(arm: ComparedArm, values: Sequence[float], fitness: Fitness, rng: np.random.Generator) -> ArmSummary:
    low = high = -math.inf
    if len(values) > 1:
        interval = bootstrap(values, rng)
        low, high = interval.low, interval.high
    low, high = (low, high) if fitness.direction == "max" else (high, low)
    spent = [one.spent for one in arm.outcomes]
    return ArmSummary(
        arm=arm.name,
        campaigns=tuple(one.campaign for one in arm.outcomes),
        seeds=arm.seeds,
        finals=tuple(_to_finite(value, fitness) for value in values),
        final=_to_finite(float(interquartile_mean(np.asarray(values))), fitness),
        low=_to_finite(low, fitness),
        high=_to_finite(high, fitness),
        failed=sum(one.status == "failed" or one.final is None for one in arm.outcomes),
        trust=tuple(sorted({one.trust for one in arm.outcomes if one.trust})),
        isolation=tuple(sorted({one.conditions.isolation for one in arm.outcomes if one.conditions.isolation})),
        programs=_median([one.programs for one in spent]),
        measurements=_median([one.measurements for one in spent]),
        seconds=_median([one.seconds for one in spent]),
        tokens=_median([one.tokens for one in spent]),
        money=_median([one.money for one in spent]),
    )


def _to_finite(value: float, fitness: Fitness) -> float | None:
    return fitness.shown(value) if math.isfinite(value) else None


def _median(values: Sequence[float]) -> float:
    return float(np.median(np.asarray(values, float)))


def _different_settings(arms: Sequence[ComparedArm]) -> Mapping[str, Mapping[str, str]]:
    """Returns the settings in which arms differ, by arm; of an arm whose campaigns differ, all their values."""
    keys = sorted({key for arm in arms for one in arm.outcomes for key in one.conditions.settings})
    found: dict[str, dict[str, str]] = {arm.name: {} for arm in arms}
    for key in keys:
        values = [
            " or ".join(sorted({one.conditions.settings.get(key, _UNSET) for one in arm.outcomes})) for arm in arms
        ]
        if len(set(values)) > 1:
            for arm, value in zip(arms, values, strict=True):
                found[arm.name] |= {key: value} if value != _UNSET else {}
    return found


def _find_places(outcomes: Sequence[CampaignOutcome], end: float, per: Resource) -> Reals:
    """Returns the amounts at which any value changes, thinned to what a picture can show, and some at equal distances."""
    changes = {min(amount(one.spent, per), end) for each in outcomes for one in each.milestones}
    found = np.unique([*changes, *np.linspace(0.0, end, _EVEN_PLACES)])
    if len(found) <= _MOST_PLACES:
        return found
    return np.unique(found[np.linspace(0, len(found) - 1, _MOST_PLACES).astype(int)])


def _band(arm: ComparedArm, places: Reals, per: Resource, rng: np.random.Generator) -> Band:
    """Returns the band of an arm; all places are drawn from the same seeds. A place has no value where half of the campaigns have none."""
    fitness = arm.outcomes[0].conditions.fitness
    values = np.stack([values_at(one, places, per) for one in arm.outcomes], axis=-1)
    middle = low = high = interquartile_mean(values)
    count = len(arm.outcomes)
    if count > 1:
        draws = np.sort(interquartile_mean(values[:, draw_places(count, rng, _BAND_DRAWS)]), axis=-1)
        low, high = limits(np.moveaxis(draws, -1, 0), count, LEVEL)
    if fitness.direction == "min":
        low, high = high, low
    known = np.isfinite(middle)
    shown = [tuple(fitness.shown(float(one)) for one in line[known]) for line in (middle, low, high)]
    return Band(arm.name, tuple(float(one) for one in places[known]), *shown)
