"""An executor that runs jobs in a second local process, as a plugin; this module is that process's program, too."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress

from evolve.evaluation import (
    Charge,
    LocalExecutor,
    decode_job,
    decode_message,
    encode_message,
    internal_report,
)
from evolve.hookspecs import ExecutorEntry, ExecutorRequest, Settings, hookimpl
from evolve.protocols import Executor
from evolve.types import Description, EvolveError, Needs, SandboxError, TaskError


class SecondProcess:
    """Sends each message as a line to the process, which answers with a line: no message has a line break. One job at a time; those that wait can be cancelled. When
    the process has ended, every job ends with an `internal` report, which is no program's fault."""

    def __init__(self, request: ExecutorRequest) -> None:
        # A session of its own: Ctrl-C is for the engine, which ends this process when its jobs have ended.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.second_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._asking = threading.Lock()
        self._pool = ThreadPoolExecutor(1, "second-process")
        self._futures: dict[str, Future[bytes]] = {}
        self._closed = False
        hidden = tuple(map(str, request.hidden))
        said = self._ask(encode_message(Charge(request.task, request.means, hidden, request.devices)))
        self._description = decode_message(Description, said) if said else Description()

    def _ask(self, message: bytes) -> bytes:
        """Returns the answer; empty where the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            with self._asking:
                self._process.stdin.write(message + b"\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
        except OSError:
            return b""
        return line.rstrip(b"\n") if line.endswith(b"\n") else b""

    def describe(self) -> Description:
        """Raises `TaskError` with what the evaluator said when it did not load."""
        if self._description.error:
            raise TaskError(self._description.error)
        if not self._description.stages:
            raise SandboxError("the second process ended before it described the evaluator. Try: the executor `local`")
        return self._description

    def capacity(self, needs: Needs) -> int:
        """One job at a time, on one core."""
        return 0 if needs.gpus or needs.cores > 1 else 1

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        """Raises `SandboxError` after `close`."""
        if self._closed:
            raise SandboxError(f"job {job_id!r} came after the executor was closed. Try: submit before close()")
        future = self._futures[job_id] = self._pool.submit(self._evaluate, job)
        future.add_done_callback(lambda _: self._futures.pop(job_id, None))
        return future

    def _evaluate(self, job: bytes) -> bytes:
        return self._ask(job) or internal_report("the second process has ended")

    def cancel(self, job_id: str) -> None:
        """Cancels a job that waits for the one under way."""
        future = self._futures.get(job_id)
        if future is not None:
            future.cancel()

    def resize(self, slots: int) -> None:
        """One process does one job at a time, whatever the number."""

    def close(self) -> None:
        """Waits for the job under way."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)
        # It may have ended with a message in its pipe.
        with suppress(BrokenPipeError):
            self._process.__exit__(None, None, None)


def _second(settings: Settings, request: ExecutorRequest) -> Executor:
    return SecondProcess(request)


@hookimpl
def register_executors() -> Sequence[ExecutorEntry]:
    """Provides `second`."""
    return (ExecutorEntry("second", _second),)


def serve() -> None:
    """Reads what it is charged with, then jobs; writes the description, then reports."""
    charge = decode_message(Charge, sys.stdin.buffer.readline())
    try:
        executor = LocalExecutor(charge.task, 1, means=charge.means, hidden=charge.hidden, devices=charge.devices)
    except EvolveError as error:
        answer(encode_message(Description(error=str(error))))
        return
    with closing(executor):
        try:
            answer(encode_message(executor.describe()))
        except EvolveError as error:
            answer(encode_message(Description(error=str(error))))
        for line in sys.stdin.buffer:
            job = line.rstrip(b"\n")
            answer(executor.submit(decode_job(job).id, job).result())


def answer(message: bytes) -> None:
    """Sends a line."""
    sys.stdout.buffer.write(message + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
