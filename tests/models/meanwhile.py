"""What a test waits for while other threads work."""

import time
from collections.abc import Callable


def until(true: Callable[[], bool]) -> None:
    """Returns when something holds, which another thread brings about; an assertion fails where it does not within a minute."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)
