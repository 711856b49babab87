"""Retries of one call: how often, after which pause, and the error when they were in vain.

No other layer retries: the SDK is told not to. The cost of failed requests is in the usage of the answer or of the error, and a request
that may have been paid is retried once."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import tenacity

from evolve.models.faults import FREE, RequestFault, Treatment
from evolve.types import ModelDown, ModelError, ModelGone, Usage

T = TypeVar("T")

TRIES = {Treatment.FIELD: 12, Treatment.DOWN: 5, Treatment.BAD_ANSWER: 2, Treatment.RATE_LIMITED: 1000}
"""Faults of a kind at which a call fails; it fails at the first one of another kind."""
CHECK_TRIES = {**TRIES, Treatment.RATE_LIMITED: 4}
"""As `TRIES`, for the check of a model, whose user waits to see whether it answers."""
FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
BELIEVED = 3
"""Pauses of a call that are as short as its server asks for; later ones grow even where it asks for hardly any time."""
SPREAD = 0.25
"""Share by which a pause is prolonged at random, so that calls which waited do not all leave at once."""
SPREAD_LIMIT_SECONDS = 5.0


def _pause(seconds: float, cancelled: threading.Event) -> bool:
    return cancelled.wait(max(0.0, seconds))


@dataclass(frozen=True, slots=True)
class ModelClock:
    """Time and chance, to be replaced in tests. `now`: seconds of `time.monotonic`; `pause`: waits so many
    seconds, or until the event is set, and returns whether it is; `chance`: a number from 0 to 1."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float, threading.Event], bool] = _pause
    chance: Callable[[], float] = random.random


class RateLimit:
    """Time until which no call of a model may be sent; one for each model. Any thread."""

    def __init__(self, clock: ModelClock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._seconds = 0.0

    def hold(self, seconds: float) -> None:
        """Lets no call through for so long; a longer pause that began before stays."""
        with self._lock:
            until = self._clock.now() + seconds
            if until > self._until:
                self._until, self._seconds = until, seconds

    @property
    def remaining(self) -> float:
        """Seconds until a call may be sent; 0 where none has to wait."""
        with self._lock:
            return max(0.0, self._until - self._clock.now())

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
            self._clock.pause(self._clock.chance() * min(SPREAD * self._seconds, SPREAD_LIMIT_SECONDS), cancelled)
        return 0.0


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


@dataclass(slots=True)
class _Call(Generic[T]):
    """One call with its attempts so far; its methods are the callbacks of `tenacity.Retrying`."""

    ask: Callable[[], T]
    limit: RateLimit
    clock: ModelClock
    deadline: float
    cancelled: threading.Event
    tries: Mapping[Treatment, int]
    faults: Counter[Treatment] = field(default_factory=Counter)
    failed: FailedAttempts = field(default_factory=FailedAttempts)
    last: RequestFault = field(default_factory=lambda: RequestFault(Treatment.RATE_LIMITED, "it wants fewer calls"))

    def attempt(self) -> T:
        """Sends one request when the model's rate limit lets it; raises `RequestFault`."""
        if left := self.limit.wait(self.deadline, self.cancelled):
            raise RequestFault(Treatment.RATE_LIMITED, str(self.last), retry_after=left)
        if self.cancelled.is_set():
            raise RequestFault(Treatment.FAILED, "the call was cancelled")
        began = self.clock.now()
        try:
            return self.ask()
        except RequestFault as fault:
            # A server that has not read the prompt has not worked on it either.
            seconds = self.clock.now() - began if fault.usage.prompt_tokens else 0.0
            self.failed.add(fault.usage, seconds, {fault.cause: 1})
            raise

    def after(self, state: tenacity.RetryCallState) -> None:
        """Counts the fault, and holds back all calls of the model where its server wants fewer."""
        fault = state.outcome.exception() if state.outcome else None
        assert isinstance(fault, RequestFault), "nothing else is retried"
        self.last = fault
        self.faults[fault.treatment] += 1
        if fault.treatment is Treatment.RATE_LIMITED or fault.retry_after is not None:
            self.limit.hold(self._backoff())

    def wait(self, state: tenacity.RetryCallState) -> float:
        """Returns the seconds to the next attempt; those of the rate limit come on top."""
        return self._backoff() if self.last.treatment is Treatment.DOWN and self.last.retry_after is None else 0.0

    def stop(self, state: tenacity.RetryCallState) -> bool:
        """Returns whether no further attempt is worth it, or none would begin before the deadline."""
        if self.faults[self.last.treatment] >= self.tries.get(self.last.treatment, 1):
            return True
        return self.clock.now() + max(state.upcoming_sleep, self.limit.remaining) > self.deadline

    def sleep(self, seconds: float) -> None:
        if seconds:
            self.clock.pause(seconds, self.cancelled)

    def error(self, name: str, fault: RequestFault) -> ModelError:
        """Returns the error that the last fault makes of the call."""
        message = f"model {name}: {fault}"
        if fault.treatment in (Treatment.DOWN, Treatment.RATE_LIMITED, Treatment.SILENT):
            return self.failed.mark(ModelDown(message, retry_after=fault.retry_after or 0.0))
        return self.failed.mark((ModelGone if fault.treatment is Treatment.GONE else ModelError)(message))

    def _backoff(self) -> float:
        """Returns a pause with full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), or the server's."""
        count = self.faults[self.last.treatment]
        ceiling = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2.0 ** min(count - 1, 16))
        jittered = self.clock.chance() * ceiling
        if self.last.retry_after is None:
            return jittered
        return self.last.retry_after if count <= BELIEVED else max(self.last.retry_after, jittered)


def call_with_retries(
    ask: Callable[[], T],
    name: str,
    limit: RateLimit,
    clock: ModelClock,
    deadline: float,
    cancelled: threading.Event,
    tries: Mapping[Treatment, int] = TRIES,
) -> CallResult[T]:
    """Returns the first answer of `ask`, which raises `RequestFault`; raises `ModelError` as `Model.complete` does."""
    call = _Call(ask, limit, clock, deadline, cancelled, tries)
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(RequestFault),
        after=call.after,
        wait=call.wait,
        stop=call.stop,
        sleep=call.sleep,
        reraise=True,
    )
    try:
        return CallResult(retrying(call.attempt), call.failed)
    except RequestFault as fault:
        raise call.error(name, fault) from None
