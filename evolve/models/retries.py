"""Retries of one call: how often, after which pause, and the error when they were in vain.

No other layer retries: the SDK is told not to. The cost of failed requests is in the usage of the answer or of the error, and a request
that may have been paid is retried once."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import tenacity

from evolve.models.faults import FREE, RequestFault, Treatment
from evolve.models.limits import ModelClock, RateLimit
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
_DOWN = {Treatment.DOWN, Treatment.RATE_LIMITED, Treatment.SILENT}


@dataclass(frozen=True, slots=True)
class CallResult(Generic[T]):
    """The answer to a call, how many requests it took, the possible cost of those that failed, and how many failed of each cause."""

    value: T
    attempts: int
    wasted: Usage
    retries: Mapping[str, int] = field(default_factory=dict)


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
    causes: Counter[str] = field(default_factory=Counter)
    wasted: Usage = FREE
    sent: int = 0
    seconds: float = 0.0
    last: RequestFault = field(default_factory=lambda: RequestFault(Treatment.RATE_LIMITED, "it wants fewer calls"))

    def attempt(self) -> T:
        """Sends one request when the model's rate limit lets it; raises `RequestFault`."""
        if left := self.limit.wait(self.deadline, self.cancelled):
            raise RequestFault(Treatment.RATE_LIMITED, str(self.last), retry_after=left)
        if self.cancelled.is_set():
            raise RequestFault(Treatment.CANCELLED, "the call was cancelled")
        self.sent += 1
        began = self.clock.now()
        try:
            return self.ask()
        except RequestFault as fault:
            self.wasted = self.wasted.plus(fault.usage)
            self.seconds += self.clock.now() - began if fault.usage.prompt_tokens else 0.0
            self.causes[fault.cause] += 1
            raise

    def after(self, state: tenacity.RetryCallState) -> None:
        """Counts the fault, and holds back all calls of the model where its server wants fewer."""
        self.last = _fault_of(state)
        self.faults[self.last.treatment] += 1
        if self.last.treatment is Treatment.RATE_LIMITED or self.last.retry_after is not None:
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
        value = retrying(call.attempt)
    except RequestFault as fault:
        raise _error_of(fault, name, call) from None
    return CallResult(value, call.sent, call.wasted, call.causes)


def _fault_of(state: tenacity.RetryCallState) -> RequestFault:
    fault = state.outcome.exception() if state.outcome else None
    assert isinstance(fault, RequestFault), "nothing else is retried"
    return fault


def _error_of(fault: RequestFault, name: str, call: _Call[T]) -> ModelError:
    message = f"model {name}: {fault}"
    spent = (call.wasted, call.sent, call.seconds)
    error: ModelError
    if fault.treatment in _DOWN:
        error = ModelDown(message, *spent, retry_after=fault.retry_after or 0.0)
    else:
        error = (ModelGone if fault.treatment is Treatment.GONE else ModelError)(message, *spent)
    error.retries = call.causes
    return error
