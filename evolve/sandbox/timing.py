"""Timing what a candidate does: its arguments say go and its answer says done, or one byte each; then it is stopped and its clock is read.

Invariant: a time is the judge's or the kernel's word. Arguments that are sent are not known before the clock runs, and their answer is complete when it stops; what a program does
before or after that is counted apart."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from evolve.sandbox.clock import ProcessClock, ProcessEnded, Unstoppable
from evolve.sandbox.dialogue import Dialogue
from evolve.sandbox.status import SessionFailed, Status, failing

_NANO = 1e-9


@dataclass(frozen=True, slots=True)
class Timed:
    """What a timed call gave and took, in seconds. `wall`: from the judge's go to the candidate's done, by the judge's clock. `cpu`: processor time of all the
    candidate's threads from go until it stood still. `outside`: its processor time since the timed call before that was not within this one: to look the
    function up, to hand over the answer where that comes after done, and whatever else it did. `span`: wall time around all of `cpu`, from before it went on until it
    stood still; of one thread no more than that can be processor time."""

    value: Any
    wall: float
    cpu: float
    outside: float
    span: float = 0.0


class Stopwatch:
    """Of one `session`, whose failures it raises."""

    def __init__(self, session: object, dialogue: Dialogue, clock: ProcessClock) -> None:
        self._session = session
        self._dialogue = dialogue
        self._clock = clock
        # The reading up to which all processor time was told.
        self._until = clock.read()

    def lap(self, what: str, act: Callable[[], Any]) -> Timed:
        """Has the candidate work by `act`, which gives its answer, and leaves it stopped. Where it was stopped before, all that it does from then on counts."""
        since = time.perf_counter()
        stopped = self._until if self._clock.holds else None
        self.go_on(what)
        with self._following(what):
            began = self._clock.read() if stopped is None else stopped
            sent = time.perf_counter()
            value = act()
            came = time.perf_counter()
            ended = self._clock.stop()
        span = time.perf_counter() - since
        outside, self._until = began - self._until, ended
        return Timed(value, came - sent, (ended - began) * _NANO, outside * _NANO, span=span)

    def signal_lap(self, what: str, seconds: float | None) -> Timed:
        """A lap of a process that waits for one byte, works, and sends the same byte back."""
        return self.lap(what, lambda: self._dialogue.signal(what, seconds))

    def go_on(self, what: str) -> None:
        """Ends a stop. What was not still meanwhile may have written what the judge was reading: `SessionFailed`."""
        if not self._clock.holds:
            return
        with self._following(what):
            still = self._clock.is_still()
            self._clock.go_on()
            if not still:
                self._dialogue.fail(_woken(what))

    def answered(self, lap: Timed, value: Any, what: str) -> Timed:
        """A lap with the answer that came after it, and with what that has taken."""
        with self._following(what):
            now = self._clock.read()
        outside, self._until = (now - self._until) * _NANO, now
        return replace(lap, value=value, outside=lap.outside + outside)

    def close(self) -> SessionFailed | None:
        """The session is over; gives what was wrong with its last stop, which nobody has ended."""
        failure = None
        with suppress(ProcessEnded):  # how it did, the dialogue knows
            failure = None if self._clock.is_still() else _woken("the last call")
        self._clock.close()
        return failure

    @contextmanager
    def _following(self, what: str) -> Iterator[None]:
        with failing(self._session):
            try:
                yield
            except ProcessEnded:
                self._dialogue.miss(what)
            except Unstoppable:
                self._dialogue.fail(SessionFailed(Status.TIMEOUT, f"the program cannot be stopped ({what})"))


def _woken(what: str) -> SessionFailed:
    return SessionFailed(Status.BAD_FRAME, f"the program went on while it was stopped ({what})")


def median(times: Sequence[Timed]) -> Timed:
    """Of each of the times."""

    def of(get: Callable[[Timed], float]) -> float:
        return statistics.median(map(get, times))

    return Timed(
        None,
        of(lambda each: each.wall),
        of(lambda each: each.cpu),
        of(lambda each: each.outside),
        of(lambda each: each.span),
    )
