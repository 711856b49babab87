"""Time and chance, as the parts that wait are given them.

Invariant: nothing here knows what is waited for."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from evolve.models.turns import given_up


def _pause(seconds: float, cancelled: threading.Event) -> bool:
    with given_up():
        return cancelled.wait(max(0.0, seconds))


@dataclass(frozen=True, slots=True)
class Clock:
    """`now`: seconds, as `time.monotonic` counts them; `wall`: seconds since 1970; `pause`: waits so many seconds, or less where the
    event is set, and says whether it is; `chance`: a number from 0 to 1."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    pause: Callable[[float, threading.Event], bool] = _pause
    chance: Callable[[], float] = random.random
