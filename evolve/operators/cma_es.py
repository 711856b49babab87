"""CMA-ES with an ask and tell interface: one descent from one starting point, in units of each coordinate's scale.

After N. Hansen, The CMA Evolution Strategy: A Tutorial (https://arxiv.org/abs/1604.00772), with negative weights for the worse half;
above `FULL` dimensions the covariance is diagonal (Ros and Hansen 2008, https://doi.org/10.1007/978-3-540-87700-4_30).

The state is a function of the points and fitnesses told, in their order; asking changes nothing. Points may be told late, in
any order and from earlier distributions: a step that is too long for the present one is shortened to the longest that counts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Vector = NDArray[np.float64]
"""Shape (dimension,)."""

FULL = 200
_SMALLEST_RATIO = 1e-7
_LARGEST = 1e4
_SKIPS = 4
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class DescentPlan:
    """Plan of a descent: its first step size in scales, how many results make a generation, and when it is over.

    It has converged when every step is below `smallest` of the first; it stagnates when its best result gained less than `gain` of
    the first generation's spread (best to median) over `patience * (10 + 30 * dimension / population)` generations."""

    sigma: float
    population: int
    smallest: float = 1e-5
    gain: float = 0.02
    patience: float = 1.0


@dataclass(frozen=True, slots=True)
class LearningRates:
    """Weights and learning rates for a dimension and a population, as in table 1 of the tutorial."""

    weights: Vector
    parents: int
    mass: float
    sigma: float
    damping: float
    path: float
    one: float
    rank: float
    length: float
    longest: float

    @classmethod
    def of(cls, dimension: int, population: int) -> "LearningRates":
        """Returns the tutorial's defaults; a diagonal covariance learns (dimension + 2) / 3 times as fast."""
        n, full = dimension, dimension <= FULL
        raw = math.log((population + 1) / 2) - np.log(np.arange(1, population + 1))
        parents = population // 2
        mass = float(raw[:parents].sum() ** 2 / (raw[:parents] ** 2).sum())
        lost = float(raw[parents:].sum() ** 2 / (raw[parents:] ** 2).sum())
        faster = 1.0 if full else (n + 2) / 3
        one = min(0.5, faster * 2 / ((n + 1.3) ** 2 + mass))
        rank = min(0.9 - one, faster * 2 * (0.25 + mass + 1 / mass - 2) / ((n + 2) ** 2 + mass))
        sigma = (mass + 2) / (n + mass + 5)
        negative = min(1 + one / rank, 1 + 2 * lost / (mass + 2), (1 - one - rank) / (n * rank))
        weights = np.where(raw > 0, raw / raw[raw > 0].sum(), negative * raw / -raw[raw < 0].sum())
        return cls(
            weights=weights,
            parents=parents,
            mass=mass,
            sigma=sigma,
            damping=1 + 2 * max(0.0, math.sqrt((mass - 1) / (n + 1)) - 1) + sigma,
            path=(4 + mass / n) / (n + 4 + 2 * mass / n),
            one=one,
            rank=rank,
            length=math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n)),
            longest=math.sqrt(n) + 2 * n / (n + 2),
        )

    def weights_for(self, worked: int) -> Vector:
        """Returns the weights of a ranked generation of which only the first `worked` results are no failures."""
        weights = self.weights.copy()
        if worked < self.parents:
            weights[worked : self.parents] = 0.0
            weights[:worked] /= weights[:worked].sum()
        return weights


class RankedPoint(NamedTuple):
    """Result at a point; the smaller rank is better."""

    rank: tuple[float, float]
    point: Vector


