"""What should be measured next, the most promising first.

Invariant: the heap is an index only. Whether an entry still counts is asked when it comes up, so that what is due follows from the
archive's state, and never from when somebody looked."""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from evolve.archive.island import Rank

# So many failures of the machinery in a row, and a program is measured no more.
GIVE_UP = 3
# A heap up to this size is never searched for entries that count no more.
SMALL = 256
# What stands in an entry instead of an island, and whose turn is when. A title is settled first, then cells and refreshes.
TITLE, REFRESH = -1, -2
_TURNS = {TITLE: 0}


class Entry(NamedTuple):
    """One reason to measure `program`, whose rank in its island is `rank`. `island` is that of a contest in `cell`, or TITLE or
    REFRESH."""

    turn: int
    rank: Rank
    program: int
    island: int
    cell: int


class Agenda:
    """`in_flight` counts measurements by program that were asked and have not settled; `failures` those in a row that the
    machinery failed; `refreshes` are incumbents that beat a confirmed challenger and are owed one measurement."""

    def __init__(self) -> None:
        self.in_flight: dict[int, int] = {}
        self.failures: dict[int, int] = {}
        self.refreshes: set[int] = set()
        self._heap: list[Entry] = []
        self._limit = SMALL

    def push(self, rank: Rank, program: int, island: int, cell: int = -1) -> None:
        """Something waits for a measurement: the challenger `program` of a cell or the title, or a refresh of it."""
        heappush(self._heap, Entry(_TURNS.get(island, 1), rank, program, island, cell))

    def asked(self, program: int) -> None:
        """A measurement of this program is under way."""
        self.in_flight[program] = self.in_flight.get(program, 0) + 1

    def ended(self, program: int, *, measured: bool) -> None:
        """One measurement of this program is under way no more; `measured` is false where the machinery failed."""
        left = self.in_flight.pop(program, 1) - 1
        if left > 0:
            self.in_flight[program] = left
        if measured:
            self.failures.pop(program, None)
            self.refreshes.discard(program)
        else:
            self.failures[program] = self.failures.get(program, 0) + 1

    def given_up(self, program: int) -> bool:
        """Whether it makes no sense to measure this program."""
        return self.failures.get(program, 0) >= GIVE_UP

    def next(self, needs: Callable[[Entry], Sequence[int]]) -> tuple[Entry, int] | None:
        """The first entry that needs a program that is not in flight, with that program. An entry that needs none now leaves
        the heap: it is pushed again when something that it hangs on was measured."""
        if len(self._heap) > self._limit:
            self._heap = [entry for entry in self._heap if needs(entry)]
            heapify(self._heap)
            self._limit = max(SMALL, 2 * len(self._heap))
        while self._heap:
            entry = self._heap[0]
            for program in needs(entry):
                if program not in self.in_flight and not self.given_up(program):
                    return entry, program
            heappop(self._heap)
        return None

    def state(self) -> dict[str, Any]:
        """Everything but the index."""
        return {
            "in_flight": sorted(self.in_flight.items()),
            "failures": sorted(self.failures.items()),
            "refreshes": sorted(self.refreshes),
        }
