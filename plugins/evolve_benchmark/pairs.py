"""Candidate and anchor in processes of their own, side by side: calls in pairs, on the same input, in both orders.

A call is timed from when its arguments are sent until its whole answer is there, and what a program's process works outside of its calls,
beyond what the anchor's does, is added to its time; so nothing is gained by work that is put off until the answer is handed over, or left to
a thread."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from evolve_benchmark.questions import Arguments

Clock = Literal["cpu", "wall"]
SLACK, SHARE = 5e-5, 0.1
"""Seconds, and the part of the anchor's own, by which two processes that do the same differ outside of a call."""
SHORTEST_LIMIT, TIMES = 10.0, 100.0
"""Seconds of wall time that a call may always take, and how many times as long as the anchor's slowest: beyond both it is ended."""
LEAST = 1e-7
"""Seconds: less is no time that was measured."""


class TimedCall(Protocol):
    """Part of a timed call that is used here, in seconds: see `evolve.Timed`."""

    @property
    def value(self) -> Any: ...
    @property
    def wall(self) -> float: ...
    @property
    def cpu(self) -> float: ...
    @property
    def outside(self) -> float: ...


class TimedSession(Protocol):
    """Part of a timed session that is used here."""

    @property
    def timed(self) -> Callable[..., Any]:
        """Takes a function and its arguments; returns a `TimedCall`."""
        ...


@dataclass(frozen=True, slots=True)
class Pair:
    """One instance, given to both. Times in seconds: `seconds` has what was `moved` out of the call, `anchor` is the anchor's. `given` is the module's instance, `answer` the candidate's."""

    kind: str
    label: str
    given: Any
    answer: Any
    seconds: float
    anchor: float
    moved: float

    @property
    def log_ratio(self) -> float:
        """Logarithm of the speed-up: 0 is as fast as the anchor, ln 2 is twice as fast."""
        return math.log(self.anchor / self.seconds)


@dataclass(frozen=True, slots=True)
class BalancedPairs:
    """Two pairs of one kind, one right after the other: the candidate first in the one, the anchor first in the other. Whoever comes second finds the caches warm, and is some percent faster for it;
    that cancels here and nowhere else."""

    pairs: tuple[Pair, Pair]

    @property
    def kind(self) -> str:
        """Kind of both instances."""
        return self.pairs[0].kind

    @property
    def log_ratio(self) -> float:
        """Mean of both log ratios."""
        return (self.pairs[0].log_ratio + self.pairs[1].log_ratio) / 2


@dataclass(slots=True)
class PairMeter:
    """Calls of the same function in two sessions of the same age, and the time that counts, of `threads` at most. `slowest` is the anchor's longest wall time. For single-threaded use."""

    function: str
    clock: Clock
    threads: int = 1
    slowest: float = 0.0

    def call_both(
        self, sessions: tuple[TimedSession, TimedSession], arguments: Arguments, *, anchor_first: bool = True
    ) -> tuple[TimedCall, TimedCall]:
        """Calls candidate and anchor, the second session, once each. Raises `SessionFailed` of the candidate, also where a call takes longer than any that
        is worth to wait for."""
        theirs = self._call_anchor(sessions[1], arguments) if anchor_first else None
        limit = max(SHORTEST_LIMIT, TIMES * self.slowest)
        mine = sessions[0].timed(self.function, *arguments, seconds=limit)
        return mine, theirs or self._call_anchor(sessions[1], arguments)

    def seconds(self, call: TimedCall) -> float:
        """Returns the time of one call."""
        return max(LEAST, call.cpu if self.clock == "cpu" else call.wall)

    def moved_seconds(self, mine: TimedCall, anchor: TimedCall) -> float:
        """Returns what was worked outside of the calls: processor time, or the wall time that it takes at least."""
        outside = mine.outside - anchor.outside - max(SLACK, SHARE * anchor.outside)
        return max(0.0, outside if self.clock == "cpu" else outside / self.threads)

    def _call_anchor(self, session: TimedSession, arguments: Arguments) -> TimedCall:
        timed: TimedCall = session.timed(self.function, *arguments)
        self.slowest = max(self.slowest, timed.wall)
        return timed
