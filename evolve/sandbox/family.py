"""Which processes descend from which, by /proc.

Standard library only, for the template asks too. Two ways: the kernel's own list of a process's children, which is quick and may miss one while another ends; and a
walk over all processes, for whoever must not stop before the last is gone. Invariant: what ends meanwhile is left out, and where there
is no /proc there is nobody."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PROCESSES = Path("/proc")
_READ = 1 << 16


def children(pid: int, processes: Path = PROCESSES) -> list[int]:
    """The pids of a process's children, adopted ones and those that were not reaped too, quickly."""
    return _listed(pid, processes) if _lists_children(pid, processes) else list(by_parent(processes).get(pid, ()))


def descendants(pid: int, processes: Path = PROCESSES) -> list[int]:
    """The children of a process, and theirs, quickly."""
    if not _lists_children(pid, processes):
        return all_descendants(pid, processes)
    return _below(pid, lambda parent: _listed(parent, processes))


def all_descendants(pid: int, processes: Path = PROCESSES) -> list[int]:
    """The children of a process, and theirs, by a walk over all processes."""
    every = by_parent(processes)
    return _below(pid, lambda parent: every.get(parent, ()))


def by_parent(processes: Path = PROCESSES) -> Mapping[int, Sequence[int]]:
    """The children of all processes by their parent, by a walk."""
    found: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, _names(str(processes))):
        if fields := _fields(int(name), processes):
            found.setdefault(int(fields[1]), []).append(int(name))
    return found


def thread_states(pid: int, processes: Path = PROCESSES) -> list[bytes]:
    """What each of its threads does, in the kernel's letters: R runs, S and D wait, T and t are stopped, Z and X have ended."""
    threads = _names(f"{processes}/{pid}/task")
    stats = (_content(f"{processes}/{pid}/task/{thread}/stat").rpartition(b")")[2].split() for thread in threads)
    return [fields[0] for fields in stats if fields]


def threads_sleep(pid: int, processes: Path = PROCESSES) -> bool:
    """Whether each of its threads has left the processor: one that was told to stop may still have a few steps to go, and wait for a turn. False also
    where the kernel does not tell."""
    threads = _names(f"{processes}/{pid}/task")
    return all(_content(f"{processes}/{pid}/task/{thread}/wchan") not in (b"", b"0") for thread in threads)


def is_living(pid: int, processes: Path = PROCESSES) -> bool:
    """Whether there is such a process, and it does not merely wait to be reaped."""
    fields = _fields(pid, processes)
    return bool(fields) and fields[0] not in (b"Z", b"X")


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


def _listed(pid: int, processes: Path) -> list[int]:
    """Every thread has children of its own."""
    threads = _names(f"{processes}/{pid}/task")
    return [int(child) for thread in threads for child in _content(f"{processes}/{pid}/task/{thread}/children").split()]


def _fields(pid: int, processes: Path) -> list[bytes]:
    """State, parent and so on; nothing for a process that is gone."""
    # The name of the program, in parentheses, may hold spaces and parentheses of its own.
    return _content(f"{processes}/{pid}/stat").rpartition(b")")[2].split()


def _names(folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)  # noqa: PTH208 names are wanted
    return []


def _content(path: str) -> bytes:
    with contextlib.suppress(OSError), open(path, "rb", buffering=0) as file:
        return file.read(_READ) or b""
    return b""
