"""What a comparison holds equal, and how good each campaign was when so much of it was spent.

Invariant: fitness is larger the better here, and minus infinity where a campaign has none."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from evolve.compare.course import Course, Mark, Spent
from evolve.types import Fitness

Resource = Literal["programs", "seconds", "calls", "tokens", "money"]
RESOURCES: tuple[Resource, ...] = get_args(Resource)
SLACK = 0.05
"""Budgets that are not spent one by one, such as time, are overshot a little: by so much they may differ."""
Reals = npt.NDArray[np.float64]

_AMOUNTS: Mapping[Resource, Callable[[Mark | Spent], float]] = {
    "programs": lambda one: one.programs,
    "seconds": lambda one: one.seconds,
    "calls": lambda one: one.calls,
    "tokens": lambda one: one.tokens,
    "money": lambda one: one.money,
}


def amount(one: Mark | Spent, resource: Resource) -> float:
    """How much of it was spent."""
    return float(_AMOUNTS[resource](one))


def horizon(courses: Sequence[Course], resource: Resource) -> float:
    """How much every campaign has spent, but for those that failed, and those that could not go on: their value remains what it is."""
    going = [one for one in courses if one.status in ("finished", "unfinished")]
    others = [one for one in courses if one.status == "exhausted"]
    if going:
        return min(amount(one.spent, resource) for one in going)
    return max((amount(one.spent, resource) for one in others), default=0.0)


def rounded(value: float, fitness: Fitness) -> float:
    """With the digits that are shown: what is beyond them is no difference."""
    return float(f"{value:.{fitness.digits}g}") if math.isfinite(value) else value


def values_at(one: Course, places: Reals, resource: Resource, fitness: Fitness) -> Reals:
    """How good the best was when so much was spent."""
    if one.status == "failed" or not one.marks:
        return np.full(len(places), -math.inf)
    known = np.array([-math.inf, *(rounded(fitness.inside(mark.fitness), fitness) for mark in one.marks)])
    at = np.array([amount(mark, resource) for mark in one.marks])
    return np.asarray(known[np.searchsorted(at, places, side="right")], np.float64)


def final(one: Course, end: float, resource: Resource, fitness: Fitness) -> float:
    """How good it was at the end; what a campaign came to whose end that is, is what it reports of its best."""
    whole = amount(one.spent, resource) <= end * (1.0 + (1e-9 if resource == "programs" else SLACK))
    if whole:
        failed = one.status == "failed" or one.final is None
        return -math.inf if failed or one.final is None else rounded(fitness.inside(one.final), fitness)
    return float(values_at(one, np.array([end]), resource, fitness)[0])
