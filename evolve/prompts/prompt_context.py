"""Context of a prompt: a selection with the history that it was drawn from, as the sections ask for it.

Nothing here tells what was found on a case that the search does not see, and nothing of a program that was ruled out when the
step was asked: what made its score is no example. A score that cannot be compared is none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, takewhile

from evolve.bounded_cache import BoundedCache
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
        """Returns the record that proposed its program: itself, but for a program that a newer version of the task has judged again."""
        return self.history.record(record).origin.about or record

    def program(self, record: RecordId) -> Program | None:
        """Returns the program that was proposed; None where there was none to judge."""
        found = self.history.program_id(record)
        return None if found is None else self.history.program(found)

    def program_key(self, record: RecordId) -> str:
        """Returns the id of a record's program; empty where there is none."""
        return self.history.program_id(record) or "" if record else ""


REFLECTS = "reflect"
"""The kind of prompt, and the operator, whose steps make lessons and no programs."""
CHILDREN = 10
"""Children of the parent that are told."""
SEARCHED = 500
"""The latest children that are counted, and among which the best are looked for."""
UNJUDGED = 3
"""Of the children that are told, those that were never judged."""
BEST = 4
"""Of the children that are told, those that are told for their score."""
RUN = 16
"""Children that are looked at together, once."""

_ENDS = ("with a better score", "not better", "scored", "failed", "not judged", "stopped")
_BETTER, _NOT_BETTER, _SCORED, _FAILED, _NOT_JUDGED, _STOPPED = range(len(_ENDS))
_Score = tuple[float, float, RecordId]


@dataclass(frozen=True, slots=True)
class ChildrenSummary:
    """Summary of some proposals: how many of them ended in each way, the best as (-violation, score, number), the best first, and the
    numbers of the latest, the oldest first: those that were judged, and those that never were."""

    ends: tuple[int, ...]
    best: tuple[_Score, ...] = ()
    judged: tuple[RecordId, ...] = ()
    unjudged: tuple[RecordId, ...] = ()

    @property
    def count(self) -> int:
        """Number of proposals."""
        return sum(self.ends)

    @property
    def listing(self) -> tuple[RecordId, ...]:
        """The best, and then the latest, the latest first; few that were never judged."""
        latest = sorted((*self.judged, *self.unjudged), reverse=True)
        return tuple(dict.fromkeys((*(child for _, _, child in self.best), *latest)))[:CHILDREN]

    @property
    def summary(self) -> str:
        """Number of proposals, and how they ended, in words."""
        told = ", ".join(f"{count} {end}" for end, count in zip(_ENDS, self.ends, strict=True) if count)
        return f"{self.count} proposal{'s' if self.count != 1 else ''}: {told}."


