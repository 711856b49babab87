"""The smallest pressure of an instance, proven: a placement has a pressure of at most x exactly where the models, each of weight
demand + x * size, fit into bins of 80 x, one for each GPU. So the optimum is found by packing bins exactly, in whole numbers.

The bins are completed one after the other: each begins with the heaviest model that is left, and what it leaves empty comes out of the slack
of all bins together. Source of the method: Korf, A new algorithm for optimal bin packing (2002), https://cdn.aaai.org/AAAI/2002/AAAI02-110.pdf.

Invariant: a bound that is called proven is one; no clock decides how far the search goes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from placement import MEMORY, Instance, greedy, pressure

HALVINGS = 14
"""How often the interval of the optimum is halved before the proof is tried at its upper end."""
_FINEST = 10**6
"""The largest denominator of a pressure between the two ends."""


class GaveUp(Exception):
    """The search took more steps than it may."""


@dataclass(frozen=True, slots=True)
class Bound:
    """No placement has a smaller pressure than `value`; `proven`: one has this pressure."""

    value: Fraction
    proven: bool


def best(instance: Instance, steps: int) -> Bound:
    """The optimum where `steps` of the search are enough for each packing, else a bound that may be below it."""
    demand = sum((Fraction(model.rate, model.slo) for model in instance.models), Fraction(0))
    low = demand / (MEMORY * instance.gpus - sum(model.size for model in instance.models))
    first = greedy(instance)
    if first is None:
        return Bound(low, False)
    high = pressure(instance, first)
    try:
        for _ in range(HALVINGS):
            middle = ((low + high) / 2).limit_denominator(_FINEST)
            if not low < middle < high:
                break
            found = placed(instance, middle, steps)
            low, high = (middle, high) if found is None else (low, pressure(instance, found))
        while (found := placed(instance, high, steps, strictly=True)) is not None:
            high = pressure(instance, found)
    except GaveUp:
        return Bound(low, False)
    return Bound(high, True)


def placed(instance: Instance, most: Fraction, steps: int, *, strictly: bool = False) -> list[int] | None:
    """A placement with a pressure of `most` or less (`strictly`: of less), None where there is none; raises `GaveUp`."""
    common = math.lcm(*(model.slo for model in instance.models))
    top, bottom = (most * common).as_integer_ratio()
    weights = [model.rate * (common // model.slo) * bottom + model.size * top for model in instance.models]
    order = sorted(range(len(weights)), key=lambda index: -weights[index])
    search = _Search([weights[index] for index in order], MEMORY * top - strictly, steps)
    bins = search.filled(tuple(range(len(order))), instance.gpus)
    if bins is None:
        return None
    indices = [0] * len(order)
    for gpu, members in enumerate(bins):
        for member in members:
            indices[order[member]] = gpu
    return indices


class _Search:
    """Packs weights, the heaviest first, into bins of one capacity."""

    def __init__(self, weights: Sequence[int], capacity: int, steps: int) -> None:
        self._weights = weights
        self._capacity = capacity
        self._left = steps

    def filled(self, waiting: tuple[int, ...], bins: int) -> list[tuple[int, ...]] | None:
        """What is waiting, in at most so many bins."""
        if not waiting:
            return []
        slack = bins * self._capacity - sum(self._weights[index] for index in waiting)
        first, others = waiting[0], waiting[1:]
        room = self._capacity - self._weights[first]
        if slack < 0 or room < 0:
            return None
        for chosen in self._chosen(others, room, max(0, room - slack)):
            left = tuple(index for index in others if index not in chosen)
            rest = self.filled(left, bins - 1)
            if rest is not None:
                return [(first, *chosen), *rest]
        return None

    def _chosen(self, others: tuple[int, ...], room: int, least: int) -> Iterator[tuple[int, ...]]:
        """Every choice of the others with a weight from `least` to `room`; of equal weights the first ones, fuller choices before emptier ones."""
        self._left -= 1
        if self._left < 0:
            raise GaveUp
        if least <= 0 and not others:
            yield ()
        if not others or sum(self._weights[index] for index in others) < least:
            return
        first, weight = others[0], self._weights[others[0]]
        if weight <= room:
            for more in self._chosen(others[1:], room - weight, least - weight):
                yield (first, *more)
        without = next((at for at, index in enumerate(others) if self._weights[index] != weight), len(others))
        yield from self._chosen(others[without:], room, least)
