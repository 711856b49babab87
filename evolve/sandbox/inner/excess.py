"""Limits of a candidate that nothing stops by itself: memory without a control group, the files of a folder without a quota, sockets, and the
tasks of a user that it shares.

Standard library and siblings only, for it lives in the template; no thread: whoever waits for a candidate looks every 50 ms, so that about 100 MB more per
core may be in use for a moment. Memory that counts is anonymous and shared memory, swapped out or not, each page once however many processes have
it, without what the template had before; and files in the folders that are memory. Memory that no process has mapped (in pipes, in the buffers of
sockets, or in a memfd without a name) is not seen; the number of descriptors and of tasks bounds it, and at `strict` that of sockets. A process that
cannot be looked into counts as if it shared nothing. A count of files ends soon after its limit, follows no link, and holds one descriptor for each
level of folders."""

import errno
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from evolve.sandbox.jail import Jail
from evolve.sandbox.kernel import LINUX
from evolve.sandbox.processes import PROCESSES, descendants, threads
from evolve.sandbox.walls.cgroup import ControlGroup
from evolve.sandbox.walls.confinement import shares_user

MEMORY = "used more memory than the program may have"
_READ = 1 << 16
_APPARENT = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$", re.MULTILINE)
_EXACT = re.compile(rb"^(Pss|Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_REST = 9.0
"""After an exact look, so many times as long passes until the next one."""
_REST_OF_CENSUS = 9.0
"""After a count, so many times as long passes until the next one: it takes a tenth of the time."""
_LONGEST = 0.3
"""Seconds of the longest rest: who makes files at full speed slows a count down, and shall gain no time by it."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_MOST_SOCKETS = 256
"""Each may hold some 200 KiB that was sent and not read."""


class MemoryWatch:
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
        self._before = measure([template], (), processes)
        self._rested_at = -1.0
        self._left = limit
        self._apparent: Mapping[int, int] = {}

    def is_exceeded(self, pids: Sequence[int]) -> bool:
        """Returns whether these processes use more than the limit together. The cheap look, 10 us a process, counts what is shared as often as it is
        shared. Only if that is too much, an exact one follows, of 0.1 to 2 ms a process, which takes a tenth of the time at most: in between it
        is enough that the processes have not grown by more than was left."""
        seen = {pid: apparent(pid, self._processes) for pid in pids}
        if sum(seen.values()) + measure_folders(self._folders) <= self._limit:
            return False
        # Growth since the last exact look bounds what has been added, so that most cheap looks that say too much cost no exact one.
        grown = sum(max(0, size - self._apparent.get(pid, 0)) for pid, size in seen.items())
        began = self._clock()
        if began < self._rested_at and grown <= self._left:
            return False
        now = measure([self._template, *pids], self._folders, self._processes) - self._before
        ended = self._clock()
        self._rested_at, self._left, self._apparent = ended + _REST * (ended - began), self._limit - now, seen
        return now > self._limit


def apparent(pid: int, processes: Path = PROCESSES) -> int:
    """The bytes of a process by the kernel's running counts, shared or not; 0 for one that is gone."""
    return sum(1024 * int(size) for size in _APPARENT.findall(_read_process(f"{processes}/{pid}/status")))


def measure(pids: Iterable[int], folders: Iterable[str], processes: Path = PROCESSES) -> int:
    """The bytes of some processes and folders together, each page once. Files of the folders that are mapped count once too, and so
    does other shared memory up to the size of all those files: the kernel does not tell them apart."""
    anonymous = shared = 0
    for pid in pids:
        try:
            own, common = _proportional(pid, processes)
        except PermissionError:
            own, common = apparent(pid, processes), 0
        anonymous, shared = anonymous + own, shared + common
    return anonymous + max(shared, measure_folders(folders))


def measure_folders(folders: Iterable[str]) -> int:
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
    found = {name: 1024 * int(size) for name, size in _EXACT.findall(_read_process(f"{processes}/{pid}/smaps_rollup"))}
    anonymous = found.get(b"Pss_Anon", found.get(b"Pss", 0))  # a kernel before 5.4 tells the sum alone
    return anonymous + found.get(b"SwapPss", 0), found.get(b"Pss_Shmem", 0)


def _read_process(path: str) -> bytes:
    """Returns the content of a file of the kernel; nothing of a process that is gone. Raises `PermissionError`."""
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


class Census:
    """Count of the files in the folder at `home`, which may hold `most` files, folders and links, whatever their depth."""

    def __init__(self, home: str, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._home = os.open(home, _FOLDER)
        self._clock = clock
        self._rested_at = -1.0

    def is_exceeded(self) -> bool:
        """Returns whether there are more; False while it rests."""
        began = self._clock()
        if began < self._rested_at:
            return False
        found = more_than(self.most, self._home)
        ended = self._clock()
        self._rested_at = ended + min(_LONGEST, _REST_OF_CENSUS * (ended - began))
        return found


def more_than(most: int, folder: int) -> bool:
    """Returns whether the open `folder` and those below it have more entries; also where they are deeper than descriptors can be opened."""
    levels: list[tuple[int, list[str]]] = [(os.dup(folder), ["."])]
    found = 0
    try:
        while levels:
            here, names = levels[-1]
            if not names:
                os.close(levels.pop()[0])
                continue
            inner = _open_folder(names.pop(), here)
            if inner is not None:
                levels.append((inner, []))
                found += _count_entries(inner, most - found, levels[-1][1])
                if found > most:
                    return True
        return False
    except OSError as error:
        return error.errno == errno.EMFILE
    finally:
        for number, _ in levels:
            os.close(number)


def _count_entries(folder: int, most: int, folders: list[str]) -> int:
    """Returns the number of entries, counted to one more than `most`; adds the names of those that are folders."""
    count = 0
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries, 1):
            if count > most:
                break
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
    return count


def _open_folder(name: str, folder: int) -> int | None:
    """A folder, also one that was made unreadable by its owner, who we are then; None where it is gone."""
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:
        return _open_by_force(name, folder)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        return None


def _open_by_force(name: str, folder: int) -> int | None:
    """Changes the rights of the very folder that was found, whatever bears its name by then."""
    if not hasattr(os, "O_PATH"):
        return None
    try:
        found = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        return None
    try:
        Path(f"/proc/self/fd/{found}").chmod(0o700)
        return os.open(".", _FOLDER, dir_fd=found)
    except OSError:
        return None
    finally:
        os.close(found)


class Excess:
    """Excess of the candidates of the template that makes this, when it has preloaded and has none. `memory` are folders in a tmpfs of their own."""

    def __init__(
        self, jail: Jail, group: ControlGroup | None, memory: Sequence[str] = (), processes: Path = PROCESSES
    ) -> None:
        self._group = group
        self._processes = processes
        watched = LINUX and jail.limits and group is None
        self._watch = MemoryWatch(jail.memory, os.getpid(), memory, processes) if watched else None
        # The network namespace is the slot's own, and so is what lies in its sockets, which no look at processes finds.
        self._sockets = processes / str(os.getpid()) / "net" / "sockstat" if watched and jail.namespaces else None
        self._tasks = jail.tasks if shares_user(jail) else None
        self._census = Census(jail.home, jail.inodes) if jail.limits and not jail.namespaces else None

    def find(self) -> str:
        """Returns in words what there is too much of; empty where there is nothing."""
        if self._group is not None and self._group.is_exceeded():
            # The kernel has ended a process of the candidate already.
            return MEMORY
        looked_at = self._watch is not None or self._tasks is not None
        below = descendants(os.getpid(), self._processes) if looked_at else []
        if self._watch is not None and self._watch.is_exceeded(below):
            return MEMORY
        if self._sockets is not None and _sockets_in_use(self._sockets) > _MOST_SOCKETS:
            return f"opened more than {_MOST_SOCKETS} sockets, which hold memory that nothing else here bounds"
        if self._tasks is not None and threads(below) > self._tasks:
            return f"had more than {self._tasks} processes and threads, which is all that the program may have"
        if self._census is not None and self._census.is_exceeded():
            return f"made more than {self._census.most} files, which is all that its folder may hold"
        return ""


def _sockets_in_use(table: Path) -> int:
    """Returns the number of sockets of any kind in the network namespace, by its first line: `sockets: used 5`."""
    return int(table.read_text().split(maxsplit=3)[2])
