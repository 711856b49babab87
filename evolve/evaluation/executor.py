"""Executor on this machine: the engine's threads submit jobs, and one thread of its own gives them to worker processes, reads their reports, and replaces workers that end.

A job leaves the queue for a worker, and comes back at the queue's head when that worker ends, until it is reported: every submitted job's future ends with a report, or
is cancelled; it never raises."""

import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from evolve.devices import EVERYTHING, Grant, filter_gpus, find_gpus
from evolve.devices.inventory import usable_cores
from evolve.evaluation.grants import check_grants
from evolve.evaluation.job import (
    GOES_ON,
    WAITS,
    Charge,
    Description,
    Report,
    decode_message,
    encode_message,
)
from evolve.evaluation.slot import Slot, Submitted
from evolve.evaluation.spawner import SpawnerProcess, check_python, clean_environment
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Evaluation, Needs, Outcome, SandboxError, Task, TaskError, text_id

_GRACE = 30.0
_CLOSE_SECONDS = 2.0
_START_SECONDS = 120.0
_TRIES = 2
_STARTS = 5
"""Workers in a row that end before one is ready: then none is started any more."""


class LocalExecutor:
    """Implements `protocols.Executor` with one worker process per slot. Any thread may call it; make it before any other
    thread is started.

    `means` confine every candidate, all of them in every worker; the default ones, which every system has, are for accidents and not for
    hostile programs: `sandbox.machine.probe` finds better ones. Candidates never see what is `hidden`, which is where logs are kept. Stages lease what they need of
    `devices`. Making one raises `TaskError` where the task names a Python that cannot be used, or
    grants its programs what this machine cannot give, and `SandboxError`.

    Futures end, and their callbacks run, on the thread named "evolve-executor" (a cancelled one's on the thread that cancels). A worker that has not answered `grace` seconds
    after the limits of the whole cascade is killed. A worker that dies or is killed costs its job a second try, and then an
    INTERNAL report."""

    def __init__(
        self,
        task: Task,
        slots: int,
        grace: float = _GRACE,
        *,
        means: Means = PLAIN,
        hidden: Sequence[str] = (),
        devices: Grant = EVERYTHING,
    ) -> None:
        self._gpus = filter_gpus(find_gpus(), devices) if task.limits.grants.gpu else []
        check_grants(task, hidden, self._gpus)
        if task.python:
            check_python(task.python, clean_environment(os.environ))
        self._certifies = task.promotion == "certificate"
        self._closed = False
        self._queue = WorkerQueue(slots)
        self._open: dict[str, Submitted] = {}
        self._supervisor = WorkerSupervisor(Charge(task, means, tuple(hidden), devices), grace, self._queue)
        self._thread = threading.Thread(target=self._supervisor.run, name="evolve-executor", daemon=True)
        self._thread.start()

    def describe(self) -> Description:
        """Waits for the first worker and returns its description; raises `TaskError` with the evaluator's error (its traceback is a note), and
        `SandboxError` where no worker comes up."""
        description = self._queue.described.result()
        if description.error:
            error = TaskError(description.error)
            error.add_note(description.trace)
            raise error
        if self._certifies and "certify" not in description.functions:
            raise TaskError(
                'the task has promotion = "certificate", and its evaluator certifies nothing. '
                "Try: mark a function with @evaluate.certify, or take that line out of task.toml"
            )
        return description

    def capacity(self, needs: Needs) -> int:
        """Returns the slots; 0 for a stage that needs more GPUs than may be leased, or more cores than the engine may use."""
        return 0 if needs.gpus > len(self._gpus) or needs.cores > usable_cores() else self._queue.slots

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        """Queues a job; raises `SandboxError` after `close`."""
        if self._queue.closing.is_set():
            raise SandboxError(f"job {job_id!r} came after the executor was closed. Try: submit before close()")
        submitted = Submitted(job_id, job, Future())
        self._open[job_id] = submitted
        # Called by the executor's thread or, for a cancelled job, by the one that cancels: a dictionary's `pop` needs no lock.
        submitted.future.add_done_callback(lambda _: self._open.pop(job_id, None))
        self._queue.jobs.append(submitted)
        self._queue.ring()
        if self._queue.closing.is_set():  # closed meanwhile, so that nobody may have seen the job
            submitted.future.cancel()
        return submitted.future

    def cancel(self, job_id: str) -> None:
        """Cancels a job that no worker has; one that a worker has is evaluated to its end and reported."""
        submitted = self._open.get(job_id)
        if submitted is not None and not submitted.given:
            submitted.future.cancel()

    def resize(self, slots: int) -> None:
        """Starts missing workers; those that are too many end when they have answered what they were given."""
        self._queue.slots = slots
        self._queue.ring()

    def close(self) -> None:
        """Ends every process, and cancels what is open. May be called twice, by any thread but the executor's own."""
        if self._closed:
            return
        self._closed = True
        self._queue.closing.set()
        self._queue.ring()
        self._thread.join(_CLOSE_SECONDS)
        self._supervisor.spawner.close()
        self._queue.close()


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
        patience = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        for key, _ in self._selector.select(patience):
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
            slot.jobs[0].deaths += 1
        for submitted in reversed(slot.jobs):
            if submitted.deaths >= _TRIES:
                _finish(submitted, _internal(f"the worker ended in this job, {_TRIES} times{reason}"))
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
        """Returns the time from which the worker is late; None where it owes nothing."""
        idle = slot.description is not None and not slot.jobs and not slot.dismissed
        if slot.late or idle or slot.waiting_since is not None:
            return None
        limit = _START_SECONDS if slot.description is None else slot.description.limit + self._grace
        return slot.since + limit

    def _kill_late(self) -> None:
        now = time.monotonic()
        for slot in self._slots.values():
            deadline = self._deadline(slot)
            if deadline is not None and now >= deadline:
                slot.late = True
                self._kill(slot)

    def _dispatch(self) -> None:
        """Gives jobs to workers while one takes them: an idle one first."""
        waiting = self._queue.jobs
        while waiting:
            if self._broken:
                _finish(waiting.popleft(), _internal(self._broken))
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


def _internal(message: str) -> bytes:
    """Returns the report of a job that could not be evaluated."""
    return encode_message(Report(Evaluation.failed(Outcome.INTERNAL, text_id(message)), {text_id(message): message}))


def _difference(expected: Description, description: Description) -> str:
    """Compares a worker's description with the expected one; returns the error of a difference, or an empty text."""
    before, now = asdict(expected), asdict(description)
    for name in (name for name in before if before[name] != now[name]):
        return (
            f"a worker describes its {name} as {now[name]!r}, and this run's is {before[name]!r}: their scores cannot "
            "be compared. Try: put what the task needs, and evolve itself, back as it was, and continue the campaign"
        )
    return ""


def _reason(slot: Slot, message: Mapping[str, Any] | None) -> str:
    """Formats the end of a worker, with the end of its output."""
    if slot.late:
        how = "it took too long and was killed"
    elif message is None:
        how = "the spawner is gone"
    else:
        how = f"exit code {message['code']}"
    return f" ({how}). Its last output:\n{slot.output_tail}" if slot.output_tail else f" ({how})"
