"""Evidence on every program that was ever accepted, in columns: 100,000 of them must fit beside everything else.

A program has one number (its place in the columns), one cell, and one estimate in whatever islands it is held. Constraints and objectives are
estimated as the fitness is: in a noisy task by the mean over all measurements on one hardware class, else by the latest one. So a noisy program
meets the constraints when it met them every time. What a task does not have costs nothing here."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evolve.statistics import Pool
from evolve.types import Evaluation, Objective, ProgramId, Record, RecordId

QUARANTINED = 1
FAILED = 2


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimate of a program's fitness: `count` judgings on public cases of one hardware class, or its latest certified
    value. `standard_error` is that of the mean; None where nothing is known about the noise."""

    mean: float
    standard_error: float | None
    count: int
    certified: bool = False


@dataclass(slots=True)
class HardwareClass:
    """Measurements on one hardware class, by program: the `pools` of a noisy task, those measured since a program won its place (`reported`), and
    the mean violation followed by the mean objectives, where there is something to tell."""

    pools: dict[int, Pool] = field(default_factory=dict)
    reported: dict[int, Pool] = field(default_factory=dict)
    means: dict[int, tuple[float, ...]] = field(default_factory=dict)

    def state(self) -> dict[str, Any]:
        """Returns everything as plain data."""
        return {
            "pools": [[program, *astuple(pool)] for program, pool in sorted(self.pools.items())],
            "reported": [[program, *astuple(pool)] for program, pool in sorted(self.reported.items())],
            "means": sorted(self.means.items()),
        }


