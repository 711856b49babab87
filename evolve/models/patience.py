"""What is done while a model is down: its calls wait, one of them tries again from time to time, and at last all are told that it is gone.

Invariant: a call is in one place: waiting, or tried once at a time; what its failed tries may have cost is in its answer or its error."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, cast

from evolve.models.clock import Clock
from evolve.models.turns import gives_way
from evolve.protocols import Embedder, Model
from evolve.types import ModelDown, ModelError, ModelGone, Prompt, Reply, Usage
from evolve.types.errors import without_remedy

T = TypeVar("T")

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
SLICE_SECONDS = 0.25
"""How late a waiting call learns that the model is back, or that it is cancelled."""
TRIES = 3
"""A call that may have been paid so often, or failed so often while others were answered, fails: the model is not what is wrong."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outlasted(Generic[T]):
    """What came of a call, and what its tries before took."""

    value: T
    wasted: Usage
    attempts: int


@dataclass(slots=True)
class _Call:
    """One call so far."""

    cancelled: threading.Event
    wasted: Usage
    attempts: int = 0
    seconds: float = 0.0
    paid: int = 0
    alone: int = 0

    def count(self, error: ModelError) -> None:
        """A try has failed; the error tells of those before it, too."""
        self.paid += error.usage.prompt_tokens > 0
        self.wasted = error.usage = self.wasted.plus(error.usage)
        self.attempts = error.attempts = self.attempts + error.attempts
        self.seconds = error.seconds = self.seconds + error.seconds

    def error(self, kind: type[ModelError], message: str) -> ModelError:
        """Its end, with what its tries took."""
        return kind(message, self.wasted, self.attempts, self.seconds)


