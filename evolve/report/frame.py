"""The columns of a campaign as numpy arrays, for what must look at all records at once.

Invariant: copies of what had settled when they were made; no record, text or event is read for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from evolve.campaign import Campaign, Past
from evolve.campaign.history import KINDS, OUTCOMES, Columns
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

    def flag_programs(self) -> Flags:
        """Returns the proposals that count against a budget of programs."""
        return self.kind("proposal") & ~self.outcome(Outcome.SCREENED) & ~self.outcome(Outcome.INTERNAL)


def frame(campaign: Campaign) -> RecordFrame:
    """Returns the columns of all that has settled."""
    return make_frame(campaign.state.history)


def make_frame(history: Past) -> RecordFrame:
    """Returns the columns of what had settled."""
    columns, length = history.columns, len(history)
    return RecordFrame(
        since=columns.since,
        fitness=np.array(columns.fitness)[:length],
        violations=_violations(columns, length),
        outcomes=_bytes(columns.outcomes, length),
        kinds=_bytes(columns.kinds, length),
        insertions=_bytes(columns.insertions, length),
        islands=np.array(columns.islands)[:length],
        seconds=np.array(columns.seconds)[:length],
    )


def _bytes(column: bytearray, length: int) -> npt.NDArray[np.uint8]:
    return np.frombuffer(bytes(column), np.uint8)[:length]


def _violations(columns: Columns, length: int) -> Reals:
    found = np.zeros(length)
    for record, violation in list(columns.violations.items()):
        if record <= length:
            found[record - 1] = violation
    return found


def encode(names: Sequence[str]) -> tuple[Numbers, list[str]]:
    """Returns each name as its place among the different ones, and these in the order in which they come first."""
    codes: dict[str, int] = dict.fromkeys(names, 0)
    for code, name in enumerate(codes):
        codes[name] = code
    return np.fromiter(map(codes.__getitem__, names), np.int64, len(names)), list(codes)


def flag_quarantined(campaign: Campaign) -> Flags:
    """Returns the records whose program is quarantined."""
    programs, out = campaign.state.columns.programs, campaign.state.quarantined
    if not out:
        return np.zeros(len(programs), np.bool_)
    return np.fromiter((program in out for program in programs), np.bool_, len(programs))


def flag_improved(history: Past, columns: RecordFrame) -> Flags:
    """Flags the records that succeeded and were better than each parent that did; constraints come first."""
    parents = history.columns.parents[: len(columns)]
    counts = np.fromiter(map(len, parents), np.int64, len(parents))
    flat = np.fromiter(chain.from_iterable(parents), np.int64, int(counts.sum())) - 1
    worth = _ranks(columns)
    child = np.repeat(np.arange(len(columns)), counts)
    beaten = np.isnan(columns.fitness)
    # A parent that failed has the lowest rank of all, and is no obstacle.
    beaten[child[worth[flat] >= worth[child]]] = True
    return ~beaten


def strictly_better(columns: RecordFrame, among: Flags) -> Numbers:
    """Returns the places of those that were better than all before them among these, the first success too; those of earlier versions of the task
    have a beginning of their own. Constraints come first."""
    ranks = np.where(among, _ranks(columns), 0)
    found = []
    for begin, end in ((0, columns.since), (columns.since, len(columns))):
        part = ranks[begin:end]
        before = np.concatenate(([0], np.maximum.accumulate(part)[:-1])) if len(part) else part
        found.append(np.flatnonzero(part > before) + begin)
    return np.concatenate(found)


def _ranks(columns: RecordFrame) -> Numbers:
    """Larger is better, equal is as good; 0 for a failure."""
    order = columns.best_first()[::-1]
    fitness, missed = columns.fitness[order], columns.violations[order]
    different = np.ones(len(order), np.bool_)
    different[1:] = (fitness[1:] != fitness[:-1]) | (missed[1:] != missed[:-1])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(different)
    ranks[np.isnan(columns.fitness)] = 0
    return ranks
