"""The instances of the task: lists of item sizes drawn from a law, with what no packing can beat.

Invariant: an instance is a function of the task's parameters, the trial's seed and its secret; no candidate is ever handed one, and none can draw one itself."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from evolve import EvolveError

LAWS = ("weibull", "uniform")
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Law:
    """What items are drawn from: `weibull` is rounded and clipped to `low` and `high`; `uniform` has both ends, and ignores shape and scale.
    Each `sample` holds other items."""

    law: str
    shape: float
    scale: float
    low: int
    high: int
    capacity: int
    items: int
    instances: int
    sample: int

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise EvolveError(
                f"items cannot be drawn from the law {self.law!r}. Do: set law to one of {', '.join(LAWS)}"
            )
        if not 1 <= self.low <= self.high <= self.capacity:
            raise EvolveError(
                f"items of {self.low} to {self.high} do not fit bins of {self.capacity}. Do: set 1 <= low <= high <= capacity"
            )
        if min(self.items, self.instances) < 1 or min(self.shape, self.scale) <= 0 or self.sample < 0:
            raise EvolveError(
                "items, instances, shape and scale are positive, and sample is not negative. Do: set them so"
            )


@dataclass(frozen=True, slots=True)
class Instance:
    """Item sizes in their order of arrival. No packing has fewer bins than `volume` (L1) nor than `lower` (L2)."""

    items: tuple[int, ...]
    volume: int
    lower: int


def law_from(parameters: Mapping[str, object]) -> Law:
    """The law that a trial's parameters describe."""
    return Law(**{field.name: parameters[field.name] for field in fields(Law)})  # type: ignore[arg-type]


@functools.lru_cache(maxsize=8)
def drawn(law: Law, entropy: tuple[int, ...]) -> tuple[Instance, ...]:
    """The instances of one trial, whose `entropy` for the law's sample this is."""
    rng = np.random.default_rng(entropy)
    shape = (law.instances, law.items)
    if law.law == "weibull":
        sizes = np.clip(np.rint(rng.weibull(law.shape, shape) * law.scale), law.low, law.high).astype(np.int64)
    else:
        sizes = rng.integers(law.low, law.high, shape, endpoint=True)
    return tuple(
        Instance(tuple(items.tolist()), volume_bound(items, law.capacity), martello_toth_bound(items, law.capacity))
        for items in sizes
    )


def volume_bound(items: Integers, capacity: int) -> int:
    """L1: the bins that the volume of all items fills."""
    return -(-int(items.sum()) // capacity)


def martello_toth_bound(items: Integers, capacity: int) -> int:
    """L2 of Martello and Toth (1990, https://doi.org/10.1016/0166-218X(90)90094-S), the largest over all thresholds k up to half a bin.

    No two items above half a bin share one. Those above capacity - k are alone with items below k, which are left out; what the
    others of them leave free is the only room for items of k to half a bin that needs no further bin."""
    ordered = np.sort(items)
    total = np.concatenate(([0], np.cumsum(ordered)))
    half = int(np.searchsorted(ordered, capacity // 2, side="right"))
    return max(_with_threshold(ordered, total, half, capacity, k) for k in range(capacity // 2 + 1))


def _with_threshold(ordered: Integers, total: Integers, half: int, capacity: int, k: int) -> int:
    alone = int(np.searchsorted(ordered, capacity - k, side="right"))
    first = int(np.searchsorted(ordered, k, side="left"))
    room = (alone - half) * capacity - int(total[alone] - total[half])
    wanted = int(total[half] - total[first])
    return len(ordered) - half + max(0, math.ceil((wanted - room) / capacity))
