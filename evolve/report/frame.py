"""The columns of a campaign as numpy arrays, for what must look at all records at once.

Invariant: copies of what had settled when they were made; no record, text or event is read for them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evolve.campaign import Campaign
from evolve.campaign.history import KINDS, OUTCOMES
from evolve.types import Insertion, OriginKind, Outcome

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RecordFrame:
    """Record n is at place n - 1. Fitness is larger the better, NaN for a failure; `outcomes` and `kinds` are codes, see `outcome` and
    `kind`. The first `since` records were evaluated by earlier versions of the task."""

    since: int
    fitness: Reals
    violations: Reals
    outcomes: npt.NDArray[np.uint8]
    kinds: npt.NDArray[np.uint8]
    insertions: npt.NDArray[np.uint8]
    islands: npt.NDArray[np.uint16]
    seconds: Reals

    def __len__(self) -> int:
        return len(self.fitness)

    def outcome(self, outcome: Outcome) -> Flags:
        """Flags the records with this outcome."""
        return np.equal(self.outcomes, OUTCOMES.index(outcome))

    def kind(self, kind: OriginKind) -> Flags:
        """Flags the records whose origin is of this kind."""
        return np.equal(self.kinds, KINDS.index(kind))

    def insertion(self, insertion: Insertion) -> Flags:
        """Flags the records with which the archive did this."""
        return np.equal(self.insertions, int(insertion))

    def best_first(self) -> Numbers:
        """Returns the places of all records: the fittest first, those that miss a constraint after those that meet all, and the failures last."""
        failed = np.isnan(self.fitness)
        missed = np.where(failed, np.inf, self.violations)
        return np.lexsort((np.where(failed, 0.0, -self.fitness), missed))

    def flag_attempts(self) -> Flags:
        """Returns what brought a program, or should have: seeds, imports and proposals, neither measurements nor notes."""
        return ~self.kind("measurement") & ~self.kind("note")

    def flag_programs(self) -> Flags:
        """Returns the proposals that count against a budget of programs."""
        return self.kind("proposal") & ~self.outcome(Outcome.SCREENED) & ~self.outcome(Outcome.INTERNAL)


def frame(campaign: Campaign) -> RecordFrame:
    """Returns the columns of all that has settled."""
    columns, length = campaign.state.columns, len(campaign.state.history)
    violations = np.zeros(length)
    for record, violation in columns.violations.items():
        violations[record - 1] = violation
    # A copy of the bytes first: a view of a column would forbid that the column grows.
    outcomes, kinds, insertions = (
        np.frombuffer(bytes(column), np.uint8) for column in (columns.outcomes, columns.kinds, columns.insertions)
    )
    return RecordFrame(
        since=columns.since,
        fitness=np.array(columns.fitness)[:length],
        violations=violations,
        outcomes=outcomes[:length],
        kinds=kinds[:length],
        insertions=insertions[:length],
        islands=np.array(columns.islands)[:length],
        seconds=np.array(columns.seconds)[:length],
    )


def rank(columns: RecordFrame) -> Numbers:
    """Returns a rank for each record: larger is better, equal is as good, 0 is a failure. Constraints come before fitness."""
    order = columns.best_first()[::-1]
    fitness, missed = columns.fitness[order], columns.violations[order]
    different = np.ones(len(order), np.bool_)
    different[1:] = (fitness[1:] != fitness[:-1]) | (missed[1:] != missed[:-1])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(different)
    ranks[np.isnan(columns.fitness)] = 0
    return ranks