class Descent:
    """A distribution that moves uphill; `mean` and points are in scales, relative to the starting point."""

    def __init__(self, dimension: int, plan: DescentPlan) -> None:
        self.plan = plan
        self.dimension = dimension
        self.generation = 0
        self.finished = ""
        self.mean: Vector = np.zeros(dimension)
        self.sigma = plan.sigma
        self._rates = LearningRates.of(dimension, plan.population)
        self._told: list[RankedPoint] = []
        self._skipped = 0
        self._shape = Shape(dimension)
        self._step_path: Vector = np.zeros(dimension)
        self._shape_path: Vector = np.zeros(dimension)
        self._best: list[float] = []
        self._spread = 0.0

    def ask(self, rng: Generator) -> Vector:
        """Returns a point to try."""
        return self.mean + self.sigma * self._shape.stretch(rng.standard_normal(self.dimension))

    def deviations(self) -> Vector:
        """Returns the standard deviation of each coordinate of the next point."""
        return self.sigma * self._shape.deviations()

    def skip(self) -> None:
        """Counts a point that was never evaluated; a descent whose points are all known already is over."""
        self._skipped += 1
        if self._skipped >= _SKIPS * self.plan.population:
            self.finished = "exhausted"

    def tell(self, point: Vector, fitness: float | None, violation: float = 0.0) -> None:
        """Takes the fitness at a point, larger is better, None for a failure; a full generation moves the distribution. What misses a
        constraint comes after all that meets them, the smaller violation first, and before failures."""
        if self.finished:
            return
        rank = (math.inf, 0.0) if fitness is None else (violation, -fitness)
        self._told.append(RankedPoint(rank, point))
        if len(self._told) < self.plan.population:
            return
        # Stable: equal results keep the order in which they were told.
        ranked = sorted(self._told, key=lambda one: one.rank)
        self._told, self._skipped = [], 0
        self.generation += 1
        self._move([one.point for one in ranked], worked=sum(one.rank[0] < math.inf for one in ranked))
        self._assess([-one.rank[1] if one.rank[0] == 0.0 else -math.inf for one in ranked])

    def _move(self, points: Sequence[Vector], worked: int) -> None:
        """Moves by one generation, best first, of which so many worked. Where nothing did the steps become smaller, and nothing else is known."""
        if worked == 0:
            self.sigma *= 0.7
            return
        steps = (np.array(points) - self.mean) / self.sigma
        round_steps = self._shape.whiten(steps)
        # Points of earlier distributions may be far away from this one; at full length they would tear it apart.
        lengths = np.sqrt((round_steps**2).sum(axis=1))
        shorter = np.minimum(1.0, self._rates.longest / np.maximum(lengths, _TINY))
        steps, round_steps, lengths = steps * shorter[:, None], round_steps * shorter[:, None], lengths * shorter
        weights = self._rates.weights_for(worked)
        positive = np.maximum(weights, 0.0)
        shift = positive @ steps
        self.mean = self.mean + self.sigma * shift
        self._follow(shift, positive @ round_steps)
        # A negative weight counts for a step of the expected length, which keeps the covariance positive.
        weights = np.where(weights < 0, weights * self.dimension / np.maximum(lengths**2, _TINY), weights)
        self._shape.learn(self._shape_path, steps, weights, self._rates)

    def _follow(self, shift: Vector, round_shift: Vector) -> None:
        """Updates both evolution paths, and the step size from the length of the first."""
        rates = self._rates
        gain = math.sqrt(rates.sigma * (2 - rates.sigma) * rates.mass)
        self._step_path = (1 - rates.sigma) * self._step_path + gain * round_shift
        length = float(np.linalg.norm(self._step_path)) / rates.length
        warm = math.sqrt(1 - (1 - rates.sigma) ** (2 * self.generation))
        self._shape_path = (1 - rates.path) * self._shape_path
        if length < warm * (1.4 + 2 / (self.dimension + 1)):
            self._shape_path += math.sqrt(rates.path * (2 - rates.path) * rates.mass) * shift
        # One generation of late points may not blow up the step size.
        self.sigma *= math.exp(min(1.0, rates.sigma / rates.damping * (length - 1)))

    def _assess(self, fitnesses: Sequence[float]) -> None:
        """Sets `finished` when the descent has converged, stagnates, left for values of another order, or lost its shape. Only what
        meets the constraints is progress."""
        plan, best = self.plan, fitnesses[0]
        if not self._spread and best > -math.inf:
            self._spread = best - max(fitnesses[len(fitnesses) // 2], fitnesses[0] - 1e300)
        self._best.append(max(best, self._best[-1]) if self._best else best)
        window = math.ceil(plan.patience * (10 + 30 * self.dimension / plan.population))
        longest = float(self.deviations().max())
        if self._shape.degenerate:
            self.finished = "degenerate"
        elif longest < plan.smallest * plan.sigma:
            self.finished = "converged"
        elif longest > _LARGEST * plan.sigma:
            self.finished = "outgrown"
        elif len(self._best) > window and not self._best[-1] - self._best[-1 - window] > plan.gain * self._spread:
            self.finished = "stagnated"


class Shape:
    """A covariance and its Cholesky root, which is made again only when enough was learned since; both are vectors where the
    covariance is diagonal. The root stands in for the tutorial's symmetric one: it costs a fortieth, and differs by a rotation."""

    def __init__(self, dimension: int) -> None:
        self.degenerate = False
        self._full = dimension <= FULL
        # Vectors until the first generation is told: a campaign may know thousands of skeletons and pursue a few.
        self._covariance: Vector = np.ones(dimension)
        self._root: Vector = self._covariance
        self._inverse: Vector = self._covariance
        self._learned = 0.0

    def stretch(self, round_step: Vector) -> Vector:
        """Returns a standard normal vector as a step of this shape."""
        step: Vector = self._root @ round_step if self._root.ndim == 2 else self._root * round_step
        return step

    def whiten(self, steps: Vector) -> Vector:
        """Returns steps of this shape, one in each row, as standard normal ones."""
        return steps @ self._inverse.T if self._root.ndim == 2 else steps * self._inverse

    def deviations(self) -> Vector:
        """Returns the standard deviation of each coordinate."""
        deviations: Vector = np.linalg.norm(self._root, axis=1) if self._root.ndim == 2 else self._root
        return deviations

    def learn(self, path: Vector, steps: Vector, weights: Vector, rates: LearningRates) -> None:
        """Updates the covariance from the path, of rank one, and from the steps."""
        keep = 1 - rates.one - rates.rank * float(rates.weights.sum())
        if self._full:
            new = rates.one * np.outer(path, path) + rates.rank * (steps.T * weights) @ steps
        else:
            new = rates.one * path**2 + rates.rank * (weights @ steps**2)
        old = np.diag(self._covariance) if self._full and self._covariance.ndim == 1 else self._covariance
        self._covariance = keep * old + new
        self._learned += rates.one + rates.rank
        if 10 * len(path) * self._learned >= 1:
            self._learned = 0.0
            self._take_root()

    def _take_root(self) -> None:
        """Takes the root and its inverse; a covariance that has lost its digits has none, and makes the shape degenerate."""
        try:
            found = np.linalg.cholesky(self._covariance) if self._full else np.sqrt(np.maximum(self._covariance, 0.0))
        except np.linalg.LinAlgError:
            self.degenerate = True
            return
        root: Vector = found.astype(np.float64)
        lengths = np.diag(root) if self._full else root
        self.degenerate = bool(lengths.min() < _SMALLEST_RATIO * lengths.max())
        if not self.degenerate:
            self._root = root
            self._inverse = np.linalg.inv(root).astype(np.float64) if self._full else 1 / root