class Patience:
    """One for each model, shared by its threads. An outage begins with a call that fails as `ModelDown` and that no other call's success
    contradicts; it ends with the first success."""

    def __init__(self, wait_seconds: float, clock: Clock | None = None, name: str = "the model") -> None:
        self._name = name
        self._wait_seconds = wait_seconds
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._waiting: deque[_Call] = deque()
        self._answered = float("-inf")
        self._down_since: float | None = None
        self._next = 0.0
        self._pauses = 0
        self._probe: _Call | None = None
        self._gone = ""

    def wait(self, seconds: float) -> None:
        """Outages are outlasted for so long from now on."""
        with self._lock:
            self._wait_seconds = seconds

    @property
    def down_seconds(self) -> float:
        """How long the model has been down; 0 where it is not."""
        with self._lock:
            return 0.0 if self._down_since is None else self._clock.now() - self._down_since

    def outlast(self, attempt: Callable[[float], T], deadline: float, cancelled: threading.Event) -> Outlasted[T]:
        """What `attempt` returns once the model answers. It is given a deadline, as far away each time as `deadline` is now: waiting
        does not count. Raises `ModelGone` when the model was down for too long, and `ModelError` as the attempt does."""
        seconds = deadline - self._clock.now()
        call = _Call(cancelled, Usage(exact=True))
        while True:
            self._admit(call)
            began = self._clock.now()
            try:
                value = attempt(began + seconds)
            except ModelDown as error:
                call.count(error)
                self._failed(call, error, began)
            except ModelError as error:
                call.count(error)
                self._ended(call, error)
                raise
            else:
                self._succeeded()
                return Outlasted(value, call.wasted, call.attempts)
            finally:
                self._release(call)

    def _admit(self, call: _Call) -> None:
        """Returns when the call may be tried; the one that has waited longest tries first."""
        with self._lock:
            self._waiting.append(call)
        try:
            while (left := self._left(call)) > 0:
                self._clock.pause(min(left, SLICE_SECONDS), call.cancelled)
        finally:
            with self._lock:
                self._waiting.remove(call)

    def _left(self, call: _Call) -> float:
        """Seconds until the call looks again; 0: it goes."""
        with self._lock:
            if self._gone:
                raise call.error(ModelGone, self._gone)
            if call.cancelled.is_set():
                raise call.error(ModelError, "the call was cancelled")
            if self._down_since is None:
                return 0.0
            if self._probe is not None or self._waiting[0] is not call:
                return SLICE_SECONDS
            left = self._next - self._clock.now()
            if left <= 0:
                self._probe = call
            return max(0.0, left)

    def _failed(self, call: _Call, error: ModelDown, began: float) -> None:
        """The outage begins or goes on; raises where it is over, or no outage."""
        with self._lock:
            call.alone += self._answered > began
            if call.paid >= TRIES or call.alone >= TRIES:
                raise call.error(ModelError, f"{error} ({call.attempts} attempts)") from error
            if self._answered > began:
                return
            self._prolong(call, error, began)
            if self._gone:
                raise call.error(ModelGone, self._gone) from error

    def _prolong(self, call: _Call, error: ModelDown, began: float) -> None:
        now, starts = self._clock.now(), self._down_since is None
        self._down_since = began if self._down_since is None else self._down_since
        until = self._down_since + self._wait_seconds
        if now >= until:
            self._gone = (
                f"{without_remedy(str(error))}. It was down for {now - self._down_since:.0f} s, longer than `outage.model_wait_seconds` allows. "
                "Do: see to it, then continue the campaign"
            )
        elif starts or self._probe is call:
            pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(self._pauses, 16))
            self._pauses += 1
            self._next = min(until, now + max(error.retry_after, pause * (1 + self._clock.chance()) / 2))
        if starts and not self._gone:
            _log.warning(
                "%s is down: %s. Its calls wait, %.0f s at most",
                self._name,
                without_remedy(str(error)),
                self._wait_seconds,
            )

    def _ended(self, call: _Call, error: ModelError) -> None:
        """A call that failed for good: it says nothing of the model where it was cancelled, else that the model is there, or gone."""
        if isinstance(error, ModelGone):
            with self._lock:
                self._gone = self._gone or str(error)
        elif not call.cancelled.is_set():
            self._succeeded()

    def _succeeded(self) -> None:
        with self._lock:
            if self._down_since is not None:
                _log.warning("%s is back after %.0f s", self._name, self._clock.now() - self._down_since)
            self._answered, self._down_since, self._pauses = self._clock.now(), None, 0

    def _release(self, call: _Call) -> None:
        with self._lock:
            if self._probe is call:
                self._probe = None


class PatientModel:
    """A model whose calls outlast its outages."""

    def __init__(self, model: Model, patience: Patience) -> None:
        self._model = model
        self._patience = patience

    @property
    def gives_way(self) -> bool:
        """Where the model does."""
        return gives_way(self._model)

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """At once, as the model has it: who asks wants to know."""
        return self._model.check(deadline, cancelled)

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """See `Model.complete`; never raises `ModelDown`. `deadline` bounds each try, and no outage counts."""

        def attempt(until: float) -> Sequence[Reply]:
            return self._model.complete(prompt, samples=samples, deadline=until, cancelled=cancelled)

        done = self._patience.outlast(attempt, deadline, cancelled)
        first, *others = [replace(reply, attempts=done.attempts + reply.attempts) for reply in done.value]
        return [replace(first, usage=done.wasted.plus(first.usage)) if done.attempts else first, *others]

    def embed(self, text: str, *, deadline: float, cancelled: threading.Event) -> tuple[Sequence[float], Usage]:
        """See `Embedder.embed`; only where the model is one."""
        embedder = cast(Embedder, self._model)

        def attempt(until: float) -> tuple[Sequence[float], Usage]:
            return embedder.embed(text, deadline=until, cancelled=cancelled)

        done = self._patience.outlast(attempt, deadline, cancelled)
        vector, usage = done.value
        return vector, done.wasted.plus(usage)

    def close(self) -> None:
        """Closes the model."""
        self._model.close()
