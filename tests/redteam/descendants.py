"""The living processes below this one, so that none which a candidate started is overlooked.

Invariant: a process whose parent has ended stays among them, since this one adopts it; only Linux can tell, elsewhere there are none."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator

from evolve.sandbox import kernel
from evolve.sandbox.processes import all_descendants, thread_states

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
    """The pids of all that live below this process, without those that merely wait to be reaped."""
    return frozenset(
        pid for pid in all_descendants(os.getpid()) if any(state not in b"ZX" for state in thread_states(pid))
    )


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
