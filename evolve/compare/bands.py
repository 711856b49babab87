"""How good each arm was when, with how sure that is; and how much of the way it had gone on the whole.

Invariant: a band is only where more than half of what it is made of has a value; all of a band's places are drawn from the same seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolve.compare.arms import Group
from evolve.compare.course import Course
from evolve.compare.resources import Reals, Resource, amount, rounded, values_at
from evolve.statistics import Interval
from evolve.statistics.bootstrap import bootstrap, drawn, interquartile_mean, limits
from evolve.types import Fitness

_PLACES = 160
"""A band has at most so many places."""
_DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class Band:
    """An arm's interquartile mean at each place, and between which limits it lies, in the user's direction; `places` are amounts of what is held equal. Without limits where the
    arm has one campaign."""

    arm: str
    places: tuple[float, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """From the seed program's value, which counts 0, to the best that is known, which counts 1: larger is better."""

    floor: float
    top: float


def places(courses: Sequence[Course], end: float, resource: Resource) -> Reals:
    """Where anything changes, thinned to what can be seen."""
    changes = {min(amount(mark, resource), end) for one in courses for mark in one.marks} | {0.0, end}
    found = np.array(sorted(changes))
    if len(found) <= _PLACES:
        return found
    return np.unique(found[np.linspace(0, len(found) - 1, _PLACES).astype(int)])


def band(group: Group, at: Reals, resource: Resource, fitness: Fitness, rng: np.random.Generator, level: float) -> Band:
    """An arm's band at these places."""
    values = np.stack([values_at(one, at, resource, fitness) for one in group.courses], axis=-1)
    middle = interquartile_mean(values)
    low = high = middle
    count = len(group.courses)
    if count > 1:
        draws = np.sort(interquartile_mean(values[:, drawn(count, rng, _DRAWS)]), axis=-1)
        low, high = limits(np.moveaxis(draws, -1, 0), count, level)
    if fitness.direction == "min":
        low, high = high, low
    kept = np.isfinite(middle)
    shown = [tuple(fitness.shown(float(one)) for one in line[kept]) for line in (middle, low, high)]
    return Band(group.name, tuple(float(one) for one in at[kept]), *shown)


def scale(courses: Sequence[Course], finals: Sequence[float], fitness: Fitness) -> Scale | None:
    """From the mean of all that the seed program was found to be worth to the best of the anchors and of all campaigns; None where the seed has no value that counts, or
    where nothing better is known."""
    seeds = [fitness.inside(one.seed_value) for one in courses if one.seed_value is not None]
    best = [fitness.inside(value) for one in courses for value, _ in one.circumstances.anchors]
    best += [value for value in finals if math.isfinite(value)]
    if not seeds or not best:
        return None
    floor, top = rounded(math.fsum(seeds) / len(seeds), fitness), max(best)
    return Scale(floor, top) if top > floor else None


def area(one: Course, end: float, resource: Resource, fitness: Fitness, of: Scale) -> float:
    """Which share of the way on the scale a campaign had gone, on the average over all that was spent; 0 until it was better than the seed."""
    at = np.array(sorted({0.0, end, *(amount(mark, resource) for mark in one.marks if amount(mark, resource) < end)}))
    shares = np.clip((values_at(one, at, resource, fitness) - of.floor) / (of.top - of.floor), 0.0, None)
    return float(np.sum(shares[:-1] * np.diff(at)) / end) if end > 0.0 else 0.0


def area_interval(values: Sequence[float], rng: np.random.Generator, level: float) -> Interval | None:
    """The interquartile mean of the areas of an arm; None for a single campaign."""
    return bootstrap(values, rng, level=level) if len(values) > 1 else None
