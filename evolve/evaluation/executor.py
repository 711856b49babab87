"""Executor on this machine, as the engine's threads use it.

Invariant: every submitted job's future ends with a report, or is cancelled; it never raises."""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from evolve.devices import EVERYTHING, Grant, filter_gpus, find_gpus
from evolve.evaluation.grants import check_alike, check_grants
from evolve.evaluation.interpreter import check
from evolve.evaluation.job import Charge, Description
from evolve.evaluation.lifeline import Lifeline, clean_environment
from evolve.evaluation.machine import usable_cores
from evolve.evaluation.slot import Submitted
from evolve.evaluation.supervisor import RENEWED_AFTER, WorkerQueue, WorkerSupervisor
from evolve.sandbox import PLAIN, Means
from evolve.types import Needs, SandboxError, Task, TaskError

_GRACE = 30.0
_CLOSE_SECONDS = 2.0


class LocalExecutor:
    """Implements `protocols.Executor` with one worker process per slot. Any thread may call it; make it before any other
    thread is started.

    `means` confine every candidate, all of them in every worker; the default ones, which every system has, are for accidents and not for
    hostile programs: `sandbox.machine.probe` finds better ones. They never see what is `hidden`, which is where logs are kept. Stages lease what they need of
    `devices`. Making one raises `TaskError` where the task names a Python that cannot be used, or
    grants its programs what this machine cannot give, and `SandboxError`.

    Futures end, and their callbacks run, on the thread named "evolve-executor" (a cancelled one's on the thread that cancels). A worker that has not answered `grace` seconds
    after the limits of the whole cascade is killed. A worker that dies or is killed costs its job a second try, and then an
    INTERNAL report. One that has answered `renewed_after` jobs is replaced by a fresh one."""

    def __init__(
        self,
        task: Task,
        slots: int,
        grace: float = _GRACE,
        renewed_after: int = RENEWED_AFTER,
        *,
        means: Means = PLAIN,
        hidden: Sequence[str] = (),
        devices: Grant = EVERYTHING,
    ) -> None:
        check_grants(task, hidden)
        self._gpus = filter_gpus(find_gpus(), devices) if task.limits.grants.gpu else []
        check_alike(task, self._gpus)
        if task.python:
            check(task.python, clean_environment(os.environ))
        self._slots = slots
        self._certifies = task.promotion == "certificate"
        self._closed = False
        self._queue = WorkerQueue(slots)
        self._open: dict[str, Submitted] = {}
        self._lifeline = Lifeline.start(task.python)
        reader = WorkerSupervisor(
            Charge(task, means, tuple(hidden), devices), grace, self._lifeline, self._queue, renewed_after
        )
        self._thread = threading.Thread(target=reader.run, name="evolve-executor", daemon=True)
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
                "Do: mark a function with @evaluate.certify, or take that line out of task.toml"
            )
        return description

    def capacity(self, needs: Needs) -> int:
        """The slots; 0 for a stage that needs more GPUs than may be leased, or more cores than the engine may use."""
        return 0 if needs.gpus > len(self._gpus) or needs.cores > usable_cores() else self._slots

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        """Queues a job; raises `SandboxError` after `close`."""
        if self._queue.closing.is_set():
            raise SandboxError(f"job {job_id!r} came after the executor was closed. Do: submit before close()")
        submitted = Submitted(job_id, job, Future())
        self._open[job_id] = submitted
        submitted.future.add_done_callback(lambda _: self._open.pop(job_id, None))
        self._queue.jobs.append(submitted)
        self._queue.ring()
        if self._queue.closing.is_set():  # closed meanwhile, so that nobody may have seen the job
            submitted.future.cancel()
        return submitted.future

    def cancel(self, job_id: str) -> None:
        """Cancels a job that no worker has; one that a worker has is judged to its end and reported."""
        submitted = self._open.get(job_id)
        if submitted is not None and not submitted.given:
            submitted.future.cancel()

    def resize(self, slots: int) -> None:
        """More workers are started; those that are too many end when they have judged what they were given."""
        self._slots = self._queue.slots = slots
        self._queue.ring()

    def close(self) -> None:
        """Ends every process, and cancels what is open. May be called twice, by any thread but the executor's own."""
        if self._closed:
            return
        self._closed = True
        self._queue.closing.set()
        self._queue.ring()
        self._thread.join(_CLOSE_SECONDS)
        self._lifeline.close()
        self._queue.close()
