"""Evaluation workers as the engine sees them: one thread gives them jobs, reads their reports, and replaces workers that end.

A job leaves the queue for a worker, and comes back at the queue's head when that worker ends, until it is reported. Messages are the frames of
`multiprocessing.connection`, as bytes: nothing is pickled."""

import os
import re
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from evolve.evaluation.job import (
    GOES_ON,
    WAITS,
    Charge,
    Description,
    decode_message,
    encode_message,
    internal_report,
)
from evolve.evaluation.spawner import SpawnerProcess
from evolve.types import SandboxError

_KILL_SECONDS = 10.0
"""Time that a spawner has to end a worker."""
_ABORT_SECONDS = 2.0
"""Time that a worker has to print where it is, before it is killed."""
_LOOK_SECONDS = 1.0
"""Time between two looks at workers that owe something, at most."""
_START_SECONDS = 120.0
_TRIES = 2
_STARTS = 5
"""Workers in a row that end before one is ready: then none is started any more."""
_PIECE = 1 << 16
_PRINTED, _TRACED = 4096, 1 << 16
"""Bytes that are kept of what a worker prints last, and of one that was asked where it is."""
# A job is given ahead where it surely fits into the socket's buffer, and where the one before it should end soon.
_SMALL = 1 << 16
_SOON = 0.05
_CALL = re.compile(r'^\s*(File "[^"]+", line \d+ in \S+)$', re.MULTILINE)
"""Call in a traceback of `faulthandler`."""


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
    others have, None while it does not: that time is not its job's. `late` is when it had taken too long with the job `hanging`, and was asked to say where it is and end; `killed` when the spawner was first asked to end it. Used by the executor's thread alone."""

    index: int
    connection: Connection
    output: int
    since: float
    description: Description | None = None
    jobs: deque[Submitted] = field(default_factory=deque)
    lasted: float = float("inf")
    dismissed: bool = False
    late: float | None = None
    hanging: Submitted | None = None
    killed: float | None = None
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
        if self.description is None or self.dismissed or self.waiting_since is not None:
            return False
        if self.late is not None or self.killed is not None:
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
        # A traceback begins with the latest call, which must not be cut off.
        self.printed = (self.printed + piece)[-(_PRINTED if self.late is None else _TRACED) :]
        return bool(piece)

    @property
    def output_tail(self) -> str:
        """The end of what the worker has printed."""
        return self.printed.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Closes this side."""
        self.connection.close()
        os.close(self.output)


class WorkerQueue:
    """State that the executor's thread shares with the engine's: a queue, a bell, and the first worker's description.

    Any thread appends to `jobs`, sets how many `slots` are wanted, and rings; the executor's thread alone takes from the queue and puts back at its head."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.jobs: deque[Submitted] = deque()
        self.described: Future[Description] = Future()
        self.closing = threading.Event()
        self.bell, self._button = socket.socketpair()
        self.bell.setblocking(False)
        self._button.setblocking(False)

    def ring(self) -> None:
        """Wakes the executor's thread."""
        try:
            self._button.send(b"!")
        except BlockingIOError:  # it has been rung often enough
            return

    def close(self) -> None:
        """Closes the bell; the thread has ended."""
        self._button.close()
        self.bell.close()


