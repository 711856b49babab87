"""Circuit breaker of a model (https://martinfowler.com/bliki/CircuitBreaker.html): while it is down its calls wait, one of them tries again
from time to time, and after too long all fail. The possible cost of failed tries is in the answer of their call, or in its error."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from evolve.models.retries import CallResult, FailedAttempts, ModelClock
from evolve.types import ModelDown, ModelError, ModelGone
from evolve.types.errors import without_remedy

T = TypeVar("T")

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
SLICE_SECONDS = 0.25
"""Delay at most until a waiting call learns that the model is back, or that it is cancelled."""
TRIES = 3
"""Tries of a call that may have been paid, or that failed while others were answered, after which it fails: the model is not at fault."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _GuardedCall:
    """One call so far. `paid` and `alone` count its tries that may have been paid, and that failed while others were answered."""

    cancelled: threading.Event
    failed: FailedAttempts = field(default_factory=FailedAttempts)
    paid: int = 0
    alone: int = 0

    def count(self, error: ModelError) -> None:
        """Adds a failed try; its error tells of those before it, too."""
        self.paid += error.usage.prompt_tokens > 0
        self.failed.add(error.usage, error.seconds, error.retries, error.attempts)
        self.failed.mark(error)


class CircuitBreaker:
    """State of one model, shared by the threads that call it. An outage begins with a call that fails as `ModelDown` and that no success of
    another call contradicts; it ends with the first success."""

    def __init__(self, wait_seconds: float, clock: ModelClock | None = None, name: str = "the model") -> None:
        self._name = name
        self._wait_seconds = wait_seconds
        self._clock = clock or ModelClock()
        self._lock = threading.Lock()
        self._answered = float("-inf")
        self._down_since: float | None = None
        self._next_probe = 0.0
        self._pauses = 0
        self._probe: _GuardedCall | None = None
        self._gone = ""

    @property
    def down_seconds(self) -> float:
        """Seconds for which the model has been down; 0 where it is not."""
        with self._lock:
            return 0.0 if self._down_since is None else self._clock.now() - self._down_since

    def call(self, attempt: Callable[[float], T], deadline: float, cancelled: threading.Event) -> CallResult[T]:
        """Calls `attempt` until the model answers. It is given a deadline, as far away each time as `deadline` is now: waiting does not
        count. Raises `ModelGone` when the model was down for too long, and `ModelError` as the attempt does, but never `ModelDown`."""
        seconds = deadline - self._clock.now()
        call = _GuardedCall(cancelled)
        while True:
            while (left := self._seconds_left(call)) > 0:
                self._clock.pause(min(left, SLICE_SECONDS), cancelled)
            began = self._clock.now()
            try:
                value = attempt(began + seconds)
            except ModelDown as error:
                call.count(error)
                self._note_outage(call, error, began)
            except ModelError as error:
                call.count(error)
                self._note_failure(call, error)
                raise
            else:
                self._note_success()
                return CallResult(value, call.failed)
            finally:
                self._release(call)

    def _seconds_left(self, call: _GuardedCall) -> float:
        """Returns the seconds until the call asks again; 0: it may be tried."""
        with self._lock:
            if self._gone:
                raise call.failed.mark(ModelGone(self._gone))
            if call.cancelled.is_set():
                raise call.failed.mark(ModelError("the call was cancelled"))
            if self._down_since is None:
                return 0.0
            if self._probe is not None:
                return SLICE_SECONDS
            left = self._next_probe - self._clock.now()
            if left <= 0:
                self._probe = call
            return max(0.0, left)

    def _note_outage(self, call: _GuardedCall, error: ModelDown, began: float) -> None:
        """Begins or prolongs the outage; raises where it has lasted too long, or is none."""
        with self._lock:
            call.alone += self._answered > began
            if call.paid >= TRIES or call.alone >= TRIES:
                raise call.failed.mark(ModelError(f"{error} ({call.failed.count} attempts)")) from error
            if self._answered > began:
                return
            self._prolong(call, error, began)
            if self._gone:
                raise call.failed.mark(ModelGone(self._gone)) from error

    def _prolong(self, call: _GuardedCall, error: ModelDown, began: float) -> None:
        now, starts = self._clock.now(), self._down_since is None
        self._down_since = began if self._down_since is None else self._down_since
        until = self._down_since + self._wait_seconds
        what = without_remedy(str(error))
        if now >= until:
            self._gone = (
                f"{what}. It was down for {now - self._down_since:.0f} s, longer than `outage.model_wait_seconds` allows. "
                "Try: see to it, then continue the campaign"
            )
            return
        # Calls that were in flight as the outage began fail one after another; the probe alone prolongs the pause.
        if starts or self._probe is call:
            pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(self._pauses, 16))
            self._pauses += 1
            self._next_probe = min(until, now + max(error.retry_after, pause * (1 + self._clock.chance()) / 2))
        if starts:
            _log.warning("%s is down: %s. Its calls wait, %.0f s at most", self._name, what, self._wait_seconds)

    def _note_failure(self, call: _GuardedCall, error: ModelError) -> None:
        """Takes an error that no retry mends as a sign that the model is there, or gone; one that was cancelled says nothing of it."""
        if isinstance(error, ModelGone):
            with self._lock:
                self._gone = self._gone or str(error)
        elif not call.cancelled.is_set():
            self._note_success()

    def _note_success(self) -> None:
        with self._lock:
            if self._down_since is not None:
                _log.warning("%s is back after %.0f s", self._name, self._clock.now() - self._down_since)
            self._answered, self._down_since, self._pauses = self._clock.now(), None, 0

    def _release(self, call: _GuardedCall) -> None:
        with self._lock:
            if self._probe is call:
                self._probe = None
