"""On which cores this process may run, and one core for those of its threads that take turns.

A thread that hands the interpreter to one that sleeps on another core has to wake that core, and leaves its caches behind; in a virtual machine
that takes a fifth of the engine's time. On one core it is a switch like any other. Invariant: only a thread itself changes where it runs, and what it starts in `anywhere`,
a process or a thread, may run where this process may."""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_THIS_THREAD = Path("/proc/thread-self/stat")
_PROCESSOR = 36
"""Its place in that line, behind the program's name: proc_pid_stat(5)."""
_SECONDS = 5.0
"""After which the system chooses anew: another process may have come to the core."""
_MOMENT = 0.02
"""How long it has for that."""


class _Mine(threading.local):
    """`number`: where the calling thread is kept since it joined `core`; None where it is not."""

    core: "Core | None" = None
    number: int | None = None


_mine = _Mine()


def usable() -> tuple[int, ...]:
    """The threads of cores that this process may run on, by number; the same for a thread that is kept to one."""
    if _mine.core is not None:
        return _mine.core.usable
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


@contextmanager
def anywhere() -> Iterator[None]:
    """The calling thread runs where this process may, and so does what it starts, even if it was kept to one core and is afterwards."""
    core = _mine.core
    if core is None:
        yield
        return
    core.leave()
    try:
        yield
    finally:
        core.join()


def current() -> int | None:
    """The number of the core's thread that the calling thread runs on, where the system tells."""
    try:
        told = _THIS_THREAD.read_text()
    except OSError:
        return None
    return int(told.rpartition(")")[2].split()[_PROCESSOR])


def run_on(cores: Collection[int]) -> None:
    """Keeps the calling thread to these; where the system does not allow it any more, it runs where it did."""
    with suppress(OSError):
        os.sched_setaffinity(0, cores)


class Core:
    """The core of one run's threads. The main thread makes it, chooses, and leaves it; the others join it, each time that they begin to compute."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        current: Callable[[], int | None] = current,
        run_on: Callable[[Collection[int]], None] = run_on,
    ) -> None:
        self.usable = usable()
        self._clock = clock
        self._current = current
        self._run_on = run_on
        self._is_choice = len(self.usable) > 1 and hasattr(os, "sched_setaffinity")
        self._kept = False
        self._number: int | None = None
        self._loose = True
        self._next = 0.0

    def keep(self, *, on: bool) -> None:
        """Whether threads are kept from now on. Main thread."""
        self._kept = on and self._is_choice
        self._loose, self._next = True, 0.0
        if not self._kept:
            self._number = None
            self.join()

    def choose(self) -> None:
        """Every few seconds the main thread is free for a moment, and the core on which it is found then is the one. Main thread, once a turn."""
        now = self._clock()
        if not self._kept or now < self._next:
            return
        if self._loose:
            self._number = self._found()
            self._next = now + _SECONDS
            self.join()
        else:
            self.leave()
            self._next = now + _MOMENT
        self._loose = not self._loose

    def join(self) -> None:
        """The calling thread runs on this core, or anywhere while there is none."""
        if not self._is_choice or (_mine.core is self and _mine.number == self._number):
            return
        _mine.core, _mine.number = self, self._number
        self._run_on(self.usable if self._number is None else (self._number,))

    def leave(self) -> None:
        """The calling thread runs anywhere."""
        if _mine.core is self:
            _mine.core = None
            self._run_on(self.usable)

    def _found(self) -> int | None:
        number = self._current()
        return number if number in self.usable else None
