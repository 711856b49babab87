"""What was made of a parent: how its children ended, how many of them, and which are worth to be told.

Invariant: it is what one look at each of the latest children gives; of runs of children that are whole, that look is taken once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from evolve.bounded_cache import BoundedCache
from evolve.prompts.known import Known
from evolve.types import FAILURES, NOBODYS_FAULT, Outcome, RecordId

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
class Offspring:
    """Of some proposals: how many of them ended in each way, the best as (-violation, score, number), the best first, and the
    numbers of the latest, the oldest first: those that were judged, and those that never were."""

    ends: tuple[int, ...]
    best: tuple[_Score, ...] = ()
    judged: tuple[RecordId, ...] = ()
    unjudged: tuple[RecordId, ...] = ()

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(self.ends)

    @property
    def told(self) -> tuple[RecordId, ...]:
        """The best, and then the latest, the latest first; few that were never judged."""
        latest = sorted((*self.judged, *self.unjudged), reverse=True)
        return tuple(dict.fromkeys((*(child for _, _, child in self.best), *latest)))[:CHILDREN]

    @property
    def counted(self) -> str:
        """How many there are, and how they ended, in words."""
        told = ", ".join(f"{count} {end}" for end, count in zip(_ENDS, self.ends, strict=True) if count)
        return f"{self.count} proposal{'s' if self.count != 1 else ''}: {told}."


def offspring(known: Known, parent: RecordId, derived: BoundedCache) -> Offspring:
    """The latest that were made of a parent. Runs begin at multiples of `RUN` of its children, so that there are the same ones in
    all that is asked."""
    made, old = known.history.children(parent), known.score(parent)
    low = max(0, len(made) - SEARCHED)
    first, last = -(-low // RUN), len(made) // RUN
    if first >= last:
        return looked_at(known, made[low:], old)
    whole = derived.get_or_create(
        ("runs", parent, first, last, known.quarantined),
        lambda: _together([_run(known, parent, made, number, derived) for number in range(first, last)]),
    )
    return _together([looked_at(known, made[low : first * RUN], old), whole, looked_at(known, made[last * RUN :], old)])


def _run(known: Known, parent: RecordId, made: Sequence[RecordId], number: int, derived: BoundedCache) -> Offspring:
    return derived.get_or_create(
        ("run", parent, number, known.quarantined),
        lambda: looked_at(known, made[number * RUN : (number + 1) * RUN], known.score(parent)),
    )


def looked_at(known: Known, records: Sequence[RecordId], old: float | None) -> Offspring:
    """What is told of these records, against the score `old`; of those that reflected or were ruled out, nothing."""
    history, ends = known.history, [0] * len(_ENDS)
    scored, judged, unjudged = list[_Score](), list[RecordId](), list[RecordId]()
    for record in records:
        if history.operator(record) == REFLECTS or known.is_out(record):
            continue
        score, outcome = known.score(record), history.outcome(record)
        if score is None:
            ends[_failed(outcome)] += 1
        else:
            violation = history.violation(record)
            ends[_scored(score, old, violation)] += 1
            scored.append((-violation, score, record))
        (unjudged if outcome in NOBODYS_FAULT else judged).append(record)
    return Offspring(tuple(ends), _best(scored), tuple(judged[-CHILDREN:]), tuple(unjudged[-UNJUDGED:]))


def better(known: Known, record: RecordId, old: float | None) -> bool:
    """Whether a proposal is worth more than what it was made from, whose score is `old`."""
    score = known.score(record)
    return score is not None and _scored(score, old, known.history.violation(record)) == _BETTER


def _scored(score: float, old: float | None, violation: float) -> int:
    """The place of its end among all."""
    if old is None:
        return _SCORED
    return _BETTER if score > old and not violation else _NOT_BETTER


def _failed(outcome: Outcome) -> int:
    """The place of its end among all, of one without a score."""
    if outcome in FAILURES:
        return _FAILED
    return _STOPPED if outcome is Outcome.BELOW_THRESHOLD else _NOT_JUDGED


def _best(scored: Iterable[_Score]) -> tuple[_Score, ...]:
    return tuple(sorted(scored, reverse=True)[:BEST])


def _together(parts: Sequence[Offspring]) -> Offspring:
    """Some proposals and later ones."""
    return Offspring(
        tuple(map(sum, zip(*(part.ends for part in parts), strict=True))),
        _best(chain.from_iterable(part.best for part in parts)),
        tuple(chain.from_iterable(part.judged for part in parts))[-CHILDREN:],
        tuple(chain.from_iterable(part.unjudged for part in parts))[-UNJUDGED:],
    )
