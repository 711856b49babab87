"""How long a campaign has run, over all its runs.

Invariant: while it rests no second passes."""

import time


class Clock:
    """Runs from when it is made, at `active` seconds. Main thread."""

    def __init__(self, active: float = 0.0) -> None:
        self._started = time.monotonic() - active
        self._resting_since: float | None = None

    @property
    def seconds(self) -> float:
        """Until now, or until it rests."""
        now = time.monotonic() if self._resting_since is None else self._resting_since
        return now - self._started

    def rest(self) -> None:
        """The campaign is paused, and nothing is under way. Again, if it rests already."""
        if self._resting_since is None:
            self._resting_since = time.monotonic()

    def wake(self) -> None:
        """It goes on, if it rests."""
        if self._resting_since is not None:
            self._started += time.monotonic() - self._resting_since
            self._resting_since = None
