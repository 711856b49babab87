"""Candidate and anchor in processes of their own, side by side: calls in pairs, on the same input, in both orders.

Invariant: a call is timed from when its arguments are sent until its whole answer is there, and what a program's process works outside of its calls, beyond what the anchor's does, is added to its time;
so nothing is gained by work that is put off until the answer is handed over, or left to a thread."""

import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, Protocol

from evolve.types import TaskError
from evolve_benchmark.asking import Arguments

Clock = Literal["cpu", "wall"]
SLACK, SHARE = 5e-5, 0.1
"""Seconds, and the part of the anchor's own, by which two processes that do the same differ outside of a call."""
PATIENCE, TIMES = 10.0, 100.0
"""Seconds of wall time that a call may always take, and how many times as long as the anchor's slowest: beyond both it is ended."""
LEAST = 1e-7
"""Seconds: less is no time that was measured."""


class Timed(Protocol):
    """What is needed of a timed call, in seconds: see `evolve.Timed`."""

    @property
    def value(self) -> Any: ...
    @property
    def wall(self) -> float: ...
    @property
    def cpu(self) -> float: ...
    @property
    def outside(self) -> float: ...


class Session(Protocol):
    """What is needed of a session that is timed."""

    @property
    def timed(self) -> Callable[..., Any]:
        """A function and its arguments; gives a `Timed`."""
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
        """How much faster than the anchor: 0 is as fast, ln 2 is twice as fast."""
        return math.log(self.anchor / self.seconds)


@dataclass(frozen=True, slots=True)
class Double:
    """Two pairs of one kind, one right after the other: the candidate first in the one, the anchor first in the other. Whoever comes second finds the caches warm, and is some percent faster for it;
    that cancels here and nowhere else."""

    pairs: tuple[Pair, Pair]

    @property
    def kind(self) -> str:
        """That of both."""
        return self.pairs[0].kind

    @property
    def log_ratio(self) -> float:
        """The mean of both."""
        return (self.pairs[0].log_ratio + self.pairs[1].log_ratio) / 2


@dataclass(frozen=True, slots=True)
class Meter:
    """What counts as the time of a call: by which clock, and of how many threads at most."""

    clock: Clock
    threads: int = 1

    def seconds(self, timed: Timed) -> float:
        """Of one call."""
        return max(LEAST, timed.cpu if self.clock == "cpu" else timed.wall)

    def moved(self, mine: Timed, anchor: Timed) -> float:
        """What was done outside of the calls: processor time, or the wall time that it takes at least."""
        outside = mine.outside - anchor.outside - max(SLACK, SHARE * anchor.outside)
        if self.clock == "cpu":
            return max(0.0, outside)
        return max(0.0, outside / self.threads)


@dataclass(slots=True)
class Asking:
    """Two sessions of the same age, the candidate's and the anchor's, and how long the anchor takes at most. For single-threaded use."""

    function: str
    slowest: float = 0.0

    def both(
        self, sessions: tuple[Session, Session], arguments: Arguments, *, anchor_first: bool = True
    ) -> tuple[Timed, Timed]:
        """What candidate and anchor, the second session, took for one call each. Raises `SessionFailed` of the candidate, also where a call takes longer than any that
        is worth to wait for."""
        theirs = self._anchored(sessions[1], arguments) if anchor_first else None
        limit = max(PATIENCE, TIMES * self.slowest)
        mine = sessions[0].timed(self.function, *arguments, seconds=limit)
        return mine, theirs or self._anchored(sessions[1], arguments)

    def _anchored(self, session: Session, arguments: Arguments) -> Timed:
        timed: Timed = session.timed(self.function, *arguments)
        self.slowest = max(self.slowest, timed.wall)
        return timed


class Fresh:
    """Remembers which arguments there were, so that no program is asked twice what it may remember. For single-threaded use."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def check(self, arguments: Sequence[Any], name: str) -> None:
        """Raises `TaskError` where a call had the same."""
        digest = blake2b(pickle.dumps(tuple(arguments)), digest_size=16).digest()
        if digest in self._seen:
            raise TaskError(
                f"instances() gave the same instance twice ({name or 'of one kind'}), and a program that remembers it would pass for a fast one. Do: draw every instance from `rng`, from more than a few"
            )
        self._seen.add(digest)
