"""Candidate and anchor in processes of their own, side by side: calls in pairs, on the same input, in turns.

Invariant: what a program's process works outside of its timed calls, beyond what the anchor's does on the same input, is added to its time; so nothing is gained by work that is put
off until the answer is asked for, left to a thread, or begun before the clock."""

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
LATE = 1e-3
"""Seconds that an answer may be on its way longer than the anchor's: of a machine that others use, and of wall time alone."""
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
    @property
    def late(self) -> float: ...


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
class Meter:
    """What counts as the time of a call: by which clock, and of how many threads at most."""

    clock: Clock
    threads: int = 1

    def seconds(self, timed: Timed) -> float:
        """Of one call."""
        return max(LEAST, timed.cpu if self.clock == "cpu" else timed.wall)

    def moved(self, mine: Timed, anchor: Timed) -> float:
        """What was done outside of the call and belongs to it: processor time, or the wall time that it takes at least."""
        outside = mine.outside - anchor.outside - max(SLACK, SHARE * anchor.outside)
        if self.clock == "cpu":
            return max(0.0, outside)
        return max(0.0, outside / self.threads, mine.late - anchor.late - LATE)


def both(
    sessions: tuple[Session, Session], function: str, arguments: Arguments, *, anchor_first: bool
) -> tuple[Timed, Timed]:
    """What candidate and anchor, the second session, took for one call each. Raises `SessionFailed` of the candidate."""
    order = (1, 0) if anchor_first else (0, 1)
    found = {place: sessions[place].timed(function, *arguments) for place in order}
    return found[0], found[1]


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