class WorkerSupervisor:
    """The state of the executor's thread: no other thread touches it while that runs. Raises `SandboxError` where no spawner starts."""

    def __init__(self, charge: Charge, grace: float, queue: WorkerQueue) -> None:
        self.spawner = SpawnerProcess(charge.task.python)
        self._python = charge.task.python
        self._charge = encode_message(charge)
        self._isolation = charge.means.line
        self._grace = grace
        self._queue = queue
        self._described_as: Description | None = None
        self._slots: dict[int, Slot] = {}
        self._selector = selectors.DefaultSelector()
        self._failed_starts = 0
        self._broken = ""

    def run(self) -> None:
        """Lives the thread's life."""
        self._watch(self._queue.bell.fileno(), lambda: self._queue.bell.recv(1 << 12))
        self._watch(self.spawner.control.fileno(), self._read_spawner)
        try:
            while not self._queue.closing.is_set():
                self._resize()
                self._dispatch()
                self._wait()
                self._kill_late()
        finally:
            self._shut()

    def _wait(self) -> None:
        """Waits until something happens or a worker is late."""
        deadlines = [deadline for slot in self._slots.values() if (deadline := self._deadline(slot)) is not None]
        began = time.monotonic()
        patience = min(max(0.0, min(deadlines) - began), _LOOK_SECONDS) if deadlines else None
        ready = self._selector.select(patience)
        overslept = time.monotonic() - began - (patience or 0.0)
        if patience is not None and overslept > _LOOK_SECONDS:
            # All processes were stopped together, as a container that is paused: no worker had that time.
            for slot in self._slots.values():
                slot.since += overslept
        for key, _ in ready:
            # An earlier one of this round may have closed it, and another may have got its number.
            if self._selector.get_map().get(key.fd) is key:
                key.data()

    def _watch(self, source: int, act: Callable[[], object]) -> None:
        self._selector.register(source, selectors.EVENT_READ, act)

    def _forget(self, source: int) -> None:
        if source in self._selector.get_map():
            self._selector.unregister(source)

    def _resize(self) -> None:
        """Starts the workers that are missing, and dismisses idle ones that are too many."""
        for index in range(0 if self._broken else self._queue.slots):
            if index not in self._slots:
                self._start(index)
        for slot in self._slots.values():
            if slot.index >= self._queue.slots and slot.description and not slot.jobs and not slot.dismissed:
                try:
                    slot.dismiss(time.monotonic())
                except OSError:  # it has ended already
                    self._kill(slot)

    def _start(self, index: int) -> None:
        try:
            slot, sock, output = Slot.open(index, time.monotonic())
        except OSError as error:
            self._give_up(
                f"a worker cannot be started: {error}. Try: ask for fewer --workers, or raise the limit on open files"
            )
            return
        self._slots[index] = slot  # before anything can fail, so that its exit is counted as a failed start
        self._watch(slot.connection.fileno(), partial(self._read_worker, slot))
        self._watch(slot.output, partial(self._drain_output, slot))
        try:
            self.spawner.start_worker(index, sock, output)
        except OSError:  # the spawner is gone, which its end of file tells
            return
        finally:
            sock.close()
            os.close(output)
        try:
            slot.connection.send_bytes(self._charge)
        except OSError:
            self._kill(slot)

    def _read_worker(self, slot: Slot) -> None:
        """Reads the frames that have arrived."""
        try:
            while slot.connection.poll():
                self._on_frame(slot, slot.connection.recv_bytes())
        except (EOFError, OSError):
            self._forget(slot.connection.fileno())
            self._kill(slot)

    def _on_frame(self, slot: Slot, frame: bytes) -> None:
        now = time.monotonic()
        if slot.description is None:
            self._on_description(slot, decode_message(Description, frame))
        elif frame == WAITS:
            slot.waiting_since = now
        elif frame == GOES_ON:
            slot.go_on(now)
        else:
            _finish(slot.pop_answered(now), frame)

    def _on_description(self, slot: Slot, description: Description) -> None:
        if description.error and self._described_as and self._failed_starts + 1 < _STARTS:
            self._kill(slot)  # others could evaluate: something may have ended its template
            return
        # Scores of workers that differ cannot be compared; the run's own means are wanted, neither weaker nor others.
        expected = self._described_as or replace(description, isolation=description.isolation and self._isolation)
        self._broken = self._broken or description.error or _difference(expected, description)
        slot.description, slot.since = description, time.monotonic()
        self._failed_starts = 0
        self._described_as = self._described_as or description
        if not self._queue.described.done():
            if self._broken and not description.error:
                self._queue.described.set_exception(SandboxError(self._broken))
            else:
                self._queue.described.set_result(description)

    def _drain_output(self, slot: Slot) -> None:
        if not slot.drain_output():
            self._forget(slot.output)

    def _kill(self, slot: Slot) -> None:
        slot.killed = time.monotonic() if slot.killed is None else slot.killed
        try:
            self.spawner.kill_worker(slot.index)
        except OSError:  # the spawner is gone, which its end of file tells
            return

    def _read_spawner(self) -> None:
        try:
            message = self.spawner.receive()
        except OSError:
            message = None
        if message is None:
            self._replace_spawner()
        elif message["ended"] in self._slots:
            self._on_worker_exit(self._slots[message["ended"]], message)

    def _replace_spawner(self) -> None:
        """Starts another spawner for one that was killed, as the system's memory limit may do; its workers have ended with it."""
        self._forget(self.spawner.control.fileno())
        for slot in list(self._slots.values()):
            self._on_worker_exit(slot, None)
        self.spawner.close()
        try:
            self.spawner = SpawnerProcess(self._python)
        except SandboxError as error:
            self._give_up(str(error))
            return
        self._watch(self.spawner.control.fileno(), self._read_spawner)

    def _on_worker_exit(self, slot: Slot, message: Mapping[str, Any] | None) -> None:
        """Reads the rest of an ended worker's frames and output, and puts its jobs back."""
        self._read_worker(slot)
        slot.drain_output()
        reason = _reason(slot, message)
        if slot.description is None:
            self._failed_starts += 1
            if self._failed_starts >= _STARTS:
                self._give_up(f"a worker ended before it was ready{reason}")
        elif slot.jobs:
            # Jobs are answered in order: the first one was being evaluated, and a job that was given ahead is not to blame.
            # A job that ends workers again and again must not end all of them one after the other.
            slot.jobs[0].deaths += 1
        for submitted in reversed(slot.jobs):
            if submitted is slot.hanging and slot.description is not None:
                # Another try would take as long.
                why = _describe_hang(slot, slot.description.limit + self._grace)
                _finish(submitted, internal_report(why, retry=False))
            elif submitted.deaths >= _TRIES:
                _finish(submitted, internal_report(f"the worker ended in this job, {_TRIES} times{reason}"))
            else:
                self._queue.jobs.appendleft(submitted)
        self._forget(slot.connection.fileno())
        self._forget(slot.output)
        slot.close()
        del self._slots[slot.index]

    def _give_up(self, reason: str) -> None:
        """Notes that no job can be evaluated any more; those that come are reported at once."""
        self._broken = self._broken or reason
        if not self._queue.described.done():
            self._queue.described.set_exception(SandboxError(reason))

    def _deadline(self, slot: Slot) -> float | None:
        """Returns the time from which the worker is late, or the spawner that was to end it; None where it owes nothing."""
        if slot.killed is not None:
            return slot.killed + _KILL_SECONDS
        if slot.late is not None:
            return slot.late + _ABORT_SECONDS
        idle = slot.description is not None and not slot.jobs and not slot.dismissed
        if idle or slot.waiting_since is not None:
            return None
        limit = _START_SECONDS if slot.description is None else slot.description.limit + self._grace
        return slot.since + limit

    def _kill_late(self) -> None:
        now = time.monotonic()
        for slot in self._slots.values():
            deadline = self._deadline(slot)
            if deadline is None or now < deadline:
                continue
            if slot.killed is not None:
                # It does not answer, as one that was stopped; its end of file brings another.
                self.spawner.kill()
                return
            if slot.late is not None:
                self._kill(slot)
                continue
            slot.late, slot.hanging = now, slot.jobs[0] if slot.jobs else None
            with suppress(OSError):  # the spawner is gone, which its end of file tells
                self.spawner.abort_worker(slot.index)

    def _dispatch(self) -> None:
        """Gives jobs to workers while one takes them: an idle one first."""
        waiting = self._queue.jobs
        while waiting:
            if self._broken:
                _finish(waiting.popleft(), internal_report(self._broken))
                continue
            free = [
                slot for slot in self._slots.values() if slot.index < self._queue.slots and slot.takes(waiting[0].data)
            ]
            if not free:
                return
            submitted = waiting.popleft()
            if submitted.future.cancelled():
                continue
            slot = min(free, key=lambda slot: len(slot.jobs))
            try:
                slot.give(submitted, time.monotonic())
            except OSError:
                self._kill(slot)

    def _shut(self) -> None:
        """Cancels what is open, and closes the connection of every worker; also where this thread ends by a fault of its own."""
        self._queue.closing.set()
        for slot in self._slots.values():
            self._queue.jobs.extend(slot.jobs)
            slot.close()
        for submitted in self._queue.jobs:
            submitted.future.cancel()
        self._give_up("the executor was closed")
        self._selector.close()


