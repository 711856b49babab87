"""Context of a prompt: a selection with the history that it was drawn from, as the sections ask for it.

Nothing here tells what was found on a case that the search does not see, and nothing of a program that was ruled out when the
step was asked: what made its score is no example. A score that cannot be compared is none."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

from evolve.prompts.scores import Scores
from evolve.protocols import Context, History
from evolve.statistics import error_of_difference
from evolve.types import FAILURES, NOBODYS_FAULT, Outcome, Program, ProgramId, RecordId, Selection, Task


@dataclass(frozen=True, slots=True)
class VisibleRecords:
    """The records of a history, without what is `quarantined`."""

    history: History
    quarantined: frozenset[ProgramId]

    def is_out(self, record: RecordId) -> bool:
        """Reports a record whose program is ruled out."""
        return bool(self.quarantined) and self.history.program_id(record) in self.quarantined

    def score(self, record: RecordId) -> float | None:
        """Returns the fitness of a record; None for a failure, and for a result of an earlier version of the task."""
        return self.history.fitness(record) if self.history.is_current(record) else None

    def parent_of(self, record: RecordId) -> RecordId:
        """Returns the first of its parents; 0 where it has none that may be told of."""
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


REFLECTS = "reflect"
"""The kind of prompt, and the operator, whose steps make lessons and no programs."""
CHILDREN = 10
"""Children of the parent that are listed."""
SEARCHED = 100
"""The latest children that are counted, and among which the best are looked for."""
UNEVALUATED = 3
"""Children that are listed though they were never evaluated, at most."""
BEST = 4
"""Children that are listed for their score, at most."""

_BETTER, _NOT_BETTER, _SCORED = "with a better score", "not better", "scored"
_FAILED, _NOT_EVALUATED, _STOPPED = "failed", "not evaluated", "stopped"
_ENDS = (_BETTER, _NOT_BETTER, _SCORED, _FAILED, _NOT_EVALUATED, _STOPPED)


@dataclass(frozen=True, slots=True)
class ChildrenSummary:
    """Summary of some proposals: how many there are, how they ended, in words, and which are listed: the best, the best first, and then
    the latest, the latest first."""

    count: int
    summary: str
    listing: tuple[RecordId, ...]


def summarize_records(known: VisibleRecords, records: Sequence[RecordId], old: float | None) -> ChildrenSummary:
    """Summarizes records, the oldest first, against the score `old`, without those that reflected or were ruled out."""
    shown = [each for each in records if known.history.operator(each) != REFLECTS and not known.is_out(each)]
    ends = Counter(_classify(known, record, old) for record in shown)
    scored = [
        (-known.history.violation(each), score, each) for each in shown if (score := known.score(each)) is not None
    ]
    best = [record for _, _, record in sorted(scored, reverse=True)[:BEST]]
    # What was never evaluated teaches little.
    skipped = [record for record in shown if known.history.outcome(record) in NOBODYS_FAULT][:-UNEVALUATED]
    latest = [record for record in reversed(shown) if record not in skipped]
    words = ", ".join(f"{ends[end]} {end}" for end in _ENDS if ends[end])
    summary = f"{len(shown)} proposal{'s' if len(shown) != 1 else ''}: {words}."
    return ChildrenSummary(len(shown), summary, tuple(dict.fromkeys((*best, *latest)))[:CHILDREN])


def is_better(known: VisibleRecords, record: RecordId, old: float | None) -> bool:
    """Returns whether a proposal is worth more than what it was made from, whose score is `old`."""
    return _classify(known, record, old) == _BETTER


def _classify(known: VisibleRecords, record: RecordId, old: float | None) -> str:
    """Returns the end of a proposal, one of `_ENDS`."""
    score, outcome = known.score(record), known.history.outcome(record)
    if score is not None:
        if old is None:
            return _SCORED
        return _BETTER if score > old and not known.history.violation(record) else _NOT_BETTER
    if outcome in FAILURES:
        return _FAILED
    return _STOPPED if outcome is Outcome.BELOW_THRESHOLD else _NOT_EVALUATED


STEPS = 8
"""Last steps of the lineage that are listed."""
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
        """History of the records that had settled."""
        return self.context.history

    @cached_property
    def known(self) -> VisibleRecords:
        """Records that may be told of."""
        return VisibleRecords(self.history, frozenset(self.context.quarantined))

    @cached_property
    def parent(self) -> RecordId:
        """The record whose program is to change; 0 where there is none."""
        return self.selection.parents[0] if self.selection.parents and not self.reflects else 0

    @cached_property
    def partners(self) -> tuple[RecordId, ...]:
        """The other parents, with programs of their own."""
        return (
            ()
            if self.reflects
            else _drop_repeats(self, self.selection.parents[1:], {self.known.program_key(self.parent)})
        )

    @cached_property
    def inspirations(self) -> tuple[RecordId, ...]:
        """Inspirations, without those whose program is shown already."""
        drawn, shown = self.selection, {self.known.program_key(record) for record in (self.parent, *self.partners)}
        return _drop_repeats(self, (*drawn.parents, *drawn.inspirations), shown)

    @cached_property
    def steps(self) -> tuple[RecordId, ...]:
        """The last steps that led to the parent: records with a parent of their own, the first first."""
        found, record = list[RecordId](), self.parent
        # A parent is older than its child; the check ends the walk in a history that says otherwise.
        while record and len(found) < STEPS and (before := self.known.parent_of(record)) and before < record:
            found.append(record)
            record = before
        return tuple(reversed(found))

    @cached_property
    def proposals(self) -> ChildrenSummary:
        """Summary of the parent's children."""
        made = self.history.children(self.parent) if self.parent else ()
        return summarize_records(self.known, made[-SEARCHED:], self.known.score(self.parent) if made else None)

    @cached_property
    def children(self) -> tuple[RecordId, ...]:
        """The best of what was made of the parent, the best first, and then the latest, the latest first; few that were never evaluated."""
        return self.proposals.listing

    @cached_property
    def recent(self) -> tuple[RecordId, ...]:
        """The latest proposals, the latest first, for one that reflects."""
        every = range(len(self.history), 0, -1) if self.reflects else ()
        current = takewhile(self.history.is_current, every)
        proposed = (record for record in current if self.history.operator(record) not in ("", REFLECTS))
        return tuple(islice((record for record in proposed if not self.known.is_out(record)), RECENT))

    @cached_property
    def scores(self) -> Scores:
        """Format of the scores here: with the digits that tell all that are shown apart."""
        shown = {self.parent, *self.partners, *self.inspirations, *self.steps, *self.children, *self.recent} - {0}
        before = {self.known.parent_of(record) for record in (*self.steps, *self.recent)} - {0}
        values = (self.known.score(record) for record in shown | before)
        return Scores.of(self.task.fitness, [value for value in values if value is not None])


def format_effect(subject: Subject, number: RecordId, before: RecordId) -> str:
    """Formats the change of the score between two records, and whether it is more than noise; empty where one of them has no score."""
    new, old = subject.known.score(number), subject.known.score(before)
    return (
        ""
        if new is None or old is None
        else subject.scores.format_change(new, old, _estimate_error(subject, number, before))
    )


def _estimate_error(subject: Subject, *records: RecordId) -> float:
    """Returns the standard error of the difference of two scores; 0 where nothing is known of it."""
    if subject.task.deterministic:
        return 0.0
    errors = [subject.history.record(record).evaluation.standard_error for record in records]
    known = [error for error in errors if error is not None]
    return error_of_difference(*known) if len(known) == 2 else 0.0


def _drop_repeats(subject: Subject, records: Sequence[RecordId], shown: set[str]) -> tuple[RecordId, ...]:
    """Returns the records whose program is not ruled out, not in `shown`, and not that of an earlier one."""
    found, seen = list[RecordId](), set(shown)
    for record in records:
        name = subject.known.program_key(record)
        if name and name not in seen and not subject.known.is_out(record):
            seen.add(name)
            found.append(record)
    return tuple(found)
