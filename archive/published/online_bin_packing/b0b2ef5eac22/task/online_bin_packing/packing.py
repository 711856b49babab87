"""Online packing: the judge's own loop, in whole numbers.

Invariant: every item is in one bin and no bin holds more than its capacity, whatever the choices were."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Choose: TypeAlias = Callable[[int, Integers], int]
"""Gets an item and the room left in every bin in the order of opening, the last one new; gives the index of a bin with enough room."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Bins in the order of opening, by the room left in each. `early` items went into a new bin while an open one could take them."""

    residuals: tuple[int, ...]
    early: int


def packed(items: Sequence[int], capacity: int, choose: Choose) -> Packing:
    """Puts item after item where `choose` says, and shows it no item before its turn."""
    residual = np.full(len(items) + 1, capacity, dtype=np.int64)
    used = early = 0
    for item in items:
        index = choose(item, residual[: used + 1])
        assert 0 <= index <= used, "a choice is one of the bins that were shown"
        assert residual[index] >= item, "a choice has enough room"
        if index == used:
            early += bool((residual[:used] >= item).any())
            used += 1
        residual[index] -= item
    assert int(capacity * used - residual[:used].sum()) == sum(items), "what was packed is what came"
    return Packing(tuple(residual[:used].tolist()), early)


def room_left(packings: Sequence[Packing], capacity: int) -> list[int]:
    """How many bins have 0, 1, ... and `capacity` left."""
    count = Counter(residual for packing in packings for residual in packing.residuals)
    return [count[room] for room in range(capacity + 1)]


def entropy_bits(counts: Sequence[int]) -> float:
    """The entropy of how much room is left in a bin: 0 where all bins are alike."""
    share = np.array([count for count in counts if count]) / sum(counts)
    return float(np.abs((share * np.log2(share)).sum()))
