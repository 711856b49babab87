"""Pareto front over a task's objectives, and the hypervolume that it dominates.

No member covers another. A point covers another one where it is no smaller in any objective, and of equal points the earlier program's
covers the later one's. Members are exactly the programs that may hold a place, meet the constraints, and are covered by none such; nothing is
confirmed or certified for it: a program becomes a member by what was measured until now, and leaves by what is measured later. An event
compares one point with the front; only where a member leaves or gets worse, the columns are searched for those it covered."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evolve.archive.evidence import Evidence
from evolve.types import Objective

Points = npt.NDArray[np.float64]


class Front:
    """Members and their points, one row each. Members are program numbers. Larger is better in every objective."""

    def __init__(self, dimensions: int) -> None:
        self._numbers = np.empty(0, np.intp)
        self._points = np.empty((0, dimensions))

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, program: int) -> bool:
        return bool((self._numbers == program).any())

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._numbers.tolist()))

    def point(self, program: int) -> Points:
        """Returns the point of a member."""
        place = int(np.flatnonzero(self._numbers == program)[0])
        point: Points = self._points[place]
        return point

    def offer(self, program: int, values: Sequence[float]) -> int:
        """Offers a program that is no member; returns the member that covers it, itself where it became one."""
        point = np.array(values)
        # Of equal points the earlier program stays, so that the order of events decides and not that of rows.
        earlier = (self._numbers < program) | (self._points != point).any(axis=1)
        covering = (self._points >= point).all(axis=1) & earlier
        if covering.any():
            return int(self._numbers[np.argmax(covering)])
        kept = ~(self._points <= point).all(axis=1)
        self._numbers = np.append(self._numbers[kept], program)
        self._points = np.vstack([self._points[kept], point])
        return program

    def remove(self, program: int) -> Points:
        """Removes a member; returns the point that it had."""
        point, kept = self.point(program), self._numbers != program
        self._numbers, self._points = self._numbers[kept], self._points[kept]
        return point


def hypervolume(points: Points, reference: Points) -> float:
    """Returns the volume of what lies beyond `reference` (one number per objective) and is covered by one of `points` (one row each); larger is
    better in every objective. The time grows fast with the number of objectives: about a second for
    5,000 points of three, 1,000 of four or 200 of five."""
    inside = points[(points > reference).all(axis=1)] - reference
    return _volume(inside)


def _volume(points: Points) -> float:
    """Sums slices, from the best to the worst in the last objective: each point adds its height times the area that no better one covers,
    as in WFG (While, Bradstreet and Barone 2012, https://doi.org/10.1109/TEVC.2010.2077298)."""
    if points.shape[1] <= 2:
        return _area(points)
    bases = np.empty((0, points.shape[1] - 1))
    total = 0.0
    for point in points[np.argsort(-points[:, -1], kind="stable")]:
        base, height = point[:-1], float(point[-1])
        covered = np.minimum(bases, base)
        total += height * (float(base.prod()) - _volume(covered if len(base) == 2 else _drop_covered(covered)))
        bases = np.vstack([bases[~(bases <= base).all(axis=1)], base])
    return total


def _area(points: Points) -> float:
    """Returns the area, along a staircase from its lowest step; in one dimension, the largest."""
    if points.shape[1] == 1:
        return float(points.max(initial=0.0))
    points = points[np.argsort(-points[:, 0], kind="stable")]
    rises = np.diff(np.maximum.accumulate(points[:, 1]), prepend=0.0)
    return float(points[:, 0] @ rises)


def _drop_covered(points: Points) -> Points:
    """Returns the points that no other one covers, each once."""
    left = points[np.argsort(-points.sum(axis=1), kind="stable")]
    kept = [left[:0]]
    while len(left):
        kept.append(left[:1])
        left = left[~(left <= left[0]).all(axis=1)]
    return np.concatenate(kept)


class Pareto:
    """Pareto front of the archive. `front` holds numbers of the evidence. `seed` is the first seed, from whose objectives the hypervolume begins where the task does
    not say otherwise."""

    def __init__(self, evidence: Evidence, objectives: Sequence[Objective]) -> None:
        self.front = Front(len(objectives))
        self.seed: int | None = None
        self._evidence = evidence
        self._objectives = tuple(objectives)

    def update(self, program: int) -> None:
        """Updates the front after a change of what is known of a program, or of whether it may hold a place."""
        if not self._objectives:
            return
        evidence, gone = self._evidence, None
        point = evidence.figures.point(program)
        may_be = evidence.alive(program) and evidence.figures.feasible(program)
        if program in self.front:
            if may_be and self.front.point(program).tolist() == point.tolist():
                return
            gone = self.front.remove(program)
        if may_be:
            self.front.offer(program, point)
        if gone is not None:
            self._admit(gone)

    def rebuild(self) -> None:
        """Makes the front anew after a change of hardware."""
        self.front = Front(len(self._objectives))
        if self._objectives and len(self._evidence):
            self._admit(np.full(len(self._objectives), np.inf))

    def _admit(self, gone: Points) -> None:
        """Admits the programs that a point which left the front alone has covered. The largest sum cannot be covered by a smaller one,
        so that each look at the front settles one member and all that it covers."""
        numbers, points = self._find_covered(gone)
        while len(numbers):
            first = int(numbers[0])
            member = first if first in self.front else self.front.offer(first, points[0])
            left = ~(points <= self.front.point(member)).all(axis=1)
            numbers, points = numbers[left], points[left]

    def _find_covered(self, point: Points) -> tuple[npt.NDArray[np.intp], Points]:
        """Returns the programs that may be members and are covered by a point, the largest sum of objectives first."""
        points = self._evidence.figures.points()
        living = np.frombuffer(self._evidence.status, dtype=np.uint8) == 0
        numbers = np.flatnonzero(living & (points <= point).all(axis=1))
        numbers = numbers[self._evidence.figures.violations_of(numbers) == 0.0]
        order = np.argsort(-points[numbers].sum(axis=1), kind="stable")
        return numbers[order], points[numbers[order]]

    def members(self) -> list[int]:
        """Returns the best in the first objective first."""
        return sorted(self.front, key=lambda program: (-self.front.point(program)[0], program))

    def hypervolume(self) -> float | None:
        """Returns the volume that the front covers beyond the reference; None where there are no objectives, or no reference yet."""
        reference = self.reference()
        if reference is None:
            return None
        points = [self.front.point(program) for program in self.front]
        return hypervolume(np.array(points).reshape(-1, len(reference)), np.array(list(reference.values())))

    def reference(self) -> Mapping[str, float] | None:
        """Returns the start of the hypervolume: what the task says, else the seed's values."""
        given = [each.reference for each in self._objectives]
        if not given or (self.seed is None and None in given):
            return None
        own = {} if self.seed is None else self._evidence.figures.objectives(self.seed)
        return {
            each.name: own[each.name] if each.reference is None else each.inside(each.reference)
            for each in self._objectives
        }

    def state(self) -> dict[str, Any]:
        """Returns everything as plain data."""
        return {"members": list(self.front), "seed": self.seed}
