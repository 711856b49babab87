"""Ctrl-C and the system's wish to end, as something that a loop can take when it is ready.

Invariant: the handlers that were there before are there again afterwards."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupts(first: Callable[[], None]) -> Iterator[None]:
    """Calls `first` at the first signal, between two instructions of the main thread; every later one raises `KeyboardInterrupt`.
    Does nothing on another thread, which gets no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def handle(*_: object) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise KeyboardInterrupt
        first()

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
