"""Asking again: how often, after how long, and what is told when it was in vain.

Invariant: what a failed request may have cost is in the usage of the answer, or of the error; nothing that may have been paid is asked
again more than once."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from evolve.models.clock import Clock
from evolve.models.faults import FREE, Fault, Treatment
from evolve.models.limiter import Limiter
from evolve.types import ModelDown, ModelError, ModelGone, Usage

T = TypeVar("T")

TRIES = {Treatment.FIELD: 12, Treatment.STALE: 4, Treatment.DOWN: 5, Treatment.NONSENSE: 2, Treatment.HELD: 1000}
"""How many faults of a kind a call survives, less one; of the others, none."""
FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
BELIEVED = 3
HELD_AT_FIRST = 4
"""How often a server may want fewer calls before the first one: somebody waits to see whether it answers at all."""
_FINAL = {
    Treatment.GONE: ModelGone,
    Treatment.REFUSED: ModelError,
    Treatment.NONSENSE: ModelError,
    Treatment.LATE: ModelError,
    Treatment.FIELD: ModelError,
    Treatment.CANCELLED: ModelError,
}


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """What came of it, how many requests it took, and what those that failed may have cost."""

    value: T
    attempts: int
    wasted: Usage


@dataclass(slots=True)
class _Call:
    """One call so far."""

    deadline: float
    cancelled: threading.Event
    faults: Counter[Treatment] = field(default_factory=Counter)
    wasted: Usage = FREE
    sent: int = 0
    seconds: float = 0.0

    def count(self, fault: Fault, seconds: float) -> int:
        """How many faults of its kind there were, with this one, which took so long."""
        self.wasted = self.wasted.plus(fault.usage)
        self.seconds += seconds if fault.usage.prompt_tokens else 0.0
        self.faults[fault.treatment] += 1
        return self.faults[fault.treatment]


class Attempts:
    """Asks a model until it answers. Any thread."""

    def __init__(self, name: str, limiter: Limiter, clock: Clock) -> None:
        self._name = name
        self._limiter = limiter
        self._clock = clock

    def until_answered(
        self, ask: Callable[[], T], deadline: float, cancelled: threading.Event, *, held: int = TRIES[Treatment.HELD]
    ) -> Answered[T]:
        """The first answer of `ask`, which raises `Fault`; raises `ModelError` as `Model.complete` does. `held`: how often the server may
        say that it wants fewer calls."""
        call = _Call(deadline, cancelled)
        last = Fault(Treatment.HELD, "it wants fewer calls")
        while True:
            self._leave_alone(call, last)
            call.sent += 1
            began = self._clock.now()
            try:
                return Answered(ask(), call.sent, call.wasted)
            except Fault as fault:
                last = fault
            count = call.count(last, self._clock.now() - began)
            if count >= (held if last.treatment is Treatment.HELD else TRIES.get(last.treatment, 1)):
                raise self._error(call, last)
            self._back_off(call, last, count)

    def _leave_alone(self, call: _Call, last: Fault) -> None:
        """Waits while the model is held back; raises where the call ends before that."""
        if left := self._limiter.wait(call.deadline, call.cancelled):
            raise self._error(call, Fault(Treatment.HELD, str(last), retry_after=left))
        if call.cancelled.is_set():
            raise self._error(call, Fault(Treatment.CANCELLED, "the call was cancelled"))

    def _back_off(self, call: _Call, fault: Fault, count: int) -> None:
        """Full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), or as long as the server says: then
        every call of the model waits."""
        if fault.treatment in (Treatment.FIELD, Treatment.STALE, Treatment.NONSENSE):
            return
        seconds = self._pause_seconds(fault, count)
        if fault.treatment is Treatment.HELD or fault.retry_after is not None:
            self._limiter.hold(seconds)
        elif self._clock.now() + seconds > call.deadline:
            raise self._error(call, fault)
        else:
            self._clock.pause(seconds, call.cancelled)

    def _pause_seconds(self, fault: Fault, count: int) -> float:
        """What the server says is believed, unless it says again and again that it wants hardly any time."""
        ceiling = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2.0 ** min(count - 1, 16))
        by_chance = self._clock.chance() * ceiling
        if fault.retry_after is None:
            return by_chance
        return fault.retry_after if count <= BELIEVED else max(fault.retry_after, by_chance)

    def _error(self, call: _Call, fault: Fault) -> ModelError:
        message = f"model {self._name}: {fault}"
        kind = _FINAL.get(fault.treatment)
        if kind is not None:
            return kind(message, call.wasted, call.sent, call.seconds)
        return ModelDown(message, call.wasted, call.sent, call.seconds, retry_after=fault.retry_after or 0.0)
