"""Executor on this machine: its thread gives what the engine's threads submit to worker processes.

Every submitted job's future ends with a report, or is cancelled; it never raises."""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from evolve.devices.inventory import Gpu, device_names, find_gpus, usable_cores
from evolve.devices.leases import EVERYTHING, Grant, filter_gpus
from evolve.evaluation.job import Charge, Description
from evolve.evaluation.spawner import check_python
from evolve.evaluation.workers import Submitted, WorkerQueue, WorkerSupervisor
from evolve.sandbox.machine.visible import is_below, is_shared
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Needs, SandboxError, Task, TaskError

_GRACE = 30.0
_CLOSE_SECONDS = 2.0
_ENGINE = Path(__file__).resolve().parents[1]


class LocalExecutor:
    """Implements `protocols.Executor` with one worker process per slot. Any thread may call it; make it before any other
    thread is started.

    `means` confine every candidate, all of them in every worker; the default ones, which every system has, are for accidents and not for
    hostile programs: `sandbox.machine.probe` finds better ones. Candidates never see what is `hidden`, which is where logs are kept. Stages lease what they need of
    `devices`. Making one raises `TaskError` where the task names a Python that cannot be used, or
    grants its programs what this machine cannot give, and `SandboxError`.

    Futures end, and their callbacks run, on the thread named "evolve-executor" (a cancelled one's on the thread that cancels). A worker that has not answered `grace` seconds
    after the limits of the whole cascade is killed, and its job ends with an INTERNAL report. A worker that dies costs its job a second try, and then
    an INTERNAL report."""

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
            check_python(task.python)
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
        # Known before it is queued, so that it can be cancelled as soon as anybody has its future.
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


def check_grants(task: Task, hidden: Sequence[str] = (), gpus: Sequence[Gpu] = ()) -> None:
    """Raises `TaskError` with the first thing that cannot be granted, and the remedy; `hidden` is where logs are kept, `gpus` are those that may be leased."""
    for written in task.limits.grants.read:
        reason = _reason(Path(written), task, hidden)
        if reason:
            raise TaskError(f"task {task.name!r} lets its programs read {written!r} (sandbox.read), which {reason}")
    if task.limits.grants.gpu and not gpus:
        raise TaskError(
            f"task {task.name!r} gives its programs a GPU (sandbox.gpu), and none may be leased here; `evolve devices` lists what there is. "
            "Try: install NVIDIA's driver (in a container, pass the device on), grant one with --devices, or use another machine"
        )
    if len({gpu.name for gpu in gpus}) > 1:
        raise TaskError(
            f"task {task.name!r} gives its programs a GPU, and there are {device_names(gpus)}: scores of one would not compare with those of "
            "another. Try: name those of one model, such as --devices gpu:0; `evolve devices` lists them"
        )


def _reason(place: Path, task: Task, hidden: Sequence[str]) -> str:
    """Returns the reason not to open a folder, with its remedy; empty where it may be opened."""
    if not place.is_dir():
        return "is no folder that is there. Try: fetch the data, correct the path, or set the variable in it"
    if not os.access(place, os.R_OK | os.X_OK):
        return "this user may not read. Try: `chmod` it, or name another"
    real, own = Path(os.path.realpath(place)), Path(os.path.realpath(task.folder))
    if is_shared(real):
        return "is somebody's home, or shared by the whole system. Try: name the folder in it that holds the data"
    # A plugin's evaluator lies elsewhere; the task's own file stands for it.
    evaluator = own / (task.evaluator.path or task.one_file or task.task_file or "task.toml")
    if is_below(Path(os.path.realpath(evaluator)), {real}):
        return "holds the task's evaluator. Try: put the data into a folder of its own"
    if is_below(_ENGINE, {real}) or (is_below(real, {_ENGINE}) and not is_below(real, {own})):
        return "holds the engine, or is part of it. Try: put the data into a folder of its own"
    for kept in hidden:
        # Logs have every program and score, and what was held out.
        if is_below(Path(os.path.realpath(kept)), {real}) or is_below(real, {Path(os.path.realpath(kept))}):
            return (
                f"holds logs of campaigns, or lies among them ({kept}). "
                "Try: put the data into a folder of its own, or the logs elsewhere with EVOLVE_HOME"
            )
    return ""
