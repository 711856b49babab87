"""What a prompt is about: a selection with the history that it was drawn from, as the sections ask for it.

Invariant: nothing here tells what was found on a case that the search does not see, and nothing of a program that was ruled out when the
step was asked: what made its score is no example."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

from evolve.prompts.figures import Scores
from evolve.prompts.known import Known
from evolve.prompts.offspring import REFLECTS, Offspring, looked_at, offspring
from evolve.protocols import Context, History
from evolve.statistics import error_of_difference
from evolve.types import RecordId, Selection, Task

STEPS = 8
"""Steps of the lineage that are told, the last ones."""
RECENT = 40
"""The latest proposals, which a prompt without a parent tells of."""


@dataclass(frozen=True)
class Subject:
    """The parts that sections are made of. `tokens` is what the whole prompt may have. One that `reflects` has no parent: those that
    are selected are among the inspirations."""

    reflects: bool
    selection: Selection
    context: Context
    tokens: int

    @property
    def task(self) -> Task:
        """The problem."""
        return self.context.task

    @property
    def history(self) -> History:
        """What had settled."""
        return self.context.history

    @cached_property
    def known(self) -> Known:
        """What may be told of each record."""
        return Known(self.history, frozenset(self.context.quarantined))

    @cached_property
    def parent(self) -> RecordId:
        """The record whose program is to change; 0 where there is none."""
        return self.selection.parents[0] if self.selection.parents and not self.reflects else 0

    @cached_property
    def partners(self) -> tuple[RecordId, ...]:
        """The other parents, with programs of their own."""
        return (
            () if self.reflects else _distinct(self, self.selection.parents[1:], {self.known.program_key(self.parent)})
        )

    @cached_property
    def inspirations(self) -> tuple[RecordId, ...]:
        """Without those whose program is shown already."""
        drawn, shown = self.selection, {self.known.program_key(record) for record in (self.parent, *self.partners)}
        return _distinct(self, (*drawn.parents, *drawn.inspirations), shown)

    @cached_property
    def steps(self) -> tuple[RecordId, ...]:
        """The last steps that led to the parent: records with a parent of their own, the first first."""
        found, record = list[RecordId](), self.parent
        while record and len(found) < STEPS and (before := self.known.made_from(record)) and before < record:
            found.append(record)
            record = before
        return tuple(reversed(found))

    @cached_property
    def proposals(self) -> Offspring:
        """What was made of the parent."""
        if not self.parent:
            return looked_at(self.known, (), None)
        return offspring(self.known, self.parent, self.context.derived)

    @cached_property
    def children(self) -> tuple[RecordId, ...]:
        """The best of what was made of the parent, the best first, and then the latest, the latest first; few that were never judged."""
        return self.proposals.told

    @cached_property
    def recent(self) -> tuple[RecordId, ...]:
        """The latest proposals, the latest first, for one that reflects."""
        every = range(len(self.history), 0, -1) if self.reflects else ()
        current = takewhile(self.history.is_current, every)
        proposed = (record for record in current if self.history.operator(record) not in ("", REFLECTS))
        return tuple(islice((record for record in proposed if not self.known.is_out(record)), RECENT))

    @cached_property
    def scores(self) -> Scores:
        """How scores are written here: with the digits that tell all that are shown apart."""
        shown = {self.parent, *self.partners, *self.inspirations, *self.steps, *self.children, *self.recent} - {0}
        before = {self.known.made_from(record) for record in (*self.steps, *self.recent)} - {0}
        values = (self.known.score(record) for record in shown | before)
        return Scores.of(self.task.fitness, [value for value in values if value is not None])


def effect(subject: Subject, number: RecordId, before: RecordId) -> str:
    """What became of the score from one record to another, and whether that is more than noise; empty where one of them has none."""
    new, old = subject.known.score(number), subject.known.score(before)
    return "" if new is None or old is None else subject.scores.change(new, old, _error(subject, number, before))


def _error(subject: Subject, *records: RecordId) -> float:
    """The standard error of the difference of two scores; 0 where nothing is known of it."""
    if subject.task.deterministic:
        return 0.0
    errors = [subject.history.record(record).evaluation.standard_error for record in records]
    known = [error for error in errors if error is not None]
    return error_of_difference(*known) if len(known) == 2 else 0.0


def _distinct(subject: Subject, records: Sequence[RecordId], shown: set[str]) -> tuple[RecordId, ...]:
    """Those with a program that neither `shown` nor an earlier one has, and that is not ruled out."""
    found, seen = list[RecordId](), set(shown)
    for record in records:
        name = subject.known.program_key(record)
        if name and name not in seen and not subject.known.is_out(record):
            seen.add(name)
            found.append(record)
    return tuple(found)
