"""The largest circles around given centres, proven not to overlap.

Invariant: the circles of a `Packing` lie in the unit square and do not overlap, in whole numbers: repaired, and then nothing is tolerated.

The linear program is that of the task `circle_packing`. A task must stand alone, so what is needed of it is written here again; a test holds the two
against each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import highspy
import numpy as np

CONTACT = 1e-5
"""A circle that is nearer to a wall than this touches it."""
SCALE = 1 << 60
"""Coordinates and radii are whole multiples of 2**-60, which is finer than floats near 1 are."""
FIRST_STEP = 1 << 8
"""Radii are first made smaller by 2**-52, then by twice as much, and so on."""
TOLERANCE = 1e-10
"""The smallest violation of a constraint that HiGHS can be asked to respect."""
ROWWISE, MAXIMISE = 2, -1

Point = tuple[float, float]
Whole = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Packing:
    """Circles in the unit square, in multiples of 1 / `SCALE`."""

    centres: tuple[Whole, ...]
    radii: tuple[int, ...]

    @property
    def total(self) -> Fraction:
        """The exact sum of the radii."""
        return Fraction(sum(self.radii), SCALE)

    @property
    def at_walls(self) -> int:
        """How many circles touch a wall; one in a corner counts once."""
        gaps = [_wall(centre) - radius for centre, radius in zip(self.centres, self.radii, strict=True) if radius]
        return sum(gap < CONTACT * SCALE for gap in gaps)


def centres_from(answer: object, count: int) -> tuple[Point, ...]:
    """A candidate's answer as `count` points, moved into the unit square. Raises `ValueError` for anything that is not a list
    of `count` pairs of finite real numbers."""
    pairs = _listed(answer, (count, 2))
    if not isinstance(pairs, list) or len(pairs) != count:
        got = f"{len(pairs)} of them" if isinstance(pairs, list) else _named(answer)
        raise ValueError(f"pack() must return a list of {count} pairs [x, y], got {got}")
    return tuple(_point(index, _listed(pair, (2,))) for index, pair in enumerate(pairs))


def _listed(value: object, shape: tuple[int, ...]) -> object:
    """An array of this shape as a list, and anything else as it is. An array is looked at before it is converted: one of no numbers
    can have any length, at no cost to the program."""
    return value.tolist() if isinstance(value, np.ndarray) and value.shape == shape else value


def _named(value: object) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"


def _point(index: int, pair: object) -> Point:
    """Exact types, because `True` is an `int`."""
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError(f"centre {index} must be a pair [x, y], got {_named(pair)}")
    for value in pair:
        if type(value) not in (int, float) or not -math.inf < value < math.inf:
            raise ValueError(f"a coordinate of centre {index} must be a finite number, got a {type(value).__name__}")
    x, y = (float(min(max(value, 0), 1)) for value in pair)
    return x, y


def packed(centres: Sequence[Point]) -> Packing:
    """The circles around `centres` with the largest sum of radii, made smaller until they provably do not overlap."""
    whole = tuple((round(x * SCALE), round(y * SCALE)) for x, y in centres)
    radii = [math.floor(radius * SCALE) for radius in _best_radii(np.array(centres, dtype=np.float64))]
    step = FIRST_STEP
    while not _holds(whole, radii):
        radii = [max(radius - step, 0) for radius in radii]
        step *= 2
    return Packing(whole, tuple(radii))


def _holds(centres: Sequence[Whole], radii: Sequence[int]) -> bool:
    if not all(0 <= radius <= _wall(centre) for centre, radius in zip(centres, radii, strict=True)):
        return False
    circles = zip(centres, radii, strict=True)
    return all((r + s) ** 2 <= (x - u) ** 2 + (y - v) ** 2 for ((x, y), r), ((u, v), s) in combinations(circles, 2))


def _wall(centre: Whole) -> int:
    """The distance to the nearest wall."""
    x, y = centre
    return min(x, y, SCALE - x, SCALE - y)


def _best_radii(points: np.ndarray) -> list[float]:
    """A linear program: the sum of radii is largest, each at most its wall's distance, each two at most the distance of their centres.

    What the solver tolerates is taken off again, up to the rounding of this function."""
    first, second = np.triu_indices(len(points), 1)
    distances = np.hypot(*(points[first] - points[second]).T)
    walls = np.minimum(points, 1.0 - points).min(axis=1)
    count, rows = len(points), len(first)
    solver = highspy.Highs()
    solver.silent()
    for option, value in (("presolve", "off"), ("solver", "simplex"), ("threads", 1)):
        solver.setOptionValue(option, value)
    solver.setOptionValue("primal_feasibility_tolerance", TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", TOLERANCE)
    solver.passModel(
        count,
        rows,
        2 * rows,
        ROWWISE,
        MAXIMISE,
        0.0,
        np.ones(count),
        np.zeros(count),
        walls,
        np.full(rows, -np.inf),
        distances,
        np.arange(0, 2 * rows + 1, 2, dtype=np.int32),
        np.column_stack((first, second)).astype(np.int32).ravel(),
        np.ones(2 * rows),
        np.zeros(count, dtype=np.int32),
    )
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal, "radii of 0 are feasible and walls bound them"
    radii = np.clip(solver.getSolution().col_value, 0.0, walls)
    overlap = np.max(radii[first] + radii[second] - distances, initial=0.0)
    smaller: list[float] = np.maximum(radii - overlap / 2, 0.0).tolist()
    return smaller
