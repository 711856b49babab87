"""Retries of calls of a model, in two layers that know nothing of each other.

`RequestRetries` repeats the requests of one call to an endpoint, within the call's own deadline. `CircuitBreaker`
(https://martinfowler.com/bliki/CircuitBreaker.html) stands before a model of any kind: while the model is down its calls wait, one of them
tries again from time to time, and after too long all fail. No other layer retries: the SDK is told not to. The possible cost of failed
requests is in the usage of the answer or of the error."""

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from evolve.models.faults import FREE, RequestFault, Treatment
from evolve.types import ModelDown, ModelError, ModelGone, Usage
from evolve.types.errors import without_remedy

T = TypeVar("T")

TRIES = {Treatment.FIELD: 12, Treatment.DOWN: 5, Treatment.BAD_ANSWER: 2, Treatment.RATE_LIMITED: 1000}
"""Faults of a kind at which a call fails; it fails at the first one of another kind."""
CHECK_TRIES = {**TRIES, Treatment.RATE_LIMITED: 4}
"""As `TRIES`, for the check of a model, whose user waits to see whether it answers."""
FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
SPREAD = 0.25
"""Share by which a pause is prolonged at random, so that calls which waited do not all leave at once."""
SPREAD_LIMIT_SECONDS = 5.0
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
SLICE_SECONDS = 0.25
"""Delay at most until a waiting call learns that the model is back, or that it is cancelled."""
MOST_FAILURES = 3
"""Tries of a call that may have been paid, or that failed while others were answered, after which it fails: the model is not at fault."""

_log = logging.getLogger(__name__)


def _pause(seconds: float, cancelled: threading.Event) -> bool:
    return cancelled.wait(max(0.0, seconds))


@dataclass(frozen=True, slots=True)
class ModelClock:
    """Time and chance, to be replaced in tests. `now`: seconds of `time.monotonic`; `pause`: waits so many
    seconds, or until the event is set, and returns whether it is; `chance`: a number from 0 to 1."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float, threading.Event], bool] = _pause
    chance: Callable[[], float] = random.random


@dataclass(slots=True)
class FailedAttempts:
    """Attempts of one call that failed: their possible cost, their number, the seconds that they may have kept a server busy, and their causes."""

    usage: Usage = FREE
    count: int = 0
    seconds: float = 0.0
    causes: Counter[str] = field(default_factory=Counter)

    def add(self, usage: Usage, seconds: float, causes: Mapping[str, int], count: int = 1) -> None:
        """Counts one more attempt, or the `count` that a call has had below."""
        self.usage = self.usage.plus(usage)
        self.count += count
        self.seconds += seconds
        self.causes.update(causes)

    def mark(self, error: ModelError) -> ModelError:
        """Returns the error with what all attempts took."""
        error.usage, error.attempts, error.seconds = self.usage, self.count, self.seconds
        error.retries = dict(self.causes)
        return error


@dataclass(frozen=True, slots=True)
class CallResult(Generic[T]):
    """The answer to a call, and the attempts that failed before."""

    value: T
    failed: FailedAttempts


class RequestRetries:
    """Retries of the requests to one endpoint, whose calls all wait where its server wants fewer. Any thread."""

    def __init__(self, name: str, clock: ModelClock) -> None:
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._held_until = 0.0
        self._held_seconds = 0.0

    def call(
        self,
        ask: Callable[[], T],
        deadline: float,
        cancelled: threading.Event,
        tries: Mapping[Treatment, int] = TRIES,
    ) -> CallResult[T]:
        """Returns the first answer of `ask`, which raises `RequestFault`; raises `ModelError` as `Model.complete` does."""
        failed, faults = FailedAttempts(), Counter[Treatment]()
        reason = "it wants fewer calls"
        while not cancelled.is_set():
            if left := self.wait(deadline, cancelled):
                raise failed.mark(ModelDown(f"model {self._name}: {reason}", retry_after=left))
            if cancelled.is_set():
                break
            began = self._clock.now()
            try:
                return CallResult(ask(), failed)
            except RequestFault as fault:
                # A server that has not read the prompt has not worked on it either.
                seconds = self._clock.now() - began if fault.usage.prompt_tokens else 0.0
                failed.add(fault.usage, seconds, {fault.cause: 1})
                faults[fault.treatment] += 1
                reason, pause = str(fault), self._back_off(fault, faults[fault.treatment])
                is_last = faults[fault.treatment] >= tries.get(fault.treatment, 1)
                if is_last or self._clock.now() + max(pause, self.remaining) > deadline:
                    raise failed.mark(self._to_error(fault)) from None
            if pause:
                self._clock.pause(pause, cancelled)
        raise failed.mark(ModelError(f"model {self._name}: the call was cancelled"))

    def hold(self, seconds: float) -> None:
        """Lets no call through for so long; a longer pause that began before stays."""
        with self._lock:
            until = self._clock.now() + seconds
            if until > self._held_until:
                self._held_until, self._held_seconds = until, seconds

    @property
    def remaining(self) -> float:
        """Seconds until a call may be sent; 0 where none has to wait."""
        with self._lock:
            return max(0.0, self._held_until - self._clock.now())

    def wait(self, deadline: float, cancelled: threading.Event) -> float:
        """Waits until a call may be sent or is cancelled, and returns 0; returns the seconds that are left, without waiting, where they end
        after the deadline."""
        has_waited = False
        while (left := self.remaining) and not cancelled.is_set():
            if self._clock.now() + left > deadline:
                return left
            has_waited = True
            self._clock.pause(left, cancelled)
        if has_waited:
            spread = min(SPREAD * self._held_seconds, SPREAD_LIMIT_SECONDS)
            self._clock.pause(self._clock.chance() * spread, cancelled)
        return 0.0

    def _back_off(self, fault: RequestFault, count: int) -> float:
        """Returns the seconds until this call asks again after so many faults of a kind; holds back all calls where the server wants that. The
        pauses have full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/)."""
        is_held = fault.treatment is Treatment.RATE_LIMITED or fault.retry_after is not None
        if not is_held and fault.treatment is not Treatment.DOWN:
            return 0.0
        ceiling = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2.0 ** min(count - 1, 16))
        # Pauses grow even where a server asks for hardly any time: some ask for none as long as they are overloaded.
        pause = max(fault.retry_after or 0.0, self._clock.chance() * ceiling)
        if not is_held:
            return pause
        self.hold(pause)
        return 0.0

    def _to_error(self, fault: RequestFault) -> ModelError:
        message = f"model {self._name}: {fault}"
        if fault.treatment in (Treatment.DOWN, Treatment.RATE_LIMITED, Treatment.SILENT):
            return ModelDown(message, retry_after=fault.retry_after or 0.0)
        return (ModelGone if fault.treatment is Treatment.GONE else ModelError)(message)


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
            if call.paid >= MOST_FAILURES or call.alone >= MOST_FAILURES:
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
