"""Context of a prompt: a selection with the history that it was drawn from, as the sections ask for it.

Nothing here comes from a case that the search does not see, nor from a program that was quarantined when the step was asked.
A score that cannot be compared is none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

from evolve.prompts.scores import Scores
from evolve.protocols import Context, History
from evolve.statistics import error_of_difference
from evolve.types import Program, ProgramId, RecordId, Selection, Task

REFLECTS = "reflect"
"""Kind of prompt, and operator, whose steps make lessons and no programs."""
STEPS = 6
"""Last steps of the lineage that are listed."""
ANCESTORS = 100
"""Generations in which a program counts as an ancestor of the parent."""
IDEAS = 16
"""Proposals of models that are listed."""
REFLECTED = 40
"""Proposals that a reflection reads."""
SEARCHED = 200
"""The latest proposals, and the latest children of the parent, among which ideas are looked for."""


@dataclass(frozen=True, slots=True)
class VisibleRecords:
    """The records of a history, without those whose program is `quarantined`."""

    history: History
    quarantined: frozenset[ProgramId]

    def is_out(self, record: RecordId) -> bool:
        """Reports a record whose program is quarantined."""
        return bool(self.quarantined) and self.history.program_id(record) in self.quarantined

    def score(self, record: RecordId) -> float | None:
        """Returns the fitness of a record; None for a failure, and for a result of an earlier version of the task."""
        return self.history.fitness(record) if self.history.is_current(record) else None

    def parent_of(self, record: RecordId) -> RecordId:
        """Returns the first of its parents; 0 where it has none that may be shown."""
        parents = self.history.parents(record)
        return 0 if not parents or self.is_out(parents[0]) else parents[0]

    def proposal(self, record: RecordId) -> RecordId:
        """Returns the record that proposed its program: itself, but for a program that a newer version of the task has evaluated again."""
        return self.history.record(record).origin.about or record

    def program(self, record: RecordId) -> Program | None:
        """Returns the program that was proposed; None where there was none to evaluate."""
        found = self.history.program_id(record)
        return None if found is None else self.history.program(found)

    def program_key(self, record: RecordId) -> str:
        """Returns the id of a record's program; empty where there is none."""
        return self.history.program_id(record) or "" if record else ""


