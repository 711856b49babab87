"""Comparison of arms, as one value: the outcome of each arm, its band over time, its tests against the baseline, and the targets that it reached.

Equal outcomes and one question give an equal comparison, draws included; no campaign is left out of any figure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolve.campaign import Campaign
from evolve.statistics import LEVEL
from evolve.statistics.bootstrap import bootstrap, draw_places, interquartile_mean, limits
from evolve.types import ConfigError, Fitness
from evolve.types.suggest import did_you_mean
from evolve_compare.fairness import ComparedArm, check_fairness
from evolve_compare.outcomes import (
    CampaignOutcome,
    Reals,
    Resource,
    amount,
    final_value,
    find_horizon,
    read_outcome,
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


@dataclass(frozen=True, slots=True)
class ComparisonQuestion:
    """Question to a comparison. `baseline` names the arm that the others are compared with (empty: `best_of_n`, else the first one); `per` is the resource that is equal for all
    (None: the one that the budgets count, else programs); `targets` are values to reach, in the task's direction; `seed` is that of the bootstrap's draws."""

    baseline: str = ""
    per: Resource | None = None
    targets: tuple[float, ...] = ()
    level: float = LEVEL
    seed: int = 0


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
    judge_seconds: float
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
class TargetValue:
    """Value to reach, in the task's direction, and its source."""

    value: float
    name: str


@dataclass(frozen=True, slots=True)
class TargetResult:
    """Number of an arm's campaigns that reached a target, and the amount that the median campaign had spent then, with its limits; None where that is more than all were given."""

    arm: str
    target: TargetValue
    reached: int
    campaigns: int
    median: float | None
    low: float | None
    high: float | None


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
    reached: tuple[TargetResult, ...]
    anchors: tuple[tuple[float, str], ...]
    improved: bool
    settings: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]


def read_arm(name: str, campaigns: Iterable[Campaign]) -> ComparedArm:
    """Returns an arm of open campaigns."""
    return ComparedArm(name, tuple(map(read_outcome, campaigns)))


def compare_arms(arms: Mapping[str, Iterable[Campaign]], question: ComparisonQuestion | None = None) -> Comparison:
    """Compares open campaigns by the names of their arms; raises `ConfigError` for campaigns that do not compare."""
    return compare_outcomes(
        [read_arm(name, campaigns) for name, campaigns in arms.items()], question or ComparisonQuestion()
    )


def compare_outcomes(arms: Sequence[ComparedArm], question: ComparisonQuestion) -> Comparison:
    """Compares arms by the outcomes of their campaigns; raises `ConfigError` for campaigns that do not compare."""
    outcomes = [one for arm in arms for one in arm.outcomes]
    per = question.per or _default_resource(outcomes)
    notes = check_fairness(arms, per)
    ground = _Ground(find_horizon(outcomes, per), per, outcomes[0].conditions.fitness, question.level)
    values = [
        FinalValues(arm.name, arm.seeds, tuple(final_value(one, ground.end, per) for one in arm.outcomes))
        for arm in arms
    ]
    baseline = _find_baseline(values, question.baseline)
    finals = [value for arm in values for value in arm.values]
    begun = _seed_value(outcomes, ground.fitness)
    places, targets = _find_places(outcomes, ground), _find_targets(outcomes, finals, begun, question)
    streams = iter(
        map(np.random.default_rng, np.random.SeedSequence(question.seed).spawn(len(arms) * (2 + len(targets)) + 1))
    )
    conditions = outcomes[0].conditions
    return Comparison(
        task=conditions.task,
        version=conditions.version,
        fitness=ground.fitness,
        per=per,
        end=ground.end,
        baseline=baseline.name,
        level=question.level,
        deterministic=conditions.deterministic,
        lines=tuple(_summarise(arm, own.values, ground, next(streams)) for arm, own in zip(arms, values, strict=True)),
        bands=tuple(_band(arm, places, ground, next(streams)) for arm in arms),
        duels=compare_with_baseline(values, baseline, next(streams), question.level),
        reached=tuple(_measure_target(arm, target, ground, next(streams)) for target in targets for arm in arms),
        anchors=conditions.anchors,
        improved=any(value > begun for value in finals),
        settings=_different_settings(arms),
        notes=notes,
    )


@dataclass(frozen=True, slots=True)
class _Ground:
    """Common ground of all arms."""

    end: float
    per: Resource
    fitness: Fitness
    level: float


def _default_resource(outcomes: Sequence[CampaignOutcome]) -> Resource:
    """Returns the resource that the budgets of all campaigns count, else programs."""
    counted = {one.counted for one in outcomes}
    return counted.pop() if len(counted) == 1 else "programs"


def _find_baseline(values: Sequence[FinalValues], wanted: str) -> FinalValues:
    names = [one.name for one in values]
    if wanted and wanted not in names:
        raise ConfigError(
            f"there is no arm {wanted!r}.{did_you_mean(wanted, names)} Do: --baseline with one of {', '.join(names)}"
        )
    return values[names.index(wanted or (_BASELINE if _BASELINE in names else names[0]))]


def _seed_value(outcomes: Sequence[CampaignOutcome], fitness: Fitness) -> float:
    """Returns the largest value that the seed program was found to have."""
    found = [fitness.inside(one.seed_value) for one in outcomes if one.seed_value is not None]
    return round_value(max(found, default=-math.inf), fitness)


