"""The geometry of the task: what a candidate answered, repaired, with the best radii for its centres.

Invariant: the circles of a `Packing` lie in the unit square and do not overlap; the default margin covers the rounding of this file."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

CONTACT = 1e-5
"""Two circles, or a circle and a wall, that are nearer than this touch."""
ROUNDING = 2.0**-51
"""More than the error of a distance in the unit square, as it is computed here."""
TOLERANCE = 1e-10
"""The smallest violation of a constraint that HiGHS can be asked to respect."""
PREFERENCE = 1e-6
"""Far above the tolerance of HiGHS, far below what separates one packing from another."""
ROWWISE, MAXIMISE = 2, -1
SIDES = 4

Point = tuple[float, float]
Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Contacts:
    """Which circles touch each other, and which touch a side (0 left, 1 bottom, 2 right, 3 top: neighbours differ by 1)."""

    pairs: tuple[tuple[int, int], ...]
    sides: tuple[tuple[int, int], ...]

    @property
    def at_walls(self) -> int:
        """How many circles touch a wall; one in a corner counts once."""
        return len({circle for circle, _ in self.sides})


@dataclass(frozen=True, slots=True)
class Packing:
    """Circles in the unit square."""

    centres: tuple[Point, ...]
    radii: tuple[float, ...]

    @property
    def total(self) -> float:
        """The sum of the radii."""
        return math.fsum(self.radii)

    @property
    def radius_cv(self) -> float:
        """Standard deviation of the radii over their mean; 0 where all radii are 0."""
        return float(np.std(self.radii) / np.mean(self.radii)) if any(self.radii) else 0.0


def centres_from(answer: object, count: int) -> tuple[Point, ...]:
    """A candidate's answer as `count` points, moved into the unit square. Raises `ValueError` for anything that is not a list
    of `count` pairs of finite real numbers."""
    pairs = _listed(answer, (count, 2))
    if pairs is None:
        raise ValueError(f"centres() must return a list of {count} pairs [x, y], got {_shortened(answer)}")
    if len(pairs) != count:
        raise ValueError(f"centres() must return {count} pairs [x, y], got {len(pairs)}")
    return tuple(_point(index, pair) for index, pair in enumerate(pairs))


def _listed(value: object, shape: tuple[int, ...]) -> Sequence[object] | None:
    """A list, a tuple, or an array of this shape as a sequence of plain Python values; None for anything else. An array is looked at
    before it is converted: one of no numbers can have any length, at no cost to the program."""
    if isinstance(value, np.ndarray):
        plain: Sequence[object] | None = value.tolist() if value.shape == shape else None
        return plain
    return value if isinstance(value, list | tuple) else None


def _point(index: int, answer: object) -> Point:
    pair = _listed(answer, (2,))
    if pair is None or len(pair) != 2:
        raise ValueError(f"centre {index} must be a pair [x, y], got {_shortened(answer)}")
    return _coordinate(index, pair[0]), _coordinate(index, pair[1])


def _coordinate(index: int, value: object) -> float:
    """Exact types, because `bool` is an `int` and a subclass may compare as it likes."""
    if type(value) is not float and type(value) is not int:
        raise ValueError(f"a coordinate of centre {index} must be a number, got {_shortened(value)}")
    if not -math.inf < value < math.inf:
        raise ValueError(f"a coordinate of centre {index} must be finite, got {value}")
    return float(min(max(value, 0), 1))


def _shortened(value: object) -> str:
    """The type of `value`, with its length or, where it is short by nature, itself."""
    name = type(value).__name__
    if isinstance(value, str | list | tuple | dict):
        return f"{name} of length {len(value)}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"an array of shape {value.shape}"
    return f"{name} {value!r}" if isinstance(value, bool | float | complex) else name


def packed(centres: Sequence[Point], margin: float = ROUNDING, preference: float = 0.0) -> Packing:
    """The circles around `centres` with the largest sum of radii; `margin` off each radius keeps rounding from letting two overlap.

    Often several choices of radii have the same sum. `preference` is a weight on circles far from the middle of the square that
    decides between them, alike for mirrored and reordered copies; it must be tiny, because the sum pays for it."""
    points = np.array(centres, dtype=np.float64)
    walls = np.minimum(points, 1.0 - points).min(axis=1)
    first, second, distances = _distances(points)
    weights = 1.0 + preference * ((points - 0.5) ** 2).sum(axis=1)
    radii = _best_radii(weights, walls, first, second, distances)
    overlap = np.max(radii[first] + radii[second] - distances, initial=0.0) / 2
    excess = max(float(overlap), float(np.max(radii - walls)), 0.0) + margin
    return Packing(tuple(centres), tuple(np.maximum(radii - excess, 0.0).tolist()))


def _distances(points: Array) -> tuple[Indices, Indices, Array]:
    """The distance of every two points, once, beside the numbers of the two."""
    first, second = np.triu_indices(len(points), 1)
    return first, second, np.hypot(*(points[first] - points[second]).T)


def _best_radii(weights: Array, walls: Array, first: Indices, second: Indices, distances: Array) -> Array:
    """Maximises the weighted sum of radii, a linear program: each at most its wall's distance, each two at most the distance of their centres.

    A radius is also at most the distance to the nearest centre, because the other one is not negative; pairs whose bounds cannot
    reach each other are left out, which leaves about 40 rows of 325."""
    upper = walls.copy()
    np.minimum.at(upper, first, distances)
    np.minimum.at(upper, second, distances)
    near = upper[first] + upper[second] > distances
    columns = np.column_stack((first[near], second[near])).astype(np.int32).ravel()
    count, rows = len(walls), int(near.sum())
    solver = _solver()
    solver.passModel(
        count,
        rows,
        2 * rows,
        ROWWISE,
        MAXIMISE,
        0.0,
        weights,
        np.zeros(count),
        upper,
        np.full(rows, -np.inf),
        distances[near],
        np.arange(0, 2 * rows + 1, 2, dtype=np.int32),
        columns,
        np.ones(2 * rows),
        np.zeros(count, dtype=np.int32),
    )
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal, "radii of 0 are feasible and walls bound them"
    return np.clip(np.array(solver.getSolution().col_value, dtype=np.float64), 0.0, upper)


def _solver() -> highspy.Highs:
    """A fresh one for each program, so that no score depends on what was judged before. Presolve costs more than it saves."""
    solver = highspy.Highs()
    solver.silent()
    for option, value in (("presolve", "off"), ("solver", "simplex"), ("threads", 1)):
        solver.setOptionValue(option, value)
    solver.setOptionValue("primal_feasibility_tolerance", TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", TOLERANCE)
    return solver


def contacts(packing: Packing) -> Contacts:
    """What touches what; a circle of radius 0 touches nothing."""
    points, radii = np.array(packing.centres), np.array(packing.radii)
    solid = radii > CONTACT
    first, second, distances = _distances(points)
    gaps = distances - radii[first] - radii[second]
    touching = (gaps < CONTACT) & solid[first] & solid[second]
    reach = np.hstack((points, 1.0 - points)) - radii[:, None]
    circles, sides = np.nonzero((reach < CONTACT) & solid[:, None])
    return Contacts(
        tuple(zip(first[touching].tolist(), second[touching].tolist(), strict=True)),
        tuple(zip(circles.tolist(), sides.tolist(), strict=True)),
    )


def fingerprint(centres: Sequence[Point]) -> str:
    """Names the graph of contacts of the best circles around `centres`, whatever the order of the circles and however the square is turned or mirrored.

    A polished copy has the same name, because the radii of a packing that cannot be improved leave no choice."""
    return graph_name(len(centres), contacts(packed(centres, preference=PREFERENCE)))


def graph_name(count: int, touch: Contacts) -> str:
    """The name of the graph of contacts between `count` circles and the sides.

    The four sides are nodes in a ring, whose symmetries are those of the square. Colours are refined by the colours of the
    neighbours (Weisfeiler and Leman, https://arxiv.org/abs/2201.07083) until no further colour appears."""
    edges = [*touch.pairs, *((circle, count + side) for circle, side in touch.sides)]
    edges += [(count + side, count + (side + 1) % SIDES) for side in range(SIDES)]
    neighbours: list[list[int]] = [[] for _ in range(count + SIDES)]
    for one, other in edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    return _refined(["circle"] * count + ["side"] * SIDES, neighbours)


def _refined(colours: list[str], neighbours: list[list[int]]) -> str:
    kinds = 0
    while len(set(colours)) > kinds:
        kinds = len(set(colours))
        colours = [
            _hash([colour, *sorted(colours[node] for node in near)])
            for colour, near in zip(colours, neighbours, strict=True)
        ]
    return _hash(sorted(colours))


def _hash(parts: list[str]) -> str:
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]
