"""Supervisor of the workers, on the executor's one thread: gives them jobs, reads their reports, and replaces those that end.

Invariant: a job leaves the queue for a worker, and comes back at the queue's head when that worker ends, until it is reported."""

import logging
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict
from functools import partial
from typing import Any

from evolve.evaluation.job import (
    GOES_ON,
    WAITS,
    Charge,
    Description,
    Report,
    decode_description,
    encode_charge,
    encode_report,
)
from evolve.evaluation.lifeline import Lifeline
from evolve.evaluation.slot import Slot, Submitted
from evolve.types import Evaluation, Outcome, SandboxError, text_id

_log = logging.getLogger(__name__)

RENEWED_AFTER = 10_000
"""Jobs that one worker answers: what an evaluator and its libraries leak is bounded by that."""
_START_SECONDS = 120.0
_TRIES = 2
_STARTS = 5
"""Workers, or spawners, in a row that end before a worker is ready: then none is started any more."""


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
    """The state of the executor's thread: no other thread touches it."""

    def __init__(
        self, charge: Charge, grace: float, lifeline: Lifeline, queue: WorkerQueue, renewed_after: int = RENEWED_AFTER
    ) -> None:
        self._charge = encode_charge(charge)
        self._isolation = charge.means.line
        self._grace = grace
        self._lifeline = lifeline
        self._queue = queue
        self._renewed_after = renewed_after
        self._described_as: Description | None = None
        self._slots: dict[int, Slot] = {}
        self._selector = selectors.DefaultSelector()
        self._failed_starts = self._lost_spawners = 0
        self._broken = ""

    def run(self) -> None:
        """The thread, from its start to its end."""
        self._watch(self._queue.bell, lambda: self._queue.bell.recv(1 << 12))
        self._watch(self._lifeline.control, self._hear_spawner)
        self._resize()
        try:
            while not self._queue.closing.is_set():
                self._turn()
        finally:
            self._shut()

    def _turn(self) -> None:
        """Waits for something to happen, and does what follows from it."""
        for key, _ in self._selector.select(self._patience()):
            # An earlier one of this round may have closed it, and another may have got its number.
            if self._selector.get_map().get(key.fd) is key:
                key.data()
        self._end_late()
        self._resize()
        self._renew()
        self._dispatch()

    def _watch(self, source: socket.socket | int, act: Callable[[], object]) -> None:
        self._selector.register(source, selectors.EVENT_READ, act)

    def _forget(self, source: socket.socket | int) -> None:
        if source in self._selector.get_map():
            self._selector.unregister(source)

    def _start(self, index: int) -> None:
        try:
            slot = self._slots[index] = self._open_slot(index)
        except ConnectionError:  # the spawner is gone, which its end of file tells
            return
        except OSError as error:
            self._do_without(
                index, f"a judge process cannot be started: {error}. Do: check the limits on processes and open files"
            )
            return
        self._watch(slot.sock, partial(self._hear, slot))
        self._watch(slot.output, partial(self._drain_output, slot))
        try:
            slot.send(self._charge)
        except OSError:
            self._kill(slot)

    def _open_slot(self, index: int) -> Slot:
        slot, sock, output = Slot.open(index, time.monotonic())
        try:
            self._lifeline.ask_worker(index, sock, output)
        except OSError:
            slot.close()
            raise
        finally:
            sock.close()
            os.close(output)
        return slot

    def _hear(self, slot: Slot) -> None:
        frames, more = slot.listen()
        for frame in frames:
            if slot.description is None:
                self._on_description(slot, decode_description(frame))
            elif frame == WAITS:
                slot.waits(time.monotonic())
            elif frame == GOES_ON:
                slot.goes_on(time.monotonic())
            else:
                _finish(slot.pop_answered(time.monotonic()), frame)
        if not more:
            self._forget(slot.sock)
            self._kill(slot)

    def _on_description(self, slot: Slot, description: Description) -> None:
        if not description.error and description.isolation != self._isolation:
            self._refuse(slot, description.isolation)
            return
        if description.error and self._described_as and self._failed_starts + 1 < _STARTS:
            self._kill(slot)  # others could judge: something may have ended its template
            return
        slot.description = description
        slot.since = time.monotonic()
        self._failed_starts = self._lost_spawners = 0
        self._described_as = self._described_as or description
        if not self._queue.described.done():
            self._queue.described.set_result(description)
        self._broken = self._broken or description.error or _otherwise(self._described_as, description)

    def _refuse(self, slot: Slot, reached: str) -> None:
        """A worker that confines its candidates otherwise than this run does judges nothing."""
        self._give_up(
            f"a judge process isolates its candidates otherwise than this run: {reached!r}, wanted {self._isolation!r}. "
            "Do: let all judges run the same version of evolve"
        )
        self._kill(slot)

    def _drain_output(self, slot: Slot) -> None:
        if not slot.drain_output():
            self._forget(slot.output)

    def _kill(self, slot: Slot) -> None:
        try:
            self._lifeline.kill_worker(slot.index)
        except OSError:  # the spawner is gone, which its end of file tells
            return

    def _hear_spawner(self) -> None:
        try:
            message = self._lifeline.receive()
        except OSError:
            message = None
        if message is None:
            self._replace_spawner()
        elif message["ended"] in self._slots:
            self._on_worker_exit(self._slots[message["ended"]], message)
            self._resize()

    def _replace_spawner(self) -> None:
        """Starts another spawner for one that has ended, and with it its workers; the next turn starts new ones."""
        self._forget(self._lifeline.control)
        for slot in list(self._slots.values()):
            self._on_worker_exit(slot, None)
        self._lost_spawners += 1
        if self._lost_spawners >= _STARTS:
            self._give_up(
                f"the judge's spawner has ended, {_STARTS} times before a judge was ready. "
                "Do: look for what killed it, for example the system's memory limit"
            )
            return
        _log.warning("the judge's spawner has ended, which the system's memory limit may do; another one is started")
        try:
            self._lifeline.restart()
        except SandboxError as error:
            self._give_up(str(error))
            return
        self._watch(self._lifeline.control, self._hear_spawner)

    def _on_worker_exit(self, slot: Slot, message: Mapping[str, Any] | None) -> None:
        """Reads the rest of an ended worker's output, and puts its jobs back."""
        self._hear(slot)
        slot.drain_output()
        reason = _reason(slot, message)
        if slot.description is None and message is not None:
            self._failed_starts += 1
            if self._failed_starts >= _STARTS:
                self._do_without(slot.index, f"a judge process ended before it was ready{reason}")
        elif slot.jobs:
            slot.jobs[0].deaths += 1
        for submitted in reversed(slot.jobs):
            if submitted.deaths >= _TRIES:
                _finish(submitted, _internal(f"the judge process ended in this job, {_TRIES} times{reason}"))
            else:
                self._queue.jobs.appendleft(submitted)
        self._forget(slot.sock)
        self._forget(slot.output)
        slot.close()
        del self._slots[slot.index]

    def _do_without(self, index: int, reason: str) -> None:
        """A worker does not start. Where those before it judge, it is one too many for this machine: they go on."""
        judging = [slot.index for slot in self._slots.values() if slot.description is not None]
        if not judging or index <= max(judging):
            self._give_up(reason)
            return
        _log.warning("this run has %d judges, and %d were wanted: %s", index, self._queue.slots, reason)
        self._queue.slots, self._failed_starts = index, 0

    def _give_up(self, reason: str) -> None:
        """No job can be judged any more; those that come are reported at once."""
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

    def _patience(self) -> float | None:
        """Seconds until the first worker may be late."""
        deadlines = [deadline for slot in self._slots.values() if (deadline := self._deadline(slot)) is not None]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _end_late(self) -> None:
        now = time.monotonic()
        for slot in self._slots.values():
            deadline = self._deadline(slot)
            if deadline is not None and now >= deadline:
                slot.late = True
                self._kill(slot)

    def _resize(self) -> None:
        """Starts the workers that are missing, and retires those that are too many. One that has not come up yet is retired when it has."""
        for index in range(self._queue.slots):
            if index not in self._slots and index < self._queue.slots and not self._broken:
                self._start(index)
        for slot in self._slots.values():
            if slot.index >= self._queue.slots and slot.description is not None:
                slot.retired = True

    def _renew(self) -> None:
        """Replaces a worker that has answered enough; one at a time, while all others can work, so that they go on."""
        slots = self._slots.values()
        if all(slot.description is not None and not slot.retired for slot in slots) and not self._broken:
            worn = [slot for slot in slots if slot.evaluated >= self._renewed_after]
            for slot in worn[:1]:
                slot.retired = True
        for slot in slots:
            if slot.retired and not slot.jobs and not slot.dismissed:
                self._dismiss(slot)

    def _dismiss(self, slot: Slot) -> None:
        try:
            slot.dismiss(time.monotonic())
        except OSError:  # it has ended already
            self._kill(slot)

    def _dispatch(self) -> None:
        """Gives jobs to workers while one takes them: an idle one first."""
        waiting = self._queue.jobs
        while waiting:
            if self._broken:
                _finish(waiting.popleft(), _internal(self._broken))
                continue
            free = [slot for slot in self._slots.values() if slot.takes(waiting[0].data)]
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
        """Cancels what is open, and lets go of every worker; also where this thread ends by a fault of its own."""
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
    """The report of a job that could not be judged."""
    return encode_report(Report(Evaluation.failed(Outcome.INTERNAL, text_id(message)), {text_id(message): message}))


def _otherwise(first: Description, later: Description) -> str:
    """Compares a later worker's description with the first one's; returns the error of a difference, or an empty text."""
    was, found = asdict(first), asdict(later)
    for name in (name for name in was if was[name] != found[name]):
        return (
            f"a judge that was started anew describes its {name} as {found[name]!r}, and the first one as {was[name]!r}: their scores cannot "
            "be compared. Do: put what the task needs back as it was, and continue the campaign"
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
