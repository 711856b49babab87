"""The memory that a template's candidates use together, looked at from outside where no control group bounds it.

Standard library and siblings only, for it lives in the template; no thread: whoever waits for a candidate asks every 50 ms, so that about 100 MB more per core
may be in use for a moment. What counts is anonymous and shared memory, swapped out or not, each page once however many processes
have it, without what the template had before; and files in the folders that are memory. Memory that no process has mapped (in pipes, in the
buffers of sockets, or in a memfd without a name) is not seen; the number of descriptors and of tasks bounds it, and at `strict` that of sockets.

Invariant: a process that cannot be looked into counts as if it shared nothing."""

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from evolve.sandbox.family import PROCESSES

_READ = 1 << 16
_APPARENT = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$", re.MULTILINE)
_EXACT = re.compile(rb"^(Pss|Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_REST = 9.0
"""After an exact look, so many times as long passes until the next one."""


class Watch:
    """Looks at the processes of one template, which has preloaded and has no candidate when this is made. `limit` in bytes; `folders`
    lie in a tmpfs of their own each."""

    def __init__(
        self,
        limit: int,
        template: int,
        folders: Sequence[str] = (),
        processes: Path = PROCESSES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit
        self._template = template
        self._folders = folders
        self._processes = processes
        self._clock = clock
        self._before = used([template], (), processes)
        self._rested_at = -1.0
        self._left = limit
        self._apparent: Mapping[int, int] = {}

    def exceeded(self, pids: Sequence[int]) -> bool:
        """Whether these processes use more than the limit together. The cheap look, 10 us a process, counts what is shared as often as it is
        shared. Only if that is too much, an exact one follows, of 0.1 to 2 ms a process, which takes a tenth of the time at most: in between it
        is enough that the processes have not grown by more than was left."""
        seen = {pid: apparent(pid, self._processes) for pid in pids}
        if sum(seen.values()) + filled(self._folders) <= self._limit:
            return False
        grown = sum(max(0, size - self._apparent.get(pid, 0)) for pid, size in seen.items())
        began = self._clock()
        if began < self._rested_at and grown <= self._left:
            return False
        now = used([self._template, *pids], self._folders, self._processes) - self._before
        ended = self._clock()
        self._rested_at, self._left, self._apparent = ended + _REST * (ended - began), self._limit - now, seen
        return now > self._limit


def apparent(pid: int, processes: Path = PROCESSES) -> int:
    """The bytes of a process by the kernel's running counts, shared or not; 0 for one that is gone."""
    return sum(1024 * int(size) for size in _APPARENT.findall(_content(f"{processes}/{pid}/status")))


def used(pids: Iterable[int], folders: Iterable[str], processes: Path = PROCESSES) -> int:
    """The bytes of some processes and folders together, each page once. Files of the folders that are mapped count once too, and so
    does other shared memory up to the size of all those files: the kernel does not tell them apart."""
    anonymous = shared = 0
    for pid in pids:
        try:
            own, common = _proportional(pid, processes)
        except PermissionError:
            own, common = apparent(pid, processes), 0
        anonymous, shared = anonymous + own, shared + common
    return anonymous + max(shared, filled(folders))


def filled(folders: Iterable[str]) -> int:
    """The bytes that lie in folders which are a tmpfs each; a folder that is gone holds none."""
    total = 0
    for folder in folders:
        try:
            found = os.statvfs(folder)
        except FileNotFoundError:
            continue
        total += (found.f_blocks - found.f_bfree) * found.f_frsize
    return total


def _proportional(pid: int, processes: Path) -> tuple[int, int]:
    """Anonymous and shared bytes, each page divided by the number of processes that have it; raises `PermissionError`."""
    found = {name: 1024 * int(size) for name, size in _EXACT.findall(_content(f"{processes}/{pid}/smaps_rollup"))}
    anonymous = found.get(b"Pss_Anon", found.get(b"Pss", 0))  # a kernel before 5.4 tells the sum alone
    return anonymous + found.get(b"SwapPss", 0), found.get(b"Pss_Shmem", 0)


def _content(path: str) -> bytes:
    """What the kernel says; nothing of a process that is gone. Raises `PermissionError`."""
    try:
        number = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""
    try:
        return os.read(number, _READ)
    except ProcessLookupError:  # it ended, and was not reaped
        return b""
    finally:
        os.close(number)
