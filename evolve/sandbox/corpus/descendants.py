"""The living processes below this one, so that none which a candidate started is overlooked.

Invariant: a process whose parent has ended stays among them, since this one adopts it; only Linux can tell, elsewhere there are none."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from evolve.sandbox import kernel

_PAUSE = 0.005


@contextlib.contextmanager
def adopted() -> Iterator[None]:
    """While this lasts, processes that lose their parent become children of this one, and not of the system's first."""
    if not kernel.LINUX:
        yield
        return
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 0)


def descendants() -> frozenset[int]:
    """The pids of all that live below this process."""
    children: dict[int, list[int]] = {}
    for pid, parent in _living():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    level = [os.getpid()]
    while level:
        level = [child for pid in level for child in children.get(pid, []) if child not in found]
        found.update(level)
    return frozenset(found)


def end_all_but(spared: frozenset[int]) -> None:
    """Ends every descendant that is not spared, and waits for those that became children of this one."""
    ended: set[int] = set()
    while left := descendants() - spared:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ended |= left
        time.sleep(_PAUSE)
    for pid in ended:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _living() -> Iterator[tuple[int, int]]:
    """Each process with its parent, but for those that have ended and were not waited for."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            # The name, in parentheses, may hold spaces and parentheses of its own.
            state, parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                yield int(folder.name), int(parent)
