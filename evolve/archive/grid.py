"""Which cell a program belongs to: the axes' bins, counted in one flat index.

Invariant: every finite point has exactly one cell; values outside an axis clamp to its border bin."""

import math
from collections.abc import Mapping, Sequence

from evolve.types import Axis


class Grid:
    """A regular grid over the axes; the last axis runs fastest (C order). Without axes there is one cell."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = tuple(axes)
        self.names = tuple(axis.name for axis in axes)
        check(axes)
        self.cells = math.prod(axis.bins for axis in axes)
        self._steps = tuple((axis.low, axis.high - axis.low, axis.bins, axis.bins - 1) for axis in axes)

    def holds(self, descriptors: Mapping[str, float]) -> bool:
        """Whether each axis has a finite value there."""
        return complete(self.names, descriptors)

    def point(self, descriptors: Mapping[str, float]) -> tuple[float, ...]:
        """The axes' values in their order; raises `ValueError` where one is missing or not finite."""
        return values_of(self.names, descriptors)

    def cell(self, point: Sequence[float]) -> int:
        """The flat index of the cell that holds a point."""
        index = 0
        for value, (low, width, bins, last) in zip(point, self._steps, strict=True):
            # Clamped before it is an integer: a huge value times the bins may be infinite.
            place = min(max((value - low) / width, 0.0), 1.0)
            index = index * bins + min(int(place * bins), last)
        return index


def check(axes: Sequence[Axis]) -> None:
    """Raises `ValueError` for an axis that has no cells."""
    for axis in axes:
        if not (axis.bins >= 1 and -math.inf < axis.low < axis.high < math.inf):
            raise ValueError(f"axis {axis.name!r} needs finite low < high and at least one bin, got {axis}")


def complete(names: Sequence[str], descriptors: Mapping[str, float]) -> bool:
    """Whether each of these names has a finite value."""
    return all(map(math.isfinite, [descriptors.get(name, math.nan) for name in names]))


def values_of(names: Sequence[str], descriptors: Mapping[str, float]) -> tuple[float, ...]:
    """The descriptors of these names in their order; raises `ValueError` where one is missing or not finite."""
    if not complete(names, descriptors):
        raise ValueError(f"every axis needs a finite descriptor: wanted {', '.join(names)}, got {dict(descriptors)}")
    return tuple(descriptors[name] for name in names)
