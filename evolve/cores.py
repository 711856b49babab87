"""On which cores this process may run, and one core for those of its threads that take turns.

A thread that hands the interpreter to one that sleeps on another core has to wake that core, and leaves its caches behind; on one core it is
a switch like any other. Invariant: only a thread itself changes where it runs, and what it starts within `on_all_cores`, a process or a thread, may run
where this process may."""

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
    """The threads of cores that this process may run on, by number; the same for a thread that has joined a `Core`, but not for one that it has started
    outside of `on_all_cores`."""
    return _allowed() if _mine.core is None else _mine.core.usable


def _allowed() -> tuple[int, ...]:
    """Where the calling thread may run."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


@contextmanager
def on_all_cores() -> Iterator[None]:
    """The calling thread runs where this process may, and so does what it starts; before and afterwards it may be kept to one core."""
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


class Core:
    """The core of one run's threads. The main thread makes it, chooses, and closes it; the others join it before they compute. `kept`: whether there
    is such a core at all."""

    def __init__(
        self,
        *,
        kept: bool,
        clock: Callable[[], float] = time.monotonic,
        where: Callable[[], int | None] = current,
    ) -> None:
        self._kept = kept and hasattr(os, "sched_setaffinity") and len(_allowed()) > 1
        self._clock = clock
        self._where = where
        self._number: int | None = None
        self._next = 0.0
        self._over = threading.Event()
        # It sleeps, and is never kept: where it may run is where this process may, whoever says so and when.
        self._witness = threading.Thread(target=self._over.wait, name="evolve-cores", daemon=True)

    @property
    def usable(self) -> tuple[int, ...]:
        """Where this process may run."""
        if self._witness.native_id is not None and self._witness.is_alive():
            with suppress(ProcessLookupError):  # it ends at this moment
                return tuple(sorted(os.sched_getaffinity(self._witness.native_id)))
        return _allowed()

    def choose(self) -> None:
        """Every few seconds the main thread is free for a moment, and the core on which it is found then is the one. Main thread, once a turn."""
        now = self._clock()
        if not self._kept or now < self._next:
            return
        if _mine.core is self:
            self.leave()
            self._next = now + _MOMENT
            return
        if self._witness.native_id is None:
            self._witness.start()
        self._number = self._where()
        self._next = now + _SECONDS
        self.join()

    def join(self) -> None:
        """The calling thread runs on this core, or where this process may while there is none."""
        number = self._number  # the main thread may choose meanwhile
        if not self._kept or (_mine.core is self and _mine.number == number):
            return
        _mine.core, _mine.number = self, number
        usable = self.usable
        _run_on((number,) if number in usable else usable)

    def leave(self) -> None:
        """The calling thread runs where this process may."""
        if _mine.core is self:
            _mine.core, _mine.number = None, None
            _run_on(self.usable)

    def close(self) -> None:
        """The run is over, and its other threads end. Main thread."""
        self.leave()
        self._kept = False
        self._over.set()


def _run_on(cores: Collection[int]) -> None:
    """Keeps the calling thread to these; where the system does not allow it any more, it runs where it did."""
    with suppress(OSError):
        os.sched_setaffinity(0, cores)
