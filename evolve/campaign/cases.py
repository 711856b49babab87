"""Results of programs on cases that the search does not see: held-out ones, and evaluations without what the parents left.

Such a result changes no estimate and no place in the archive; it decides about promotion alone."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evolve.types import FROM_SCRATCH, Measure, Outcome, ProgramId, Record, RecordId, Task

HELD_OUT = "held out"
"""Why a held-out case is measured."""
TRIES = 3
"""Failures of the machinery after which a case is not tried again."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Fitness of a program on a case, larger is better; None where it failed. `seed` is the same of the seed program, None too while
    that is not known; `agrees`: the program meets the task's constraints there, and is no worse than the seed."""

    case: str
    record: RecordId
    outcome: Outcome
    fitness: float | None
    seed: float | None
    agrees: bool


class Cases:
    """The fold of all measurements on cases. `wanted` are those that each new best is measured on."""

    def __init__(self, task: Task, *, carries: bool) -> None:
        self.held_out = tuple(case.name for case in task.held_out) if task.promotion == "held_out" else ()
        self.wanted = (*self.held_out, *([FROM_SCRATCH] if carries else ()))
        self._seed = task.seed.id
        self._found: dict[tuple[ProgramId, str], Record] = {}
        self._failures: Counter[tuple[ProgramId, str]] = Counter()
        self._elsewhere: dict[str, dict[tuple[ProgramId, str], Record]] = {}
        """Results on other hardware classes."""

    def move(self, former: str, hardware: str) -> None:
        """Makes the results on `hardware` count, where scores depend on it: a program and the seed are compared on one machine."""
        self._elsewhere[former] = self._found
        self._found = self._elsewhere.pop(hardware, {})

    def settle(self, record: Record) -> None:
        """Takes a settled measurement on a case."""
        if record.program is None:
            return
        key = (record.program, record.origin.case)
        # The machinery failed, not the program: it is tried again.
        if record.evaluation.outcome is Outcome.INTERNAL:
            self._failures[key] += 1
        else:
            self._found[key] = record

    def due(
        self, best: ProgramId, record: RecordId, under_way: Collection[Measure], *, seed: RecordId
    ) -> Measure | None:
        """Returns the next measurement before the best may be promoted: the seed (of record `seed`) first, then the best, each case once. The
        seed has no parent that left anything."""
        pending = {(measure.program, measure.case) for measure in under_way if measure.case}
        wanted = [(self._seed, seed, case) for case in self.held_out]
        wanted += [(best, record, case) for case in self.wanted] if best != self._seed else []
        for program, about, case in wanted:
            key = (program, case)
            if key not in self._found and key not in pending and self._failures[key] < TRIES:
                return Measure(about, program, why=case if case == FROM_SCRATCH else HELD_OUT, case=case)
        return None

    def results(self, program: ProgramId) -> Sequence[CaseResult]:
        """Returns the results of a program, in the order of the task's cases."""
        found = [self._found.get((program, case)) for case in self.wanted]
        return [self._result(record) for record in found if record is not None]

    def _result(self, record: Record) -> CaseResult:
        case, fitness = record.origin.case, record.evaluation.fitness
        base = self._found.get((self._seed, case))
        seed = None if base is None else base.evaluation.fitness
        passed = fitness is not None and (seed is None or fitness >= seed)
        agrees = passed and record.evaluation.violation == 0.0
        return CaseResult(case, record.id, record.evaluation.outcome, fitness, seed, agrees)

    def agree(self, program: ProgramId) -> bool:
        """Returns whether all held-out cases of a program are known, and on none it is worse than the seed."""
        found = {result.case: result for result in self.results(program)}
        known = all((self._seed, case) in self._found for case in self.held_out)
        return bool(self.held_out) and known and all(case in found and found[case].agrees for case in self.held_out)