def _summarise(arm: ComparedArm, values: Sequence[float], ground: _Ground, rng: np.random.Generator) -> ArmSummary:
    low = high = -math.inf
    if len(values) > 1:
        interval = bootstrap(values, rng, level=ground.level)
        low, high = interval.low, interval.high
    low, high = (low, high) if ground.fitness.direction == "max" else (high, low)
    spent = [one.spent for one in arm.outcomes]
    return ArmSummary(
        arm=arm.name,
        campaigns=tuple(one.campaign for one in arm.outcomes),
        seeds=arm.seeds,
        finals=tuple(_to_finite(value, ground.fitness) for value in values),
        final=_to_finite(float(interquartile_mean(np.asarray(values))), ground.fitness),
        low=_to_finite(low, ground.fitness),
        high=_to_finite(high, ground.fitness),
        failed=sum(one.status == "failed" or one.final is None for one in arm.outcomes),
        trust=tuple(sorted({one.trust for one in arm.outcomes if one.trust})),
        isolation=tuple(sorted({one.conditions.isolation for one in arm.outcomes if one.conditions.isolation})),
        programs=_median([one.programs for one in spent]),
        measurements=_median([one.measurements for one in spent]),
        seconds=_median([one.seconds for one in spent]),
        judge_seconds=_median([one.judge_seconds for one in spent]),
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


def _find_places(outcomes: Sequence[CampaignOutcome], ground: _Ground) -> Reals:
    """Returns the amounts at which any value changes, thinned to what a picture can show, and some at equal distances."""
    changes = {min(amount(one.spent, ground.per), ground.end) for each in outcomes for one in each.milestones}
    found = np.unique([*changes, *np.linspace(0.0, ground.end, _EVEN_PLACES)])
    if len(found) <= _MOST_PLACES:
        return found
    return np.unique(found[np.linspace(0, len(found) - 1, _MOST_PLACES).astype(int)])


def _band(arm: ComparedArm, places: Reals, ground: _Ground, rng: np.random.Generator) -> Band:
    """Returns the band of an arm; all places are drawn from the same seeds. A place has no value where half of the campaigns have none."""
    values = np.stack([values_at(one, places, ground.per) for one in arm.outcomes], axis=-1)
    middle = low = high = interquartile_mean(values)
    count = len(arm.outcomes)
    if count > 1:
        draws = np.sort(interquartile_mean(values[:, draw_places(count, rng, _BAND_DRAWS)]), axis=-1)
        low, high = limits(np.moveaxis(draws, -1, 0), count, ground.level)
    if ground.fitness.direction == "min":
        low, high = high, low
    known = np.isfinite(middle)
    shown = [tuple(ground.fitness.shown(float(one)) for one in line[known]) for line in (middle, low, high)]
    return Band(arm.name, tuple(float(one) for one in places[known]), *shown)


def _find_targets(
    outcomes: Sequence[CampaignOutcome], finals: Sequence[float], begun: float, question: ComparisonQuestion
) -> tuple[TargetValue, ...]:
    """Returns the values that were asked for, the anchors that any campaign reached, and the values that half and a tenth of all campaigns reached; of these only the ones that
    are better than the seed program, and none twice."""
    conditions = outcomes[0].conditions
    fitness = conditions.fitness
    known = sorted(value for value in finals if math.isfinite(value))
    found = [
        TargetValue(value, by) for value, by in conditions.anchors if known and _inside(value, fitness) <= known[-1]
    ]
    for share, name in ((0.5, "half of all campaigns came to it"), (0.1, "a tenth of all campaigns came to it")):
        place = len(known) - math.ceil(share * len(finals) - 1e-9)
        if known and place >= 0:
            found.append(TargetValue(fitness.shown(known[place]), name))
    better = [one for one in found if fitness.inside(one.value) > begun]
    targets = [*(TargetValue(value, "asked for") for value in question.targets), *better]
    distinct = {_inside(one.value, fitness): one for one in reversed(targets)}
    return tuple(sorted(distinct.values(), key=lambda one: fitness.inside(one.value)))


def _inside(value: float, fitness: Fitness) -> float:
    return round_value(fitness.inside(value), fitness)


def _measure_target(arm: ComparedArm, target: TargetValue, ground: _Ground, rng: np.random.Generator) -> TargetResult:
    """Returns how an arm reached a target. A campaign that did not counts as one that takes longer than it was given."""
    spent = [_amount_to_reach(one, target, ground) for one in arm.outcomes]
    middle, low, high = float(_upper_median(np.asarray(spent))), math.inf, math.inf
    if len(spent) > 1:
        interval = bootstrap(spent, rng, _upper_median, ground.level)
        low, high = interval.low, interval.high
    known = (one if math.isfinite(one) else None for one in (middle, low, high))
    return TargetResult(arm.name, target, sum(map(math.isfinite, spent)), len(spent), *known)


def _amount_to_reach(outcome: CampaignOutcome, target: TargetValue, ground: _Ground) -> float:
    fitness = ground.fitness
    spent = (
        amount(one.spent, ground.per)
        for one in outcome.milestones
        if _inside(one.fitness, fitness) >= _inside(target.value, fitness)
    )
    first = next(spent, math.inf) if outcome.status != "failed" else math.inf
    return first if first <= ground.end * (1.0 + 1e-9) else math.inf


def _upper_median(values: Reals) -> Reals:
    """Returns the larger of the two middle values of an even number: a mean with an infinite value says nothing."""
    return np.asarray(np.sort(values, axis=-1)[..., values.shape[-1] // 2], np.float64)
