"""Comparisons that only ask which of two values is the larger: tests, the probability that one side wins, and many tests at once.

Any increasing transformation of the values changes nothing, so that a failed run may stand as minus infinity."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from statistics import NormalDist

from evolve.statistics.intervals import LEVEL, Interval

_STEPS = 60


def midranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value, from 1; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, before = [0.0] * len(values), 0
    for _, group in groupby(order, key=values.__getitem__):
        places = list(group)
        for place in places:
            ranks[place] = before + (len(places) + 1) / 2
        before += len(places)
    return ranks


def signed_rank(differences: Sequence[float]) -> float:
    """Returns the probability of paired differences at least as extreme where neither side is better (Wilcoxon 1945, https://doi.org/10.2307/3001968): exact, equal values included, by counting
    all signs. Those that are 0 say nothing; 1 where all are."""
    nonzero = [difference for difference in differences if difference != 0.0]
    doubled = [round(2 * rank) for rank in midranks([abs(difference) for difference in nonzero])]
    observed = sum(rank if difference > 0 else -rank for rank, difference in zip(doubled, nonzero, strict=True))
    ways = Counter({0: 1})
    for rank in doubled:
        signed = Counter[int]()
        for total, count in ways.items():
            signed[total + rank] += count
            signed[total - rank] += count
        ways = signed
    return sum(count for total, count in ways.items() if abs(total) >= abs(observed)) / ways.total()


def rank_sum(first: Sequence[float], second: Sequence[float]) -> float:
    """Returns the probability of a rank sum at least as extreme for two equal sides that have nothing to do with each other (Mann and Whitney 1947, https://doi.org/10.1214/aoms/1177730491): exact, equal values included, by counting all ways to choose
    which values belong to the first side. Raises `ValueError` where a side is empty."""
    if not first or not second:
        raise ValueError("a test needs a value of each side. Do: run a campaign of each")
    doubled = [round(2 * rank) for rank in midranks([*first, *second])]
    observed, middle = sum(doubled[: len(first)]), sum(doubled) * len(first)
    total = len(doubled)
    ways = _sums(doubled, len(first))
    beyond = abs(observed * total - middle)
    extreme = sum(count for found, count in ways.items() if abs(found * total - middle) >= beyond)
    return extreme / sum(ways.values())


def _sums(values: Sequence[int], size: int) -> dict[int, int]:
    """Counts the choices of `size` values that have each sum."""
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(size))]
    for place, value in enumerate(values, 1):
        for taken in range(min(place, size), 0, -1):
            target = ways[taken]
            for found, count in ways[taken - 1].items():
                target[found + value] = target.get(found + value, 0) + count
    return ways[size]


def superiority(first: Sequence[float], second: Sequence[float], level: float = LEVEL) -> Interval:
    """Returns the probability that a value of `first` is larger than one of `second`, equal ones counting half (Vargha and Delaney 2000, https://doi.org/10.3102/10769986025002101), with the limits of Newcombe
    2006 (https://doi.org/10.1002/sim.2324, method 5), which have a width also where every value of one side is larger. Raises `ValueError` where a side is empty."""
    if not first or not second:
        raise ValueError("a probability needs a value of each side. Do: run a campaign of each")
    won = sum((one > other) + 0.5 * (one == other) for one in first for other in second)
    share = won / (len(first) * len(second))
    wide = NormalDist().inv_cdf((1.0 + level) / 2.0)
    low, high = (_limit(share, end, wide, len(first), len(second)) for end in (0.0, 1.0))
    return Interval(share, low, high, min(len(first), len(second)), _error(share, len(first), len(second)), level)


def _error(share: float, first: int, second: int) -> float:
    """Returns the standard error of a probability of superiority that is in truth `share`."""
    more = (first + second) / 2.0 - 1.0
    spread = 1.0 + more * ((1.0 - share) / (2.0 - share) + share / (1.0 + share))
    return math.sqrt(share * (1.0 - share) * spread / (first * second))


def _limit(share: float, end: float, wide: float, first: int, second: int) -> float:
    """Returns the value between `share` and `end` from which `share` is just so far away, by halving."""
    near, far = share, end
    for _ in range(_STEPS):
        middle = (near + far) / 2.0
        inside = abs(middle - share) <= wide * _error(middle, first, second)
        near, far = (middle, far) if inside else (near, middle)
    return near


def holm(probabilities: Sequence[float]) -> tuple[float, ...]:
    """Returns the probabilities of several tests, each raised for there being others, so that any is below 0.05 by chance in one of twenty cases at most (Holm 1979, https://www.jstor.org/stable/4615733)."""
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    raised, before = [1.0] * len(probabilities), 0.0
    for place, index in enumerate(order):
        before = max(before, min(1.0, probabilities[index] * (len(order) - place)))
        raised[index] = before
    return tuple(raised)
