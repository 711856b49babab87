"""Processes of the machine by /proc: who descends from whom, what each does, how many tasks a user has; and the end of those that a template left.

Standard library only, for the template asks too. Descendants are found in two ways: by the kernel's own list of a process's children, which is quick
and may miss one while another ends, and by a walk over all processes, for whoever must not stop before the last is gone. A process that ends meanwhile
or may not be seen is left out; where there is no /proc there is nobody."""

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
_READ = 1 << 16
_FIELD = re.compile(rb"^(State|PPid|Uid|Threads):\s+(\w+)", re.MULTILINE)
_REST = 99.0
"""After a count of all processes, so many times as long passes until the next one."""
_LEAST = 1.0
"""Seconds that pass at least."""
_PASSES = 200
_PAUSE = 0.01


def children(pid: int, processes: Path = PROCESSES) -> list[int]:
    """The pids of a process's children, adopted ones and those that were not reaped too, quickly."""
    return (
        _list_children(pid, processes) if _lists_children(pid, processes) else list(by_parent(processes).get(pid, ()))
    )


def descendants(pid: int, processes: Path = PROCESSES) -> list[int]:
    """The children of a process, and theirs, quickly."""
    if not _lists_children(pid, processes):
        return all_descendants(pid, processes)
    return _below(pid, lambda parent: _list_children(parent, processes))


def all_descendants(pid: int, processes: Path = PROCESSES) -> list[int]:
    """The children of a process, and theirs, by a walk over all processes."""
    every = by_parent(processes)
    return _below(pid, lambda parent: every.get(parent, ()))


def by_parent(processes: Path = PROCESSES) -> Mapping[int, Sequence[int]]:
    """The children of all processes by their parent, by a walk."""
    found: dict[int, list[int]] = {}
    for process in every(processes):
        found.setdefault(process.parent, []).append(process.pid)
    return found


def thread_states(pid: int, processes: Path = PROCESSES) -> list[bytes]:
    """Returns the state of each of a process's threads, in the kernel's letters: R runs, S and D wait, T and t are stopped, Z and X have ended."""
    threads = _names(f"{processes}/{pid}/task")
    stats = (_content(f"{processes}/{pid}/task/{thread}/stat").rpartition(b")")[2].split() for thread in threads)
    return [fields[0] for fields in stats if fields]


def threads_sleep(pid: int, processes: Path = PROCESSES) -> bool:
    """Returns whether each of its threads has left the processor: one that was told to stop may still have a few steps to go, and wait for a turn. False also
    where the kernel does not tell."""
    threads = _names(f"{processes}/{pid}/task")
    return all(_content(f"{processes}/{pid}/task/{thread}/wchan") not in (b"", b"0") for thread in threads)


def _below(pid: int, children_of: Callable[[int], Sequence[int]]) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting:
        born = children_of(waiting.pop())
        found += born
        waiting += born
    return found


def _lists_children(pid: int, processes: Path) -> bool:
    """Not every kernel is built to."""
    return Path(processes, str(pid), "task", str(pid), "children").exists()


def _list_children(pid: int, processes: Path) -> list[int]:
    """Every thread has children of its own."""
    threads = _names(f"{processes}/{pid}/task")
    return [int(child) for thread in threads for child in _content(f"{processes}/{pid}/task/{thread}/children").split()]


def _names(folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)  # noqa: PTH208 names are wanted
    return []


def _content(path: str) -> bytes:
    with contextlib.suppress(OSError), open(path, "rb", buffering=0) as file:
        return file.read(_READ) or b""
    return b""


@dataclass(frozen=True, slots=True)
class Process:
    """`user` is whose limit it counts for; one that has ended and was not waited for does not live, and counts too."""

    pid: int
    parent: int
    user: int
    threads: int
    lives: bool


class TaskLimit:
    """Limit that leaves `tasks` to a candidate, beside what else its `user` has. Counted now and then, before a candidate is
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
        """Returns the limit by the last count, or by a new one where that is old."""
        began = self._clock()
        if began >= self._rested_at:
            self._present = sum(each.threads for each in every(self._processes) if each.user == self._user)
            ended = self._clock()
            self._rested_at = ended + max(_LEAST, _REST * (ended - began))
        return self._present + self._tasks


def every(processes: Path = PROCESSES) -> Iterator[Process]:
    """Yields all processes that may be seen."""
    for pid in map(int, filter(str.isdecimal, _names(str(processes)))):
        found = _read_status(pid, processes)
        if found is not None:
            yield found


def threads(pids: Iterable[int], processes: Path = PROCESSES) -> int:
    """Returns the number of threads that these processes have together."""
    return sum(found.threads for pid in pids if (found := _read_status(pid, processes)) is not None)


def _read_status(pid: int, processes: Path) -> Process | None:
    # By this file and not by `stat`, in which the name of the program may hold spaces and parentheses of its own.
    told = dict(_FIELD.findall(_content(f"{processes}/{pid}/status")))
    if len(told) < 4:  # it has ended
        return None
    lives = told[b"State"] not in (b"Z", b"X")
    return Process(pid, int(told[b"PPid"]), int(told[b"Uid"]), int(told[b"Threads"]), lives)


def end_survivors(scratch: str, user: int | None) -> None:
    """Ends what has `scratch` for its folder of temporary files, or is of this `user`; again until there is none, for a second or two."""
    for _ in range(_PASSES):
        # By their environment: a process that was moved to another session or parent still has the one that it began with.
        left = set(_find_marked(scratch))
        if user is not None:
            left |= {process.pid for process in every() if process.user == user and process.lives}
        if not left:
            return
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _find_marked(scratch: str) -> Iterator[int]:
    mark = f"\0TMPDIR={scratch}\0".encode()
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it ended meanwhile, or is not ours to see
            if mark in b"\0" + environment.read_bytes():
                yield int(environment.parent.name)