class Figures:
    """Violations and objectives of programs. `violations` has the programs that miss a constraint, in units of the constraints' bounds; every other one meets them all.
    Objectives are larger the better, in the order of `names`."""

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self.names = tuple(objective.name for objective in objectives)
        self.violations: dict[int, float] = {}
        self._rows = array("d")

    def holds(self, evaluation: Evaluation) -> bool:
        """Returns whether each objective has a value there."""
        return evaluation.objectives.keys() >= set(self.names) if self.names else True

    def row(self, evaluation: Evaluation) -> tuple[float, ...]:
        """Returns the violation and the objectives of an evaluation."""
        return evaluation.violation, *(evaluation.objectives[name] for name in self.names)

    def put(self, program: int, row: tuple[float, ...]) -> None:
        """Replaces the violation and the objectives of a program. Where there are objectives, the first of program n follows that of n - 1."""
        violation, *values = row
        if violation:
            self.violations[program] = violation
        else:
            self.violations.pop(program, None)
        start = program * len(values)
        self._rows[start : start + len(values)] = array("d", values)

    def feasible(self, program: int) -> bool:
        """Returns whether a program meets the constraints."""
        return program not in self.violations

    def violation(self, program: int) -> float:
        """Returns how far a program misses the constraints; 0 where it meets them."""
        return self.violations.get(program, 0.0)

    def violations_of(self, programs: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Returns the violations of many programs."""
        found = np.zeros(len(programs))
        if self.violations:
            found[:] = [self.violations.get(program, 0.0) for program in programs.tolist()]
        return found

    def objectives(self, program: int) -> Mapping[str, float]:
        """Returns a program's objectives by name."""
        return dict(zip(self.names, self.point(program), strict=True))

    def point(self, program: int) -> "array[float]":
        """Returns a program's objectives in their order."""
        start = program * len(self.names)
        return self._rows[start : start + len(self.names)]

    def points(self) -> npt.NDArray[np.float64]:
        """Returns the objectives of all programs, one row each; valid until the next program is taken."""
        return np.frombuffer(self._rows).reshape(-1, len(self.names))

    def state(self) -> dict[str, Any]:
        """Returns everything as plain data."""
        return {"violations": sorted(self.violations.items()), "objectives": list(self._rows)}


class Evidence:
    """The columns. `values` holds what selection compares: the latest certified value, else the pooled mean on the present
    hardware class, else that of an earlier one; `reported` what was measured on the present one after a program won. `figures` holds what matters beside it."""

    def __init__(self, axes: int, *, pooling: bool, objectives: Sequence[Objective] = ()) -> None:
        self.programs: list[ProgramId] = []
        self.records = array("q")
        self.values = array("d")
        self.cells = array("i")
        self.homes = array("i")
        self.status = bytearray()
        self.certified = bytearray()
        self.figures = Figures(objectives)
        self._axes = axes
        self._pooling = pooling
        self._points = array("d")
        self._numbers: dict[ProgramId, int] = {}
        self._by_record = array("i")
        self._here = HardwareClass()
        self._classes: dict[str, HardwareClass] = {}

    def __len__(self) -> int:
        return len(self.programs)

    @property
    def reported(self) -> dict[int, Pool]:
        """Measurements on the present hardware class since each program won its place."""
        return self._here.reported

    def find(self, program: ProgramId | None) -> int | None:
        """Returns the number of a program that was accepted once."""
        return None if program is None else self._numbers.get(program)

    def of_record(self, record: RecordId) -> int | None:
        """Returns the number of the program that a record brought or measured; None where it was not accepted."""
        found = self._by_record[record] if 0 <= record < len(self._by_record) else -1
        return None if found < 0 else found

    def add(self, record: Record, fitness: float, cell: int, point: Sequence[float], *, quarantined: bool) -> int:
        """Takes a program that was never accepted before, with its cell and its place on the axes; returns its number."""
        program = record.program
        assert program is not None, "what was accepted has a program"
        number = len(self.programs)
        self.programs.append(program)
        self._numbers[program] = number
        self.records.append(record.id)
        self.values.append(fitness)
        self.cells.append(cell)
        self.homes.append(record.origin.island)
        self.status.append(QUARANTINED if quarantined else 0)
        self.certified.append(0)
        self._points.extend(point)
        self._take(number, record.id, record.evaluation, fitness)
        if record.evaluation.certified:
            # A certificate tells nothing of what matters beside the fitness; this one comes with an evaluation that does.
            self._figure(number, record.evaluation, 1)
        return number

    def measure(self, program: int, record: RecordId, evaluation: Evaluation, fitness: float) -> None:
        """Takes another evaluation of a known program that ended OK."""
        self._take(program, record, evaluation, fitness)
        if self._pooling and not evaluation.certified:
            self.reported[program] = self.reported.get(program, Pool()).add(fitness, evaluation.standard_error)

    def forget_reported(self, program: int) -> None:
        """Forgets the measurements until now for the report of a program that wins: they chose it, and are too good on average."""
        # Of every class: the campaign may come back to a machine, and what chose the winner there is as lucky as here.
        for one in (self._here, *self._classes.values()):
            one.reported.pop(program, None)

    def _take(self, program: int, record: RecordId, evaluation: Evaluation, fitness: float) -> None:
        self._remember(record, program)
        if evaluation.certified:
            self.certified[program] = 1
            self.values[program] = fitness
            return
        count, value = 1, fitness
        # Without noise the latest evaluation replaces those before.
        if self._pooling:
            pool = self._here.pools.get(program, Pool()).add(fitness, evaluation.standard_error)
            self._here.pools[program] = pool
            count, value = pool.count, pool.mean
        self._figure(program, evaluation, count)
        if not self.certified[program]:
            self.values[program] = value

    def _figure(self, program: int, evaluation: Evaluation, count: int) -> None:
        """Takes violation and objectives of evaluation number `count`; a task that has neither costs nothing."""
        if not (self.figures.names or evaluation.violation or self.figures.violations):
            return
        row = self.figures.row(evaluation)
        before = self._here.means.get(program, (0.0,) * len(row))
        if count > 1:
            row = tuple(old + (value - old) / count for old, value in zip(before, row, strict=True))
        self._here.means[program] = row
        self.figures.put(program, row)

    def _remember(self, record: RecordId, program: int) -> None:
        missing = record + 1 - len(self._by_record)
        if missing > 0:
            self._by_record.extend([-1] * missing)
        self._by_record[record] = program

    def move_to(self, hardware: str) -> bool:
        """Makes the measurements of this hardware class count; returns whether others did before. What was measured before any class was named
        belongs to the first."""
        before = self._here
        if not self._classes:
            self._classes[hardware] = self._here
        self._here = self._classes.setdefault(hardware, HardwareClass())
        for program, pool in self._here.pools.items():
            if not self.certified[program]:
                self.values[program] = pool.mean
            if self.figures.names or self.figures.violations or program in self._here.means:
                self.figures.put(program, self._here.means.get(program, (0.0,)))
        return self._here is not before

    def rank(self, program: int) -> tuple[float, float]:
        """Returns the key that orders programs, the best first: who meets the constraints, then who misses them by less, then the larger value."""
        return self.figures.violation(program), -self.values[program]

    def judgings(self, program: int) -> int:
        """Counts the measurements of a program on the present hardware class."""
        pool = self._here.pools.get(program)
        return 0 if pool is None else pool.count

    def error(self, program: int, noise: float | None) -> float | None:
        """Returns the standard error of a program's pooled mean."""
        return self._here.pools.get(program, Pool()).standard_error(noise)

    def alive(self, program: int) -> bool:
        """Returns whether a program may hold a place: neither quarantined nor failed when it was measured again."""
        return not self.status[program]

    def estimate(self, program: int, noise: float | None) -> Estimate:
        """Returns the estimate that selection uses."""
        if self.certified[program]:
            return Estimate(self.values[program], 0.0, 1, True)
        if not self._pooling:
            return Estimate(self.values[program], 0.0, 1)
        return Estimate(self.values[program], self.error(program, noise), self.judgings(program))

    def report(self, program: int, noise: float | None) -> Estimate | None:
        """Returns the estimate that may be reported: measurements since the program won its place; without noise, or certified, the estimate."""
        if self.certified[program] or not self._pooling:
            return self.estimate(program, noise)
        pool = self.reported.get(program)
        return None if pool is None else Estimate(pool.mean, pool.standard_error(noise), pool.count)

    def point(self, program: int) -> Sequence[float]:
        """Returns the place of a program on the axes."""
        start = program * self._axes
        return self._points[start : start + self._axes]

    def strongest(self, programs: Sequence[int], excluded: Sequence[int] = ()) -> int | None:
        """Returns the best living one of `programs` that is not excluded; the first of equals."""
        numbers = np.array(programs, dtype=np.intp)
        values = np.frombuffer(self.values)[numbers]
        out = np.frombuffer(self.status, dtype=np.uint8)[numbers] != 0
        out |= np.isin(numbers, np.array(excluded, dtype=np.intp))
        return _first_best(numbers, self.figures.violations_of(numbers), values, ~out)

    def strongest_of_all(self, *, certified: bool, judgings: int) -> int | None:
        """Returns the best living program that meets the constraints, with a certificate if asked for, and at least so many judgings here;
        the first of equals."""
        if not self.programs:
            return None
        # A view of a column must be gone before the column grows: each lives within one expression.
        mask = np.frombuffer(self.status, dtype=np.uint8) == 0
        if certified:
            mask &= np.frombuffer(self.certified, dtype=np.uint8) != 0
        if judgings > 0:
            mask &= np.array([self.judgings(program) >= judgings for program in range(len(self))])
        numbers = np.arange(len(self))
        missed = self.figures.violations_of(numbers)
        return _first_best(numbers, missed, np.frombuffer(self.values), mask & (missed == 0.0))

    def state(self) -> dict[str, Any]:
        """Returns all columns as plain data."""
        columns = ("records", "values", "cells", "homes", "status", "certified")
        classes = self._classes or {"": self._here}
        return {
            **{name: list(getattr(self, name)) for name in columns},
            "programs": list(self.programs),
            "points": list(self._points),
            "by_record": list(self._by_record),
            "hardware": next(hardware for hardware, one in classes.items() if one is self._here),
            "classes": {hardware: one.state() for hardware, one in sorted(classes.items())},
            **self.figures.state(),
        }


def _first_best(
    numbers: npt.NDArray[np.intp],
    missed: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
    mask: npt.NDArray[np.bool_],
) -> int | None:
    if not mask.any():
        return None
    mask = mask & (missed == missed[mask].min())
    return int(numbers[np.argmax(np.where(mask, values, -np.inf))])