@dataclass(frozen=True)
class Subject:
    """The parts that sections are made of. `tokens` is the bound of the whole prompt. One that `reflects` has no parent: those that
    are selected are among the other programs."""

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
        """History of the records that had settled."""
        return self.context.history

    @cached_property
    def known(self) -> VisibleRecords:
        """Records that may be shown."""
        return VisibleRecords(self.history, frozenset(self.context.quarantined))

    @cached_property
    def parent(self) -> RecordId:
        """The record whose program is to change; 0 where there is none."""
        return self.selection.parents[0] if self.selection.parents and not self.reflects else 0

    @cached_property
    def best(self) -> RecordId:
        """The best program when the step was asked; 0 where there is none."""
        best = self.context.best
        return best if best and not self.known.is_out(best) and self.known.score(best) is not None else 0

    @cached_property
    def partners(self) -> tuple[RecordId, ...]:
        """The other parents, with programs of their own."""
        if self.reflects:
            return ()
        return self._distinct(self.selection.parents[1:], (self.parent,))

    @cached_property
    def others(self) -> tuple[RecordId, ...]:
        """Programs that are shown beside the parents: the best, then the inspirations, without ancestors of the parent, whose
        changes are in the lineage. The best is there even if it is an ancestor."""
        drawn = self.selection.inspirations
        if self.reflects:
            drawn = (*self.selection.parents, *drawn)
        ancestors = {self.known.program_key(record) for record in self.ancestors}
        drawn = tuple(record for record in drawn if self.known.program_key(record) not in ancestors)
        first = (self.best,) if self.best else ()
        return self._distinct((*first, *drawn), (self.parent, *self.partners))

    def _distinct(self, records: Sequence[RecordId], shown: Sequence[RecordId]) -> tuple[RecordId, ...]:
        """Returns the records whose program may be shown, and is not that of an earlier one or of one of `shown`."""
        found, seen = list[RecordId](), {self.known.program_key(record) for record in shown}
        for record in records:
            name = self.known.program_key(record)
            if name and name not in seen and not self.known.is_out(record):
                seen.add(name)
                found.append(record)
        return tuple(found)

    @cached_property
    def ancestors(self) -> tuple[RecordId, ...]:
        """The parent's parent, that one's parent, and so on, the nearest first."""
        return tuple(islice(self._walk_back(), ANCESTORS))

    def _walk_back(self) -> Iterator[RecordId]:
        record = self.parent
        # A parent is older than its child; the check ends the walk in a history that says otherwise.
        while record and (before := self.known.parent_of(record)) and before < record:
            yield before
            record = before

    @cached_property
    def lineage(self) -> tuple[RecordId, ...]:
        """The last steps that led to the parent, which is the last of them; a program that was made from nothing is no step."""
        every = (self.parent, *self.ancestors) if self.parent else ()
        steps = [record for record in every if self.known.parent_of(record)]
        return tuple(reversed(steps[:STEPS]))

    @cached_property
    def ideas(self) -> tuple[RecordId, ...]:
        """Proposals of models that are listed: children of the parent, then children of its own parent, then the others, each the
        newest first. Steps of the lineage are listed elsewhere."""
        most = REFLECTED if self.reflects else IDEAS
        near = (record for each in (self.parent, *self.ancestors[:1]) if each for record in self._children(each))
        skipped, found = {self.parent, *self.lineage, *self.partners}, dict[RecordId, None]()
        for record in chain(near, self.history.model_proposals(SEARCHED)):
            if record not in skipped and self._is_idea(record):
                found[record] = None
                if len(found) == most:
                    break
        return tuple(found)

    def _children(self, record: RecordId) -> Iterator[RecordId]:
        children = self.history.children(record)[-SEARCHED:]
        return (each for each in reversed(children) if self.history.model(each))

    def _is_idea(self, record: RecordId) -> bool:
        current = self.history.is_current(record) and not self.known.is_out(record)
        return current and self.history.operator(record) not in ("", REFLECTS)

    @cached_property
    def variations(self) -> tuple[RecordId, ...]:
        """The latest children of the parent that an operator without a model made."""
        if not self.parent:
            return ()
        children = self.history.children(self.parent)[-SEARCHED:]
        return tuple(each for each in children if not self.history.model(each) and self._is_idea(each))

    @cached_property
    def fruitless(self) -> int:
        """Proposals of models that have settled since the best program, at most `SEARCHED`."""
        if not self.best:
            return 0
        return sum(1 for each in self.history.model_proposals(SEARCHED) if each > self.best)

    @cached_property
    def scores(self) -> Scores:
        """Format of the scores here: with the digits that tell all that are shown apart."""
        shown = {self.parent, self.best, *self.partners, *self.others, *self.lineage, *self.ideas, *self.variations} - {
            0
        }
        before = {self.known.parent_of(record) for record in (*self.lineage, *self.ideas)} - {0}
        values = (self.known.score(record) for record in shown | before)
        return Scores.of(self.task.fitness, [value for value in values if value is not None])


def format_effect(subject: Subject, number: RecordId, before: RecordId) -> str:
    """Formats the change of the score between two records, and whether it is more than noise; empty where one of them has no score."""
    new, old = subject.known.score(number), subject.known.score(before)
    if new is None or old is None:
        return ""
    return subject.scores.format_change(new, old, _estimate_error(subject, number, before))


def _estimate_error(subject: Subject, *records: RecordId) -> float:
    """Returns the standard error of the difference of two scores; 0 where nothing is known of it."""
    if subject.task.deterministic:
        return 0.0
    errors = [subject.history.record(record).evaluation.standard_error for record in records]
    known = [error for error in errors if error is not None]
    return error_of_difference(*known) if len(known) == 2 else 0.0
