"""How a program's time grows: the exponent e where instances twice as large take 2**e times as long.

By the processor time of whole sessions, which the kernel counts and no program can forge. Invariant: what every session takes (its start, its first call)
is measured beside the two sizes and taken off both; the order of the sizes is turned round from pair to pair."""

import math
import statistics
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from evolve_benchmark.asking import Arguments

PAIRS = 3
"""How often both sizes are measured."""
LEAST = 1e-4
"""Seconds of processor time below which nothing is told apart from the session's own."""
LOW, HIGH = -1.0, 8.0
"""Exponents beyond are noise, and reported as these."""


class Session(Protocol):
    """What is needed of a candidate's session."""

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Any:
        """The answer of one of its functions."""
        ...

    def map(self, function: str, calls: Sequence[Sequence[Any]], /, seconds: float | None = None) -> list[Any]:
        """The answers of one of its functions to many calls."""
        ...


class Metered(Protocol):
    """What is needed of a candidate."""

    @property
    def cpu_seconds(self) -> float:
        """Processor time of its sessions that are over."""
        ...

    def session(self) -> AbstractContextManager[Session]:
        """A new process."""
        ...


def exponent(
    candidate: Metered, function: str, first: Arguments, single: Sequence[Arguments], double: Sequence[Arguments]
) -> float:
    """The median over pairs of log2 of the time for `double` over that for `single`, which are as many instances of half the size; `first` is
    the call that every session begins with. Raises `SessionFailed`."""
    found = []
    for number in range(PAIRS):
        own = _seconds(candidate, function, first, ())
        order = (single, double) if number % 2 == 0 else (double, single)
        taken = [max(LEAST, _seconds(candidate, function, first, calls) - own) for calls in order]
        ratio = math.log2(taken[1] / taken[0])
        found.append(ratio if number % 2 == 0 else -ratio)
    return min(HIGH, max(LOW, statistics.median(found)))


def _seconds(candidate: Metered, function: str, first: Arguments, calls: Sequence[Arguments]) -> float:
    """The processor time of a session with these calls."""
    before = candidate.cpu_seconds
    with candidate.session() as session:
        session.call(function, *first)
        if calls:
            session.map(function, calls)
    return candidate.cpu_seconds - before
