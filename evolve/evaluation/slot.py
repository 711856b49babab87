"""One evaluation worker as the engine sees it: its connection, what it prints, and the jobs that it has, which it answers in their order.

Messages are the frames of `multiprocessing.connection`, as bytes: nothing is pickled."""

import os
import socket
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from evolve.evaluation.job import Description

_PIECE = 1 << 16
_PRINTED = 4096
# A job is given ahead where it surely fits into the socket's buffer, and where the one before it should end soon.
_SMALL = 1 << 16
_SOON = 0.05


@dataclass(eq=False)
class Submitted:
    """A job on its way. `given` says that a worker has or had it; `deaths` counts the workers that ended while they evaluated it."""

    id: str
    data: bytes
    future: "Future[bytes]"
    given: bool = False
    deaths: int = 0


@dataclass(eq=False)
class Slot:
    """`since` is when its first job, its start, or its end began; `lasted` how long its latest job took, in seconds. `waiting_since` is when it began to wait for devices that
    others have, None while it does not: that time is not its job's. Used by the executor's thread alone."""

    index: int
    connection: Connection
    output: int
    since: float
    description: Description | None = None
    jobs: deque[Submitted] = field(default_factory=deque)
    lasted: float = float("inf")
    dismissed: bool = False
    late: bool = False
    waiting_since: float | None = None
    printed: bytes = b""

    @classmethod
    def open(cls, index: int, now: float) -> "tuple[Slot, socket.socket, int]":
        """Returns a slot, and the worker's ends of its socket and of its output."""
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        os.set_blocking(read, False)
        return cls(index, Connection(ours.detach()), read, now), theirs, write

    def takes(self, job: bytes) -> bool:
        """Returns whether a job may be given now: to an idle worker, or one job ahead to a busy one."""
        if self.description is None or self.late or self.dismissed or self.waiting_since is not None:
            return False
        if not self.jobs:
            return True
        return len(self.jobs) == 1 and len(job) <= _SMALL and self.lasted <= _SOON

    def give(self, submitted: Submitted, now: float) -> None:
        """Sends a job; raises `OSError` where the worker is gone (the job is then among `jobs` all the same)."""
        if not self.jobs:
            self.since = now
        submitted.given = True  # before it is sent: a job that may have arrived cannot be cancelled any more
        self.jobs.append(submitted)
        self.connection.send_bytes(submitted.data)

    def go_on(self, now: float) -> None:
        """Notes that the worker has its devices; the time that it waited does not count."""
        if self.waiting_since is not None:
            self.since += now - self.waiting_since
            self.waiting_since = None

    def pop_answered(self, now: float) -> Submitted:
        """Removes and returns the job that the worker's next frame answers."""
        self.lasted, self.since = now - self.since, now
        return self.jobs.popleft()

    def dismiss(self, now: float) -> None:
        """Lets a worker that owes nothing end by itself, by an empty frame; raises `OSError` where it has ended already."""
        self.dismissed, self.since = True, now
        self.connection.send_bytes(b"")

    def drain_output(self) -> bool:
        """Keeps the end of what the worker has printed; False when nothing can follow."""
        try:
            piece = os.read(self.output, _PIECE)
        except BlockingIOError:
            return True
        self.printed = (self.printed + piece)[-_PRINTED:]
        return bool(piece)

    @property
    def output_tail(self) -> str:
        """The end of what the worker has printed."""
        return self.printed.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Closes this side."""
        self.connection.close()
        os.close(self.output)
