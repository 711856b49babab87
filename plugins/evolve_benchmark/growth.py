"""How a program's time grows: the exponent e where instances twice as large take 2**e times as long.

By the processor time of timed calls, which the kernel counts and no program can forge. Invariant: no instance is asked about twice, and the order of the two sizes is turned round from
pair to pair."""

import math
import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from evolve_benchmark.asking import Arguments

PAIRS = 3
"""How often both sizes are measured."""
LEAST = 2e-5
"""Seconds of processor time of a call below which nothing is told apart from the call itself."""
LOW, HIGH = -1.0, 8.0
"""Exponents beyond are noise, and reported as these."""


class Reading(Protocol):
    """What is needed of a timed call."""

    @property
    def cpu(self) -> float:
        """Its processor time in seconds."""
        ...


class Session(Protocol):
    """What is needed of a candidate's session that is timed."""

    @property
    def timed(self) -> Callable[..., Reading]:
        """A function and its arguments, and what the call took."""
        ...


class Metered(Protocol):
    """What is needed of a candidate."""

    def session(self, *, timed: bool) -> AbstractContextManager[Session]:
        """A new process."""
        ...


Pair: TypeAlias = tuple[Sequence[Arguments], Sequence[Arguments]]


def exponent(candidate: Metered, function: str, first: Arguments, pairs: Sequence[Pair]) -> float:
    """The median over pairs of log2 of the time for the second of them over that for the first, which are as many instances of half the size; `first` is
    the call that every process begins with, and does not count. Raises `SessionFailed`, also of a program that starts processes."""
    found = []
    for number, (single, double) in enumerate(pairs):
        order: Sequence[Any] = (single, double) if number % 2 == 0 else (double, single)
        with candidate.session(timed=True) as session:
            session.timed(function, *first)
            taken = [sum(max(LEAST, session.timed(function, *each).cpu) for each in calls) for calls in order]
        ratio = math.log2(taken[1] / taken[0])
        found.append(ratio if number % 2 == 0 else -ratio)
    return min(HIGH, max(LOW, statistics.median(found)))
