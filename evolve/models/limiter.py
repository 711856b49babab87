"""What holds back all calls of a model when its server wants fewer.

Invariant: one per model, shared by its threads; a call that is held back sends nothing."""

import threading

from evolve.models.clock import Clock

SPREAD = 0.25
"""Calls that were held back do not all leave at once: each waits up to this share longer, by chance."""
SPREAD_LIMIT_SECONDS = 5.0


class Limiter:
    """Until when nobody may ask. Any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._held = 0.0

    def hold(self, seconds: float) -> None:
        """Nobody asks for so long; a longer hold that was asked for before stays."""
        with self._lock:
            until = self._clock.now() + seconds
            if until > self._until:
                self._until, self._held = until, seconds

    @property
    def remaining(self) -> float:
        """Seconds until somebody may ask; 0 where nothing holds."""
        with self._lock:
            return max(0.0, self._until - self._clock.now())

    def wait(self, deadline: float, cancelled: threading.Event) -> float:
        """Returns when the model may be asked, or the call is cancelled: 0; at once where the hold ends after the deadline: then, in how many seconds."""
        held = False
        while (left := self.remaining) and not cancelled.is_set():
            if self._clock.now() + left > deadline:
                return left
            held = True
            self._clock.pause(left, cancelled)
        if held:
            self._clock.pause(self._clock.chance() * min(SPREAD * self._held, SPREAD_LIMIT_SECONDS), cancelled)
        return 0.0
