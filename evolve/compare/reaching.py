"""When each arm reached a value: with how many programs, or whatever is held equal.

Invariant: a campaign that ended without reaching it counts as one that takes longer than it was given, never as one that is not there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolve.compare.arms import Group
from evolve.compare.course import Course
from evolve.compare.resources import Resource, amount, rounded
from evolve.statistics.bootstrap import Reals, bootstrap
from evolve.types import Fitness


@dataclass(frozen=True, slots=True)
class Target:
    """A value to reach, in the user's direction, and where it comes from."""

    value: float
    name: str


@dataclass(frozen=True, slots=True)
class Reached:
    """How many of an arm's campaigns reached a target, and how much the one in the middle had spent then: None where fewer than half did, so that all that is known is that it
    takes more than all were given. `low` and `high` are the limits of that; None where that is all that is known of a limit."""

    arm: str
    target: Target
    reached: int
    campaigns: int
    median: float | None
    low: float | None
    high: float | None


def reached(
    group: Group, target: Target, end: float, resource: Resource, rng: np.random.Generator, level: float
) -> Reached:
    """An arm and a target."""
    fitness = group.courses[0].circumstances.fitness
    spent = [_when(one, target, end, resource, fitness) for one in group.courses]
    middle = _upper_median(np.asarray(spent))
    low = high = math.inf
    if len(spent) > 1:
        found = bootstrap(spent, rng, _upper_median, level)
        low, high = found.low, found.high
    return Reached(
        group.name,
        target,
        sum(map(math.isfinite, spent)),
        len(spent),
        *(float(one) if math.isfinite(one) else None for one in (float(middle), low, high)),
    )


def _when(one: Course, target: Target, end: float, resource: Resource, fitness: Fitness) -> float:
    wanted = rounded(fitness.inside(target.value), fitness)
    if one.status == "failed":
        return math.inf
    for mark in one.marks:
        if rounded(fitness.inside(mark.fitness), fitness) >= wanted and amount(mark, resource) <= end * (1.0 + 1e-9):
            return amount(mark, resource)
    return math.inf


def _upper_median(values: Reals) -> Reals:
    """Of an even number the larger one of both in the middle: at least half have come so far by then, and nobody must take a mean with what is not known."""
    count = values.shape[-1]
    return np.asarray(np.sort(values, axis=-1)[..., count // 2], np.float64)


def targets_of(
    finals: Sequence[float], anchors: Sequence[tuple[float, str]], asked: Sequence[float], fitness: Fitness
) -> tuple[Target, ...]:
    """What was asked for, the anchors that any campaign came to, and what half and a tenth of all campaigns came to at the end; `finals` are larger the better. No value twice,
    and none that every campaign began with: that is for the caller to say."""
    known = sorted(value for value in finals if math.isfinite(value))
    found = [Target(value, "asked for") for value in asked]
    if known:
        found += [Target(value, by) for value, by in anchors if rounded(fitness.inside(value), fitness) <= known[-1]]
        for share, name in ((0.5, "half of all campaigns came to it"), (0.1, "a tenth of all campaigns came to it")):
            place = len(known) - math.ceil(share * len(finals) - 1e-9)
            if place >= 0:
                found.append(Target(fitness.shown(known[place]), name))
    distinct = {rounded(one.value, fitness): one for one in reversed(found)}
    return tuple(sorted(distinct.values(), key=lambda one: fitness.inside(one.value)))
