"""One judge worker as the engine sees it: its socket, what it prints, and the jobs that it has.

Invariant: jobs are answered in the order in which they were given. Used by the executor's reader thread alone."""

import os
import socket
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from evolve.evaluation.framing import FrameBuffer, send_frame
from evolve.evaluation.job import Description

_PIECE = 1 << 18
_PRINTED = 4096
# A job is given ahead where it surely fits into the socket's buffer, and where the one before it should end soon.
_SMALL = 1 << 16
_SOON = 0.05
_SEND_SECONDS = 5.0


@dataclass(eq=False)
class Submitted:
    """A job on its way. `given` says that a worker has or had it; `deaths` counts the workers that ended while they judged it."""

    id: str
    data: bytes
    future: "Future[bytes]"
    given: bool = False
    deaths: int = 0


@dataclass(eq=False)
class Slot:
    """`since` is when its first job, its start, or its end began; `lasted` how long its latest job took, in seconds; `evaluated` how many it has
    answered. One that is `retired` takes no more, and ends when it has answered those that it has. `waiting_since` is when it began to wait for devices that others have,
    None while it does not: that time is not its job's."""

    index: int
    sock: socket.socket
    output: int
    since: float
    description: Description | None = None
    jobs: deque[Submitted] = field(default_factory=deque)
    lasted: float = float("inf")
    evaluated: int = 0
    retired: bool = False
    dismissed: bool = False
    late: bool = False
    waiting_since: float | None = None
    printed: bytes = b""
    buffer: FrameBuffer = field(default_factory=FrameBuffer)

    @classmethod
    def open(cls, index: int, now: float) -> "tuple[Slot, socket.socket, int]":
        """A slot, and the worker's ends of its socket and of its output."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        read, write = os.pipe()
        os.set_blocking(read, False)
        return cls(index, ours, read, now), theirs, write

    def takes(self, job: bytes) -> bool:
        """Returns whether a job may be given now: to an idle worker, or one job ahead to a busy one."""
        if self.description is None or self.late or self.retired or self.waiting_since is not None:
            return False
        if not self.jobs:
            return True
        return len(self.jobs) == 1 and len(job) <= _SMALL and self.lasted <= _SOON

    def give(self, submitted: Submitted, now: float) -> None:
        """Sends a job; raises `OSError` where the worker is gone or does not listen (the job is then among `jobs` all the same)."""
        if not self.jobs:
            self.since = now
        submitted.given = True
        self.jobs.append(submitted)
        self.send(submitted.data)

    def send(self, frame: bytes) -> None:
        """Sends a frame; raises `OSError` where it is not taken within seconds."""
        self.sock.settimeout(_SEND_SECONDS)
        send_frame(self.sock, frame)
        self.sock.setblocking(False)

    def waits(self, now: float) -> None:
        """Notes that the worker waits for devices."""
        self.waiting_since = now

    def goes_on(self, now: float) -> None:
        """Notes that the worker has its devices; the time that it waited does not count."""
        if self.waiting_since is not None:
            self.since += now - self.waiting_since
            self.waiting_since = None

    def pop_answered(self, now: float) -> Submitted:
        """Removes and returns the job that the worker's next frame answers."""
        self.lasted, self.since = now - self.since, now
        self.evaluated += 1
        return self.jobs.popleft()

    def dismiss(self, now: float) -> None:
        """Lets a worker that owes nothing end by itself: it hears the end of file."""
        self.dismissed, self.since = True, now
        self.sock.shutdown(socket.SHUT_WR)

    def listen(self) -> tuple[list[bytes], bool]:
        """The frames that have arrived, and whether more may come."""
        frames: list[bytes] = []
        while True:
            try:
                piece = self.sock.recv(_PIECE)
            except BlockingIOError:
                return frames, True
            except OSError:
                return frames, False
            if not piece:
                return frames, False
            frames += self.buffer.add(piece)

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
        self.sock.close()
        os.close(self.output)
