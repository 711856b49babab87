"""Processes and threads as the kernel counts them for its limit, which is one on all that a user has, whoever started it.

Standard library only, for it lives in the template. Invariant: a process that is gone, or that may not be seen, has none."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
_FIELD = re.compile(rb"^(State|Uid|Threads):\s+(\w+)", re.MULTILINE)
_READ = 1 << 13
_REST = 99.0
"""After a count of all processes, so many times as long passes until the next one."""
_LEAST = 1.0
"""Seconds that pass at least."""


@dataclass(frozen=True, slots=True)
class Process:
    """`user` is whose limit it counts for; one that has ended and was not waited for does not live, and counts too."""

    pid: int
    user: int
    threads: int
    lives: bool


class Room:
    """How high a limit has to be that leaves `tasks` to a candidate, beside what else its `user` has. Counted now and then, before a candidate is
    there."""

    def __init__(
        self, user: int, tasks: int, processes: Path = PROCESSES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._user = user
        self._tasks = tasks
        self._processes = processes
        self._clock = clock
        self._present = 0
        self._rested_at = -1.0

    def limit(self) -> int:
        """Of the last count, or of a new one where that is old."""
        began = self._clock()
        if began >= self._rested_at:
            self._present = sum(each.threads for each in every(self._processes) if each.user == self._user)
            ended = self._clock()
            self._rested_at = ended + max(_LEAST, _REST * (ended - began))
        return self._present + self._tasks


def every(processes: Path = PROCESSES) -> Iterator[Process]:
    """All processes that may be seen."""
    try:
        names = os.listdir(processes)  # noqa: PTH208 names are wanted
    except FileNotFoundError:  # a system without that folder
        return
    for pid in map(int, filter(str.isdecimal, names)):
        found = _found(pid, processes)
        if found is not None:
            yield found


def threads(pids: Iterable[int], processes: Path = PROCESSES) -> int:
    """What these processes have together."""
    return sum(found.threads for pid in pids if (found := _found(pid, processes)) is not None)


def _found(pid: int, processes: Path) -> Process | None:
    try:
        number = os.open(f"{processes}/{pid}/status", os.O_RDONLY)
    except OSError:
        return None
    try:
        told = dict(_FIELD.findall(os.read(number, _READ)))
    except ProcessLookupError:
        return None
    finally:
        os.close(number)
    if told.keys() != {b"State", b"Uid", b"Threads"}:
        return None
    return Process(pid, int(told[b"Uid"]), int(told[b"Threads"]), told[b"State"] not in (b"Z", b"X"))
