"""Comparisons that only ask which of two values is the larger: tests of one difference, and of many at once.

Any increasing transformation of the values changes nothing, so that a failed run may stand as minus infinity."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby


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
        raise ValueError("a test needs a value of each side. Try: run a campaign of each")
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


def holm(probabilities: Sequence[float]) -> tuple[float, ...]:
    """Returns the probabilities of several tests, each raised for there being others, so that any is below 0.05 by chance in one of twenty cases at most (Holm 1979, https://www.jstor.org/stable/4615733)."""
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    raised, before = [1.0] * len(probabilities), 0.0
    for place, index in enumerate(order):
        before = max(before, min(1.0, probabilities[index] * (len(order) - place)))
        raised[index] = before
    return tuple(raised)
