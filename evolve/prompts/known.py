"""What may be told of a record: its score, its program, and what it was made from.

Invariant: a program that was ruled out when the step was asked is made from nothing and nothing is made from it; a score that cannot be compared
is none."""

from dataclasses import dataclass

from evolve.protocols import History
from evolve.types import Program, ProgramId, RecordId


@dataclass(frozen=True, slots=True)
class Known:
    """The records of a history, without what is `quarantined`."""

    history: History
    quarantined: frozenset[ProgramId]

    def is_out(self, record: RecordId) -> bool:
        """Its program is ruled out."""
        return bool(self.quarantined) and self.history.program_id(record) in self.quarantined

    def score(self, record: RecordId) -> float | None:
        """Its fitness; None for a failure, and for what an earlier version of the task has judged."""
        return self.history.fitness(record) if self.history.is_current(record) else None

    def made_from(self, record: RecordId) -> RecordId:
        """The first of its parents; 0 where it has none that may be told of."""
        parents = self.history.parents(record)
        return 0 if not parents or self.is_out(parents[0]) else parents[0]

    def proposal(self, record: RecordId) -> RecordId:
        """The record that proposed its program: itself, but for a program that a newer version of the task has judged again."""
        return self.history.record(record).origin.about or record

    def program(self, record: RecordId) -> Program | None:
        """The program that was proposed; None where there was none to judge."""
        found = self.history.program_id(record)
        return None if found is None else self.history.program(found)

    def program_key(self, record: RecordId) -> str:
        """What names its program; empty where there is none."""
        return self.history.program_id(record) or "" if record else ""