def _finish(submitted: Submitted, report: bytes) -> None:
    if submitted.future.set_running_or_notify_cancel():
        submitted.future.set_result(report)


def _difference(expected: Description, description: Description) -> str:
    """Compares a worker's description with the expected one; returns the error of a difference, or an empty text."""
    before, now = asdict(expected), asdict(description)
    for name in (name for name in before if before[name] != now[name]):
        return (
            f"a worker describes its {name} as {now[name]!r}, and this run's is {before[name]!r}: their scores cannot "
            "be compared. Try: put what the task needs, and evolve itself, back as it was, and continue the campaign"
        )
    return ""


def _describe_hang(slot: Slot, seconds: float) -> str:
    """Formats that a job's worker took too long, with the traceback that it printed when it was aborted, in the usual order."""
    _, _, trace = slot.output_tail.rpartition("Current thread ")
    calls = "".join(f"\n  {call}" for call in reversed(_CALL.findall(trace)))
    traceback = f"\n\nTraceback (most recent call last):{calls}" if calls else ""
    return f"the evaluator had not answered after {seconds:g} s{traceback}"


def _reason(slot: Slot, message: Mapping[str, Any] | None) -> str:
    """Formats the end of a worker, with the end of its output."""
    if slot.late is not None:
        how = "it took too long and was killed"
    elif message is None:
        how = "the spawner is gone"
    else:
        how = f"exit code {message['code']}"
    return f" ({how}). Its last output:\n{slot.output_tail}" if slot.output_tail else f" ({how})"
