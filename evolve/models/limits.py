"""Time as models that wait use it, and the pause of all calls of a model after its server asked for fewer."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

SPREAD = 0.25
"""Share by which a pause is prolonged at random, so that calls which waited do not all leave at once."""
SPREAD_LIMIT_SECONDS = 5.0


def _pause(seconds: float, cancelled: threading.Event) -> bool:
    return cancelled.wait(max(0.0, seconds))


@dataclass(frozen=True, slots=True)
class ModelClock:
    """Time and chance, to be replaced in tests. `now`: seconds of `time.monotonic`; `wall`: seconds since 1970; `pause`: waits so many
    seconds, or until the event is set, and returns whether it is; `chance`: a number from 0 to 1."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
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
