"""A comparison as one value: what each arm came to, and each against each.

Invariant: equal campaigns and one question give an equal answer, draws included; no campaign is left out of any figure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from evolve.compare.arms import Arm, Group, Question, grouped
from evolve.compare.bands import Band, Scale, area, area_interval, band, places, scale
from evolve.compare.course import Course
from evolve.compare.duels import Duel, Values, Wins, duels, wins
from evolve.compare.fairness import check
from evolve.compare.reaching import Reached, Target, reached, targets_of
from evolve.compare.resources import Resource, final, horizon, rounded
from evolve.statistics import Interval
from evolve.statistics.bootstrap import bootstrap, interquartile_mean
from evolve.stop import Amount, parse
from evolve.types import ConfigError, Fitness
from evolve.types.suggest import did_you_mean

_BASELINE = "best_of_n"
_NONE = "-"


@dataclass(frozen=True, slots=True)
class Line:
    """An arm. `finals` are its campaigns' values in the end, None for what failed, in the user's direction, and so is `final`, their interquartile mean; `area` is the share of the way from the seed to the best known. The
    amounts are medians over its campaigns."""

    arm: str
    campaigns: tuple[str, ...]
    seeds: tuple[int, ...]
    finals: tuple[float | None, ...]
    final: float | None
    low: float | None
    high: float | None
    area: Interval | None
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
class Comparison:
    """What came out. All are compared when `end` of the resource `per` was spent; `notes` tell what else must be known. `improved`: any campaign came to more than the seed program is worth."""

    task: str
    version: str
    fitness: Fitness
    per: Resource
    end: float
    baseline: str
    level: float
    deterministic: bool
    lines: tuple[Line, ...]
    bands: tuple[Band, ...]
    duels: tuple[Duel, ...]
    wins: tuple[Wins, ...]
    reached: tuple[Reached, ...]
    scale: Scale | None
    anchors: tuple[tuple[float, str], ...]
    improved: bool
    settings: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]


def compared(arms: Sequence[Arm], question: Question | None = None) -> Comparison:
    """Arms of open campaigns against each other; raises `ConfigError` for what does not compare."""
    return weighed(grouped(arms), question or Question())


def weighed(groups: Sequence[Group], question: Question) -> Comparison:
    """The same of what campaigns came to."""
    courses = [one for group in groups for one in group.courses]
    per = question.per or _per(courses)
    notes = check(groups, per)
    end, about = horizon(courses, per), courses[0].circumstances
    fitness, streams = about.fitness, _Streams(question.seed)
    values = [_values(group, end, per, fitness) for group in groups]
    baseline = _baseline(values, question.baseline)
    everything = [value for arm in values for value in arm.values]
    of = scale(courses, everything, fitness)
    at = places(courses, end, per)
    targets = _targets(courses, everything, question, fitness)
    return Comparison(
        task=about.task,
        version=about.version,
        fitness=fitness,
        per=per,
        end=end,
        baseline=baseline.name,
        level=question.level,
        deterministic=about.deterministic,
        lines=_lines(groups, values, _Ground(end, per, fitness, of, question.level), streams),
        bands=tuple(band(group, at, per, fitness, streams.next(), question.level) for group in groups),
        duels=duels(values, baseline, streams.next(), question.level),
        wins=tuple(wins(first, second) for first, second in permutations(values, 2)),
        reached=tuple(
            reached(group, target, end, per, streams.next(), question.level) for target in targets for group in groups
        ),
        scale=of,
        anchors=about.anchors,
        improved=any(value > _seed(courses, fitness) for value in everything),
        settings=_different(groups),
        notes=notes,
    )


class _Streams:
    """Streams of chance, one after the other, all from one seed."""

    def __init__(self, seed: int) -> None:
        self._seeds = np.random.SeedSequence(seed)

    def next(self) -> np.random.Generator:
        """A stream that nobody else has."""
        return np.random.default_rng(self._seeds.spawn(1)[0])


def _per(courses: Sequence[Course]) -> Resource:
    """What the budget of all campaigns counts, else programs."""
    counted = {_counted(one.budget) for one in courses}
    return counted.pop() if len(counted) == 1 else "programs"


def _counted(budget: Sequence[str]) -> Resource:
    found = parse(budget[0], 0.0) if budget and not budget[0].startswith("until") else None
    resource = found.unit.resource if isinstance(found, Amount) else "programs"
    return "programs" if resource == "gpu_seconds" else resource


def _values(group: Group, end: float, per: Resource, fitness: Fitness) -> Values:
    return Values(group.name, group.seeds, tuple(final(one, end, per, fitness) for one in group.courses))


def _baseline(values: Sequence[Values], wanted: str) -> Values:
    names = [one.name for one in values]
    if wanted and wanted not in names:
        raise ConfigError(
            f"there is no arm {wanted!r}.{did_you_mean(wanted, names)} Do: --baseline with one of {', '.join(names)}"
        )
    chosen = wanted or (_BASELINE if _BASELINE in names else names[0])
    return values[names.index(chosen)]


def _seed(courses: Sequence[Course], fitness: Fitness) -> float:
    """The largest value that the seed was found to have."""
    found = [fitness.inside(one.seed_value) for one in courses if one.seed_value is not None]
    return rounded(max(found, default=-math.inf), fitness)


def _targets(
    courses: Sequence[Course], finals: Sequence[float], question: Question, fitness: Fitness
) -> tuple[Target, ...]:
    """Values to reach that not every campaign has from the beginning, unless a person asks for them."""
    found = targets_of(finals, courses[0].circumstances.anchors, question.targets, fitness)
    begun = _seed(courses, fitness)
    return tuple(one for one in found if one.value in question.targets or fitness.inside(one.value) > begun)


@dataclass(frozen=True, slots=True)
class _Ground:
    """On what all arms are weighed."""

    end: float
    per: Resource
    fitness: Fitness
    scale: Scale | None
    level: float


def _lines(groups: Sequence[Group], values: Sequence[Values], on: _Ground, streams: _Streams) -> tuple[Line, ...]:
    return tuple(_line(group, arm.values, on, streams) for group, arm in zip(groups, values, strict=True))


def _areas(group: Group, on: _Ground) -> list[float]:
    """One of each campaign; none without a scale."""
    of = on.scale
    return [area(one, on.end, on.per, on.fitness, of) for one in group.courses] if of else []


def _line(group: Group, values: Sequence[float], on: _Ground, streams: _Streams) -> Line:
    courses, fitness = group.courses, on.fitness
    low, high = _ends(values, on, streams)
    areas = _areas(group, on)
    return Line(
        arm=group.name,
        campaigns=tuple(one.campaign for one in courses),
        seeds=group.seeds,
        finals=tuple(_shown(value, fitness) for value in values),
        final=_shown(float(interquartile_mean(np.asarray(values))), fitness),
        low=_shown(low, fitness),
        high=_shown(high, fitness),
        area=area_interval(areas, streams.next(), on.level) if areas else None,
        failed=sum(one.status == "failed" or one.final is None for one in courses),
        trust=tuple(sorted({one.trust for one in courses if one.trust})),
        isolation=tuple(sorted({one.circumstances.isolation for one in courses if one.circumstances.isolation})),
        programs=_median([one.spent.programs for one in courses]),
        measurements=_median([one.spent.measurements for one in courses]),
        seconds=_median([one.spent.seconds for one in courses]),
        judge_seconds=_median([one.spent.judge_seconds for one in courses]),
        tokens=_median([one.spent.tokens for one in courses]),
        money=_median([one.spent.money for one in courses]),
    )


def _ends(values: Sequence[float], on: _Ground, streams: _Streams) -> tuple[float, float]:
    """The limits of the middle, the one first that is the lower one to the user."""
    if len(values) < 2:
        return -math.inf, -math.inf
    found = bootstrap(values, streams.next(), level=on.level)
    return (found.low, found.high) if on.fitness.direction == "max" else (found.high, found.low)


def _shown(value: float, fitness: Fitness) -> float | None:
    return fitness.shown(value) if math.isfinite(value) else None


def _median(values: Sequence[float]) -> float:
    return float(np.median(np.asarray(values, float)))


def _different(groups: Sequence[Group]) -> Mapping[str, Mapping[str, str]]:
    """The settings in which arms differ, by arm; of an arm whose own campaigns differ, that they do."""
    sets = [[one.circumstances.settings for one in group.courses] for group in groups]
    keys = sorted({key for arm in sets for settings in arm for key in settings})
    found: dict[str, dict[str, str]] = {group.name: {} for group in groups}
    for key in keys:
        told = [" or ".join(sorted({settings.get(key, _NONE) for settings in arm})) for arm in sets]
        if len(set(told)) > 1:
            for group, value in zip(groups, told, strict=True):
                found[group.name] |= {key: value} if value != _NONE else {}
    return found
