"""Pareto front over a task's objectives, and the hypervolume that it dominates.

Points of the front lie in blocks of neighbours with the box that holds each block, so that most blocks are ruled out by their box (the idea
of an ND-tree, Jaszkiewicz and Lust 2016, https://arxiv.org/abs/1603.04798, with its leaves alone). No member covers another. A point covers
another one where it is no smaller in any objective, and of equal points the earlier program's covers the later one's. Members are exactly
the programs that may hold a place, meet the constraints, and are covered by none such; nothing is confirmed or certified for it: a program
becomes a member by what was measured until now, and leaves by what is measured later. An event costs a look at a few blocks of the front; only
where a member leaves or gets worse, the columns are searched for those it covered."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evolve.archive.evidence import Evidence
from evolve.types import Objective

BLOCK = 64
"""A block with more members is split in two."""

Points = npt.NDArray[np.float64]


class Block:
    """Some members that lie together: their numbers, and their points, one row each."""

    def __init__(self, numbers: npt.NDArray[np.intp], points: Points) -> None:
        self.numbers = numbers
        self.points = points

    def coverer(self, number: int, point: Points) -> int | None:
        """Returns a member that covers this point of program `number`."""
        for place in np.flatnonzero((self.points >= point).all(axis=1)).tolist():
            other = int(self.numbers[place])
            if other < number or (self.points[place] != point).any():
                return other
        return None

    def select(self, mask: npt.NDArray[np.bool_]) -> "Block":
        """Returns the members where `mask` is true."""
        return Block(self.numbers[mask], self.points[mask])

    def with_member(self, number: int, point: Points) -> "Block":
        """These members and one more."""
        return Block(np.append(self.numbers, number), np.vstack([self.points, point]))

    def halves(self) -> tuple["Block", "Block"]:
        """Split across the objective in which the members lie farthest apart."""
        widest = int(np.argmax(np.ptp(self.points, axis=0)))
        order = np.argsort(self.points[:, widest], kind="stable")
        low = np.zeros(len(order), dtype=bool)
        low[order[: len(order) // 2]] = True
        return self.select(low), self.select(~low)


class Front:
    """Members are program numbers. Larger is better in every objective."""

    def __init__(self, dimensions: int) -> None:
        self._points: dict[int, Points] = {}
        self._blocks: list[Block] = []
        self._lows = np.empty((0, dimensions))
        self._highs = np.empty((0, dimensions))

    def __len__(self) -> int:
        return len(self._points)

    def __contains__(self, program: int) -> bool:
        return program in self._points

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._points))

    def point(self, program: int) -> Points:
        """Returns the point of a member."""
        return self._points[program]

    def offer(self, program: int, values: Sequence[float]) -> int:
        """Returns a program that is no member claims to be one; returns the member that covers it, itself where it became one."""
        point = np.array(values)
        for place in np.flatnonzero((self._highs >= point).all(axis=1)).tolist():
            coverer = self._blocks[place].coverer(program, point)
            if coverer is not None:
                return coverer
        for place in np.flatnonzero((self._lows <= point).all(axis=1)).tolist()[::-1]:
            self._drop(place, np.all(self._blocks[place].points <= point, axis=1))
        self._insert(program, point)
        return program

    def remove(self, program: int) -> Points:
        """Returns a member leaves; returns the point that it had."""
        point = self._points[program]
        for place in np.flatnonzero(((self._lows <= point) & (self._highs >= point)).all(axis=1)).tolist():
            found = self._blocks[place].numbers == program
            if found.any():
                self._drop(place, found)
                break
        assert program not in self._points, "a member lies in the block whose box holds its point"
        return point

    def _drop(self, place: int, gone: npt.NDArray[np.bool_]) -> None:
        if not gone.any():
            return
        block = self._blocks[place]
        for number in block.numbers[gone].tolist():
            del self._points[number]
        if gone.all():
            self._blocks.pop(place)
            self._lows = np.delete(self._lows, place, axis=0)
            self._highs = np.delete(self._highs, place, axis=0)
        else:
            self._put(place, block.select(~gone))

    def _insert(self, program: int, point: Points) -> None:
        """Into the block whose box grows least."""
        self._points[program] = point
        if not self._blocks:
            self._add(Block(np.array([program]), point[None, :]))
            return
        growth = np.maximum(self._lows - point, 0.0) + np.maximum(point - self._highs, 0.0)
        place = int(np.argmin(growth.sum(axis=1)))
        block = self._blocks[place].with_member(program, point)
        if len(block.numbers) <= BLOCK:
            self._put(place, block)
            return
        first, second = block.halves()
        self._put(place, first)
        self._add(second)

    def _put(self, place: int, block: Block) -> None:
        self._blocks[place] = block
        self._lows[place] = block.points.min(axis=0)
        self._highs[place] = block.points.max(axis=0)

    def _add(self, block: Block) -> None:
        self._blocks.append(block)
        self._lows = np.vstack([self._lows, block.points.min(axis=0)])
        self._highs = np.vstack([self._highs, block.points.max(axis=0)])


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

    def changed(self, program: int) -> None:
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

    def all_changed(self) -> None:
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
