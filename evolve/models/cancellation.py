"""How a run ends its calls: an event that a thread which waits for a socket hears at once, and that nobody has to look at until then."""

import os
import threading


class Cancellation(threading.Event):
    """An event for `select.poll`, too: its descriptor can be read from once it is set. It is not cleared again."""

    def __init__(self) -> None:
        super().__init__()
        self._heard, self._rung = os.pipe()

    def fileno(self) -> int:
        """The descriptor; -1 after `close`."""
        return self._heard

    def set(self) -> None:
        """Ends the waiting of all; any thread, and again."""
        was_set = self.is_set()
        super().set()
        if not was_set and self._rung >= 0:
            os.write(self._rung, b"!")

    def close(self) -> None:
        """Gives the descriptors back, when no thread waits any more."""
        for number in (self._heard, self._rung):
            if number >= 0:
                os.close(number)
        self._heard = self._rung = -1
