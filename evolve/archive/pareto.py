"""The Pareto front over a task's objectives: the fold's part that keeps it in step with the evidence.

Invariant: the members are exactly the programs that may hold a place, meet the constraints, and are covered by none such; nothing is
confirmed or certified for it, since a program becomes a member by what was measured until now, and leaves by what is measured later. An
event costs a look at a few blocks of the front; only where a member leaves or gets worse, the columns are searched for those it covered."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evolve.archive.evidence import Evidence
from evolve.archive.front import Front, Points
from evolve.archive.hypervolume import hypervolume
from evolve.types import Objective


class Pareto:
    """`front` holds numbers of the evidence. `seed` is the first seed, from whose objectives the hypervolume begins where the task does
    not say otherwise."""

    def __init__(self, evidence: Evidence, objectives: Sequence[Objective]) -> None:
        self.front = Front(len(objectives))
        self.seed: int | None = None
        self._evidence = evidence
        self._objectives = tuple(objectives)

    def changed(self, program: int) -> None:
        """What is known of a program, or whether it may hold a place, has changed."""
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
        """What is known of every program may have changed."""
        self.front = Front(len(self._objectives))
        if self._objectives and len(self._evidence):
            self._admit(np.full(len(self._objectives), np.inf))

    def _admit(self, gone: Points) -> None:
        """A point has left the front: whoever it alone has covered is a member now. The largest sum cannot be covered by a smaller one,
        so that each look at the front settles one member and all that it covers."""
        numbers, points = self._covered(gone)
        while len(numbers):
            first = int(numbers[0])
            member = first if first in self.front else self.front.offer(first, points[0])
            left = ~(points <= self.front.point(member)).all(axis=1)
            numbers, points = numbers[left], points[left]

    def _covered(self, point: Points) -> tuple[npt.NDArray[np.intp], Points]:
        """Who may be a member and is covered by a point, the largest sum of objectives first."""
        points = self._evidence.figures.points()
        living = np.frombuffer(self._evidence.status, dtype=np.uint8) == 0
        numbers = np.flatnonzero(living & (points <= point).all(axis=1))
        numbers = numbers[self._evidence.figures.missed(numbers) == 0.0]
        order = np.argsort(-points[numbers].sum(axis=1), kind="stable")
        return numbers[order], points[numbers[order]]

    def members(self) -> list[int]:
        """The best in the first objective first."""
        return sorted(self.front, key=lambda program: (-self.front.point(program)[0], program))

    def hypervolume(self) -> float | None:
        """The volume that the front covers beyond the reference; None where there are no objectives, or no reference yet."""
        reference = self.reference()
        if reference is None:
            return None
        points = [self.front.point(program) for program in self.front]
        return hypervolume(np.array(points).reshape(-1, len(reference)), np.array(list(reference.values())))

    def reference(self) -> Mapping[str, float] | None:
        """Where the hypervolume begins: what the task says, else the seed's values."""
        given = [each.reference for each in self._objectives]
        if not given or (self.seed is None and None in given):
            return None
        own = {} if self.seed is None else self._evidence.figures.objectives(self.seed)
        return {
            each.name: own[each.name] if each.reference is None else each.inside(each.reference)
            for each in self._objectives
        }

    def state(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"members": list(self.front), "seed": self.seed}
