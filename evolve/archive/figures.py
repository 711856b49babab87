"""What is known of a program beside its fitness: how far it misses the constraints, and its objectives.

Invariant: both are estimated as the fitness is: in a noisy task by the mean over all judgings on one hardware class, else by the latest
one. So a noisy program meets the constraints when it met them at every judging. What a task does not have costs nothing here."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evolve.types import Evaluation, Objective


class Means:
    """Of one hardware class: the mean violation of each program that ever missed a constraint there, and the mean objectives, row
    by row."""

    def __init__(self, width: int) -> None:
        self.violations: dict[int, float] = {}
        self.rows = array("d")
        self._width = width

    def take(self, program: int, evaluation: Evaluation, values: Sequence[float], count: int) -> None:
        """Takes judging number `count` of a program."""
        missed = self.violations.get(program, 0.0)
        if missed or evaluation.violation:
            self.violations[program] = _mean(missed, evaluation.violation, count)
        start = program * self._width
        short = start + self._width - len(self.rows)
        if short > 0:
            self.rows.extend([0.0] * short)
        for place, value in enumerate(values, start):
            self.rows[place] = _mean(self.rows[place], value, count)

    def row(self, program: int) -> "array[float]":
        """The mean objectives of a program."""
        start = program * self._width
        return self.rows[start : start + self._width]


class Figures:
    """`violations` has the programs that miss a constraint, in units of the constraints' bounds; every other one meets them all.
    Objectives are larger the better, in the order of `names`."""

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self.names = tuple(objective.name for objective in objectives)
        self.violations: dict[int, float] = {}
        self._rows = array("d")
        self._here = Means(len(self.names))
        self._classes: dict[str, Means] = {}

    def holds(self, evaluation: Evaluation) -> bool:
        """Whether each objective has a value there."""
        return evaluation.objectives.keys() >= set(self.names) if self.names else True

    def take(self, program: int, evaluation: Evaluation, count: int) -> None:
        """Takes a judging that ended OK, number `count` of this program here; a first one of program n follows that of n - 1. Where
        there are no objectives, a judging need not be told before one has missed a constraint."""
        values = [evaluation.objectives[name] for name in self.names]
        self._here.take(program, evaluation, values, count)
        self._publish(program)

    def _publish(self, program: int) -> None:
        """What is known here is what counts."""
        missed = self._here.violations.get(program, 0.0)
        if missed:
            self.violations[program] = missed
        else:
            self.violations.pop(program, None)
        start = program * len(self.names)
        self._rows[start : start + len(self.names)] = self._here.row(program)

    def move_to(self, hardware: str, judged: Iterable[int]) -> None:
        """The means of this hardware class count from now on, for the programs that were judged on it."""
        if not self._classes:
            self._classes[hardware] = self._here
        self._here = self._classes.setdefault(hardware, Means(len(self.names)))
        for program in judged:
            self._publish(program)

    def feasible(self, program: int) -> bool:
        """Whether a program meets the constraints."""
        return program not in self.violations

    def violation(self, program: int) -> float:
        """How far a program misses the constraints; 0 where it meets them."""
        return self.violations.get(program, 0.0)

    def missed(self, programs: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """The violations of many programs."""
        found = np.zeros(len(programs))
        if self.violations:
            found[:] = [self.violations.get(program, 0.0) for program in programs.tolist()]
        return found

    def objectives(self, program: int) -> Mapping[str, float]:
        """A program's objectives by name."""
        return dict(zip(self.names, self.point(program), strict=True))

    def point(self, program: int) -> "array[float]":
        """A program's objectives in their order."""
        start = program * len(self.names)
        return self._rows[start : start + len(self.names)]

    def points(self) -> npt.NDArray[np.float64]:
        """The objectives of all programs, one row each; valid until the next program is taken."""
        return np.frombuffer(self._rows).reshape(-1, len(self.names))

    def state(self) -> dict[str, Any]:
        """Everything as plain data."""
        classes = self._classes or {"": self._here}
        return {
            "violations": sorted(self.violations.items()),
            "objectives": list(self._rows),
            "means": {
                hardware: [sorted(means.violations.items()), list(means.rows)]
                for hardware, means in sorted(classes.items())
            },
        }


def _mean(before: float, value: float, count: int) -> float:
    return value if count == 1 else before + (value - before) / count
