"""The child processes of one single-threaded process, as the operating system knows them.

Invariant: only children of the calling process are signalled, and a child's number stays its own until `reap` has returned it."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from evolve.sandbox import processes
from evolve.sandbox.kernel import LINUX, PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl
from evolve.sandbox.processes import PROCESSES, by_parent


class Children(Protocol):
    """Child processes, as the spawner needs them of the operating system."""

    def start(self, command: Sequence[str], files: Mapping[int, int], environment: Mapping[str, str]) -> int:
        """Starts a program with the descriptors `files`, here by their number there, and no others; gives its pid."""

    def all(self) -> set[int]:
        """The pids of all children, adopted ones and zombies too."""

    def peek(self) -> set[int]:
        """As `all`, at a glance: while one ends, others may be overlooked."""

    def kill(self, pid: int) -> None:
        """Ends a child that was not reaped."""

    def reap(self) -> list[tuple[int, int]]:
        """Pid and exit code (negative: the signal) of the children that have ended; does not wait."""


class OwnChildren:
    """The children of this process; implements `Children`."""

    def start(self, command: Sequence[str], files: Mapping[int, int], environment: Mapping[str, str]) -> int:
        """Starts a program; standard input is empty."""
        empty = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        copies = [(os.POSIX_SPAWN_DUP2, here, there) for there, here in sorted(files.items())]
        handled = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE]
        return os.posix_spawn(command[0], list(command), environment, file_actions=[empty, *copies], setsigdef=handled)

    def all(self) -> set[int]:
        """The children by /proc; none where the system has no such folder."""
        return children_of(os.getpid())

    def peek(self) -> set[int]:
        """The children by the kernel's own list, where it has one."""
        return set(processes.children(os.getpid()))

    def kill(self, pid: int) -> None:
        """Ends a child; one that has ended already is a zombie and takes no harm."""
        os.kill(pid, signal.SIGKILL)

    def reap(self) -> list[tuple[int, int]]:
        """The children that have ended."""
        ended: list[tuple[int, int]] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return ended
            if pid == 0:
                return ended
            ended.append((pid, os.waitstatus_to_exitcode(status)))


def children_of(parent: int, processes: Path = PROCESSES) -> set[int]:
    """The pids whose parent is `parent`, by a walk over all processes: the kernel's list may miss one, which would then be left."""
    return set(by_parent(processes).get(parent, ()))


def adopt_orphans() -> None:
    """Makes this process the parent of all its descendants that lose theirs, where the system can (Linux)."""
    if LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> bool:
    """Has this process killed when its parent ends; False when `parent` is its parent no longer."""
    if LINUX:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent
