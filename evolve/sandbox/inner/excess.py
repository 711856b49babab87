"""What a candidate has too much of while it runs, where nothing stops it by itself.

Standard library and siblings only. Invariant: a look is short, however much there is; who has too much is told so in words that are held against
nobody else."""

import os
from collections.abc import Sequence
from pathlib import Path

from evolve.sandbox.family import PROCESSES, descendants
from evolve.sandbox.inner.census import Census
from evolve.sandbox.inner.offspring import MEMORY
from evolve.sandbox.jail import Jail
from evolve.sandbox.kernel import LINUX
from evolve.sandbox.walls.cgroup import Group
from evolve.sandbox.walls.confinement import shares_user
from evolve.sandbox.walls.tasks import threads
from evolve.sandbox.walls.watchdog import Watch

_MOST_SOCKETS = 256
"""Each may hold some 200 KiB that was sent and not read."""


class Excess:
    """Of the candidates of the template that makes this, when it has preloaded and has none. `memory` are folders in a tmpfs of their own."""

    def __init__(
        self, jail: Jail, group: Group | None, memory: Sequence[str] = (), processes: Path = PROCESSES
    ) -> None:
        self._group = group
        self._processes = processes
        watched = LINUX and jail.limits and group is None
        self._watch = Watch(jail.memory, os.getpid(), memory, processes) if watched else None
        # The network namespace is the slot's own, and so is what lies in its sockets, which no look at processes finds.
        self._sockets = processes / str(os.getpid()) / "net" / "sockstat" if watched and jail.namespaces else None
        self._tasks = jail.tasks if shares_user(jail) else None
        self._census = Census(jail.home, jail.inodes) if jail.limits and not jail.namespaces else None

    def found(self) -> str:
        """What there is too much of; empty where there is nothing."""
        if self._group is not None and self._group.exceeded():
            # The kernel has ended a process of the candidate already.
            return MEMORY
        looked_at = self._watch is not None or self._tasks is not None
        below = descendants(os.getpid(), self._processes) if looked_at else []
        if self._watch is not None and self._watch.exceeded(below):
            return MEMORY
        if self._sockets is not None and _sockets_in_use(self._sockets) > _MOST_SOCKETS:
            return f"opened more than {_MOST_SOCKETS} sockets, which hold memory that nothing else here bounds"
        if self._tasks is not None and threads(below) > self._tasks:
            return f"had more than {self._tasks} processes and threads, which is all that the program may have"
        if self._census is not None and self._census.exceeded():
            return f"made more than {self._census.most} files, which is all that its folder may hold"
        return ""


def _sockets_in_use(table: Path) -> int:
    """How many sockets of any kind there are in the network namespace, by its first line: `sockets: used 5`."""
    return int(table.read_text().split(maxsplit=3)[2])
