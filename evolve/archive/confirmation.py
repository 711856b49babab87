"""Confirmation of challengers: the one rule about uncertainty, its use on two programs, and the measurements that it asks for.

A task with certificates compares certified values with certified values. Another deterministic task compares numbers. A noisy
task accepts a gain at once where it clears the noise; otherwise the challenger is measured once more, and then the pooled means
decide (confirm-and-refresh: a challenger that fails sends one more measurement to the incumbent).

Before any of this, what a program is allowed to do comes before how well it does it (Deb 2000, https://doi.org/10.1016/S0045-7825(99)00389-8):
who meets the constraints beats who does not, of two that miss them the smaller violation wins, and the fitness decides between equals.

A verdict depends on its arguments alone, and a challenger that does not rank before the incumbent never wins. Nothing here changes who holds a
place. The queue is an index only: whether an entry still counts is asked when it comes up, so that what is due follows from the archive's
state, and never from when somebody looked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from evolve.statistics import error_of_difference

Rank = tuple[float, float]
"""How far the constraints are missed, and minus the value: the smaller one is the better program."""


class ContestVerdict(Enum):
    """Verdict on a challenger."""

    ACCEPT = auto()
    PENDING = auto()
    REJECT = auto()


class Standing(NamedTuple):
    """Knowledge of one side of a contest; a tuple, for every candidate makes several. `judgings` counts measurements on the present hardware class (0: it must be measured again
    before it can be compared); `error` is the standard error of `value`, None where it is unknown; `violation` is how far the
    constraints are missed, 0 where they are met."""

    value: float
    judgings: int = 1
    error: float | None = None
    certified: bool = False
    violation: float = 0.0


@dataclass(frozen=True, slots=True)
class ConfirmationRule:
    """Rule by which a task compares. `noise_floor` is one standard deviation of a single measurement, None as long as it is unknown.
    A gain counts at once when it reaches both the noise floor and `z` standard errors of the difference, or is more than
    `sigmas` standard errors."""

    deterministic: bool
    certifies: bool
    z: float
    sigmas: float
    noise_floor: float | None = None

    @property
    def noisy(self) -> bool:
        """True where repeated measurements of a program differ and are pooled."""
        return not (self.deterministic or self.certifies)


def decide(
    rule: ConfirmationRule, challenger: Standing, incumbent: Standing | None, *, title: bool = False
) -> ContestVerdict:
    """Decides between a challenger and an incumbent. `incumbent` is the weakest holder of a full cell, or the best program; None where the place is free. `title`: the place is that
    of the best of all, which nobody holds who misses a constraint, and whose first holder needs a certificate where there are some."""
    if title and challenger.violation > 0.0:
        return ContestVerdict.REJECT
    if incumbent is None:
        uncertain = title and rule.certifies and not challenger.certified
        return ContestVerdict.PENDING if uncertain else ContestVerdict.ACCEPT
    if rule.noisy and not (challenger.judgings and incumbent.judgings):
        return ContestVerdict.PENDING
    if challenger.violation != incumbent.violation:
        return _by_constraints(rule, challenger, incumbent)
    if challenger.value <= incumbent.value:
        return ContestVerdict.REJECT
    if rule.certifies:
        return ContestVerdict.ACCEPT if challenger.certified and incumbent.certified else ContestVerdict.PENDING
    # Measured twice is enough: more would spend on every challenger what only the close ones need.
    if rule.deterministic or challenger.judgings > 1 or _clears_the_noise(rule, challenger, incumbent):
        return ContestVerdict.ACCEPT
    return ContestVerdict.PENDING


def _by_constraints(rule: ConfirmationRule, challenger: Standing, incumbent: Standing) -> ContestVerdict:
    if challenger.violation > incumbent.violation:
        return ContestVerdict.REJECT
    return ContestVerdict.PENDING if rule.noisy and challenger.judgings == 1 else ContestVerdict.ACCEPT


def _clears_the_noise(rule: ConfirmationRule, challenger: Standing, incumbent: Standing) -> bool:
    if rule.noise_floor is None or challenger.error is None or incumbent.error is None:
        return False
    gain = challenger.value - incumbent.value
    error = error_of_difference(challenger.error, incumbent.error)
    return gain >= max(rule.noise_floor, rule.z * error) or gain > rule.sigmas * error > 0


def lacks(rule: ConfirmationRule, side: Standing, *, challenges: bool) -> bool:
    """Returns whether this side of a pending contest must be measured before there can be a verdict."""
    if rule.certifies:
        return not side.certified
    return rule.noisy and (side.judgings == 0 or (challenges and side.judgings == 1))


# So many failures of the machinery in a row, and a program is measured no more.
GIVE_UP = 3
# A heap up to this size is never searched for entries that count no more.
SMALL = 256
# What stands in an entry instead of an island, and whose turn is when. A title is settled first, then cells and refreshes.
TITLE, REFRESH = -1, -2
_TURNS = {TITLE: 0}


class QueueEntry(NamedTuple):
    """Reason to measure `program`, whose rank in its island is `rank`. `island` is that of a contest in `cell`, or TITLE or
    REFRESH."""

    turn: int
    rank: Rank
    program: int
    island: int
    cell: int


class MeasurementQueue:
    """Queue of measurements. `in_flight` counts measurements by program that were asked and have not settled; `failures` those in a row that the
    machinery failed; `refreshes` are incumbents that beat a confirmed challenger and are owed one measurement."""

    def __init__(self) -> None:
        self.in_flight: dict[int, int] = {}
        self.failures: dict[int, int] = {}
        self.refreshes: set[int] = set()
        self._heap: list[QueueEntry] = []
        self._limit = SMALL

    def push(self, rank: Rank, program: int, island: int, cell: int = -1) -> None:
        """Something waits for a measurement: the challenger `program` of a cell or the title, or a refresh of it."""
        heappush(self._heap, QueueEntry(_TURNS.get(island, 1), rank, program, island, cell))

    def mark_asked(self, program: int) -> None:
        """Counts a measurement of this program that is under way."""
        self.in_flight[program] = self.in_flight.get(program, 0) + 1

    def end(self, program: int, *, measured: bool) -> None:
        """Ends a measurement of this program; `measured` is false where the machinery failed."""
        left = self.in_flight.pop(program, 1) - 1
        if left > 0:
            self.in_flight[program] = left
        if measured:
            self.failures.pop(program, None)
            self.refreshes.discard(program)
        else:
            self.failures[program] = self.failures.get(program, 0) + 1

    def is_given_up(self, program: int) -> bool:
        """Returns whether it makes no sense to measure this program."""
        return self.failures.get(program, 0) >= GIVE_UP

    def next(self, needs: Callable[[QueueEntry], Sequence[int]]) -> tuple[QueueEntry, int] | None:
        """Returns the first entry that needs a program that is not in flight, with that program. An entry that needs none now leaves
        the heap: it is pushed again when something that it hangs on was measured."""
        if len(self._heap) > self._limit:
            self._heap = [entry for entry in self._heap if needs(entry)]
            heapify(self._heap)
            self._limit = max(SMALL, 2 * len(self._heap))
        # An entry that needs nothing is dropped here and not when it became stale: to find it in the heap would cost its whole length.
        while self._heap:
            entry = self._heap[0]
            for program in needs(entry):
                if program not in self.in_flight and not self.is_given_up(program):
                    return entry, program
            heappop(self._heap)
        return None

    def state(self) -> dict[str, Any]:
        """Returns everything but the index, as plain data."""
        return {
            "in_flight": sorted(self.in_flight.items()),
            "failures": sorted(self.failures.items()),
            "refreshes": sorted(self.refreshes),
        }