def summarize_children(known: VisibleRecords, parent: RecordId, derived: BoundedCache) -> ChildrenSummary:
    """Returns the latest that were made of a parent. Runs begin at multiples of `RUN` of its children, so that there are the same ones in
    all that is asked."""
    made, old = known.history.children(parent), known.score(parent)
    low = max(0, len(made) - SEARCHED)
    first, last = -(-low // RUN), len(made) // RUN
    if first >= last:
        return summarize_records(known, made[low:], old)
    whole = derived.get_or_create(
        ("runs", parent, first, last, known.quarantined),
        lambda: _merge([_run(known, parent, made, number, derived) for number in range(first, last)]),
    )
    return _merge(
        [
            summarize_records(known, made[low : first * RUN], old),
            whole,
            summarize_records(known, made[last * RUN :], old),
        ]
    )


def _run(
    known: VisibleRecords, parent: RecordId, made: Sequence[RecordId], number: int, derived: BoundedCache
) -> ChildrenSummary:
    return derived.get_or_create(
        ("run", parent, number, known.quarantined),
        lambda: summarize_records(known, made[number * RUN : (number + 1) * RUN], known.score(parent)),
    )


def summarize_records(known: VisibleRecords, records: Sequence[RecordId], old: float | None) -> ChildrenSummary:
    """Summarizes records against the score `old`, without those that reflected or were ruled out."""
    history, ends = known.history, [0] * len(_ENDS)
    scored, judged, unjudged = list[_Score](), list[RecordId](), list[RecordId]()
    for record in records:
        if history.operator(record) == REFLECTS or known.is_out(record):
            continue
        score, outcome = known.score(record), history.outcome(record)
        if score is None:
            ends[_classify_failure(outcome)] += 1
        else:
            violation = history.violation(record)
            ends[_classify_score(score, old, violation)] += 1
            scored.append((-violation, score, record))
        (unjudged if outcome in NOBODYS_FAULT else judged).append(record)
    return ChildrenSummary(tuple(ends), _best(scored), tuple(judged[-CHILDREN:]), tuple(unjudged[-UNJUDGED:]))


def is_better(known: VisibleRecords, record: RecordId, old: float | None) -> bool:
    """Returns whether a proposal is worth more than what it was made from, whose score is `old`."""
    score = known.score(record)
    return score is not None and _classify_score(score, old, known.history.violation(record)) == _BETTER


def _classify_score(score: float, old: float | None, violation: float) -> int:
    """Returns the place of its end among all."""
    if old is None:
        return _SCORED
    return _BETTER if score > old and not violation else _NOT_BETTER


def _classify_failure(outcome: Outcome) -> int:
    """Returns the place of its end among all, of one without a score."""
    if outcome in FAILURES:
        return _FAILED
    return _STOPPED if outcome is Outcome.BELOW_THRESHOLD else _NOT_JUDGED


def _best(scored: Iterable[_Score]) -> tuple[_Score, ...]:
    return tuple(sorted(scored, reverse=True)[:BEST])


def _merge(parts: Sequence[ChildrenSummary]) -> ChildrenSummary:
    """Merges summaries of proposals, the earlier ones first."""
    return ChildrenSummary(
        tuple(map(sum, zip(*(part.ends for part in parts), strict=True))),
        _best(chain.from_iterable(part.best for part in parts)),
        tuple(chain.from_iterable(part.judged for part in parts))[-CHILDREN:],
        tuple(chain.from_iterable(part.unjudged for part in parts))[-UNJUDGED:],
    )


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
            () if self.reflects else _distinct(self, self.selection.parents[1:], {self.known.program_key(self.parent)})
        )

    @cached_property
    def inspirations(self) -> tuple[RecordId, ...]:
        """Inspirations, without those whose program is shown already."""
        drawn, shown = self.selection, {self.known.program_key(record) for record in (self.parent, *self.partners)}
        return _distinct(self, (*drawn.parents, *drawn.inspirations), shown)

    @cached_property
    def steps(self) -> tuple[RecordId, ...]:
        """The last steps that led to the parent: records with a parent of their own, the first first."""
        found, record = list[RecordId](), self.parent
        while record and len(found) < STEPS and (before := self.known.parent_of(record)) and before < record:
            found.append(record)
            record = before
        return tuple(reversed(found))

    @cached_property
    def proposals(self) -> ChildrenSummary:
        """Summary of the parent's children."""
        if not self.parent:
            return summarize_records(self.known, (), None)
        return summarize_children(self.known, self.parent, self.context.derived)

    @cached_property
    def children(self) -> tuple[RecordId, ...]:
        """The best of what was made of the parent, the best first, and then the latest, the latest first; few that were never judged."""
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
    return "" if new is None or old is None else subject.scores.format_change(new, old, _error(subject, number, before))


def _error(subject: Subject, *records: RecordId) -> float:
    """Returns the standard error of the difference of two scores; 0 where nothing is known of it."""
    if subject.task.deterministic:
        return 0.0
    errors = [subject.history.record(record).evaluation.standard_error for record in records]
    known = [error for error in errors if error is not None]
    return error_of_difference(*known) if len(known) == 2 else 0.0


def _distinct(subject: Subject, records: Sequence[RecordId], shown: set[str]) -> tuple[RecordId, ...]:
    """Returns the records whose program is not ruled out, not in `shown`, and not that of an earlier one."""
    found, seen = list[RecordId](), set(shown)
    for record in records:
        name = subject.known.program_key(record)
        if name and name not in seen and not subject.known.is_out(record):
            seen.add(name)
            found.append(record)
    return tuple(found)
