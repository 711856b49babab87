"""Cells of the archive: the bins of a grid over the axes, or regions around centroids.

Regions around centroids are as many as one wants however many axes there are: CVT-MAP-Elites (Vassiliades, Chatzilygeroudis and Mouret 2016,
https://arxiv.org/abs/1610.05729). They are equal on every machine and at every replay: places are whole numbers of `UNITS` of an axis, so
that every distance and every sum is a whole number below 2**53, which floating-point numbers hold exactly in whatever order they are added;
the samples are raw bits of a generator whose stream never changes."""

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evolve.types import Axis


class Axes:
    """Axes that a program's descriptors lie on. Raises `ValueError` for an axis that has no cells."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        for axis in axes:
            if not (axis.bins >= 1 and -math.inf < axis.low < axis.high < math.inf):
                raise ValueError(f"axis {axis.name!r} needs finite low < high and at least one bin, got {axis}")
        self.axes = tuple(axes)
        self.names = tuple(axis.name for axis in axes)

    def holds(self, descriptors: Mapping[str, float]) -> bool:
        """Reports whether each axis has a finite value there."""
        return all(map(math.isfinite, [descriptors.get(name, math.nan) for name in self.names]))

    def point(self, descriptors: Mapping[str, float]) -> tuple[float, ...]:
        """Returns the axes' values in their order; raises `ValueError` where one is missing or not finite."""
        if not self.holds(descriptors):
            raise ValueError(
                f"every axis needs a finite descriptor: wanted {', '.join(self.names)}, got {dict(descriptors)}"
            )
        return tuple(descriptors[name] for name in self.names)


class Grid(Axes):
    """A regular grid over the axes; the last axis runs fastest (C order). Without axes there is one cell."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        super().__init__(axes)
        self.cells = math.prod(axis.bins for axis in axes)
        self._steps = tuple((axis.low, axis.high - axis.low, axis.bins, axis.bins - 1) for axis in axes)

    def cell(self, point: Sequence[float]) -> int:
        """Returns the flat index of the cell that holds a point."""
        index = 0
        for value, (low, width, bins, last) in zip(point, self._steps, strict=True):
            # Clamped before it is an integer: a huge value times the bins may be infinite.
            place = min(max((value - low) / width, 0.0), 1.0)
            index = index * bins + min(int(place * bins), last)
        return index


UNITS = 1 << 20
"""How many units an axis has, from its `low` to its `high`."""
SAMPLES = 10
"""Uniform samples for each centroid."""
ROUNDS = 5
"""Of Lloyd's algorithm (https://doi.org/10.1109/TIT.1982.1056489); more of them change next to nothing."""
_SEED = 0xCE117
_AT_ONCE = 1 << 15
"""Distances that are held in memory at once."""

Places = npt.NDArray[np.float64]


class Centroids(Axes):
    """A centroidal Voronoi tessellation of the box of the axes, whose bins do not count. The same questions as of a `Grid`."""

    def __init__(self, axes: Sequence[Axis], count: int) -> None:
        if not axes:
            raise ValueError("regions around centroids need an axis, got none. Try: use a grid")
        super().__init__(axes)
        self.cells = count
        self.centroids = make_centroids(len(axes), count)
        self._squares = (self.centroids**2).sum(axis=1)
        self._ranges = tuple((axis.low, axis.high - axis.low) for axis in axes)

    def cell(self, point: Sequence[float]) -> int:
        """Returns the centroid that is nearest to a point, by the shares of the axes; values outside an axis clamp to its border. The first of
        equally near ones. The cost grows with the number of centroids: 6 microseconds for a thousand, 10 for five thousand."""
        shares = (
            min(max((value - low) / width, 0.0), 1.0) for value, (low, width) in zip(point, self._ranges, strict=True)
        )
        place = np.array([float(round(share * UNITS)) for share in shares])
        return int(np.argmin(self._squares - 2.0 * (self.centroids @ place)))


@functools.cache
def make_centroids(dimensions: int, count: int) -> Places:
    """Returns `count` centroids in a cube of `UNITS`, one row each: k-means of uniform samples. Read-only. The cost grows with the square of
    `count`: a tenth of a second for a thousand, two seconds for five thousand."""
    samples = _samples(dimensions, SAMPLES * count)
    found = samples[:count].copy()
    for _ in range(ROUNDS):
        nearest = _nearest(samples, found)
        sizes = np.bincount(nearest, minlength=count)
        for axis in range(dimensions):
            sums = np.bincount(nearest, samples[:, axis], minlength=count)
            found[:, axis] = np.where(sizes > 0, np.rint(sums / np.maximum(sizes, 1)), found[:, axis])
    found.flags.writeable = False
    return found


def _samples(dimensions: int, count: int) -> Places:
    bits = np.random.PCG64(_SEED).random_raw(dimensions * count)
    return (bits >> np.uint64(44)).astype(np.float64).reshape(count, dimensions)


def _nearest(samples: Places, found: Places) -> npt.NDArray[np.intp]:
    squares, step = (found**2).sum(axis=1), max(1, _AT_ONCE // len(found))
    parts = [samples[start : start + step] for start in range(0, len(samples), step)]
    return np.concatenate([np.argmin(squares - 2.0 * (part @ found.T), axis=1) for part in parts])
