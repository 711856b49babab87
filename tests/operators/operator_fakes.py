"""A history in memory for operators."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.random import PCG64, Generator

from evolve.protocols import Context
from evolve.types import EvaluatorSource, Outcome, Program, ProgramId, Record, RecordId, Task

TASK = Task("sphere", "", "1", "", Program({"a.py": "x = 0.5"}), "a", EvaluatorSource())


@dataclass
class Past:
    """The first `length` of the settled `rows` (all where it is negative); implements `protocols.History`."""

    rows: list[tuple[Program, Outcome, float | None, Any]] = field(default_factory=list)
    length: int = -1
    programs: dict[ProgramId, Program] = field(default_factory=dict)
    violations: dict[RecordId, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows) if self.length < 0 else self.length

    def upto(self, length: int) -> "Past":
        """The same history, ended earlier."""
        return Past(self.rows, length, self.programs, self.violations)

    def settle(
        self,
        program: Program,
        fitness: float | None,
        extras: Any = None,
        outcome: Outcome | None = None,
        violation: float = 0.0,
    ) -> RecordId:
        """Adds the next record."""
        if violation:
            self.violations[len(self.rows) + 1] = violation
        self.programs[program.id] = program
        self.rows.append((program, outcome or (Outcome.CRASHED if fitness is None else Outcome.OK), fitness, extras))
        return len(self.rows)

    def _row(self, record: RecordId) -> tuple[Program, Outcome, float | None, Any]:
        assert 0 < record <= len(self), "a record of the future"
        return self.rows[record - 1]

    def outcome(self, record: RecordId) -> Outcome:
        return self._row(record)[1]

    def fitness(self, record: RecordId) -> float | None:
        return self._row(record)[2]

    def violation(self, record: RecordId) -> float:
        return self.violations.get(record, 0.0)

    def program_id(self, record: RecordId) -> ProgramId | None:
        return self._row(record)[0].id

    def program(self, program: ProgramId) -> Program:
        return self.programs[program]

    def extras(self, plugin: str, after: RecordId = 0) -> Sequence[tuple[RecordId, Any]]:
        rows = enumerate(self.rows[after : len(self)], after + 1)
        return [(number, row[3][plugin]) for number, row in rows if row[3] and plugin in row[3]]

    def operator(self, record: RecordId) -> str:
        raise NotImplementedError

    def parents(self, record: RecordId) -> tuple[RecordId, ...]:
        raise NotImplementedError

    def record(self, record: RecordId) -> Record:
        raise NotImplementedError

    def text(self, text: str) -> str:
        raise NotImplementedError


def context_of(past: Past, seed: int) -> Context:
    """What an operator is given at a step that was asked with this history."""
    return Context(TASK, past, Generator(PCG64(seed)), 1e9, threading.Event())
