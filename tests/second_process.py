"""An executor that runs jobs in a second local process, as a plugin; this module is that process's program, too."""

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing

from evolve.evaluation import LocalExecutor
from evolve.hookspecs import ExecutorEntry, ExecutorRequest, Settings, hookimpl
from evolve.protocols import Executor
from evolve.sandbox.means import Means
from evolve.types import Description, Needs, SandboxError, Task, canonical
from evolve.types.codec import decode, encode


class SecondProcess:
    """Sends each job as a line to the process, which answers with a line; one at a time. Candidates are confined there as the request says."""

    def __init__(self, request: ExecutorRequest) -> None:
        command = [sys.executable, "-m", "tests.second_process"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._turn = threading.Lock()
        self._description = decode(Description, json.loads(self._ask(_format_request(request))))
        self._pool = ThreadPoolExecutor(request.slots)
        self._futures: dict[str, Future[bytes]] = {}

    def _ask(self, line: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._turn:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
            return self._process.stdout.readline().rstrip(b"\n")

    def describe(self) -> Description:
        return self._description

    def capacity(self, needs: Needs) -> int:
        return 0 if needs.gpus or needs.cores > 1 else 1

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        if self._process.poll() is not None:
            raise SandboxError(f"job {job_id!r} came after the executor was closed")
        self._futures[job_id] = self._pool.submit(self._ask, json.dumps([job_id, job.decode()]).encode())
        return self._futures[job_id]

    def cancel(self, job_id: str) -> None:
        if job_id in self._futures:
            self._futures[job_id].cancel()

    def resize(self, slots: int) -> None:
        """One process does one job at a time, whatever the number."""

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._process.__exit__(None, None, None)


def _format_request(request: ExecutorRequest) -> bytes:
    return canonical([encode(request.task), encode(request.means), list(map(str, request.hidden))]).encode()


def _second(settings: Settings, request: ExecutorRequest) -> Executor:
    return SecondProcess(request)


@hookimpl
def register_executors() -> Sequence[ExecutorEntry]:
    """Provides `second`."""
    return (ExecutorEntry("second", _second),)


def serve() -> None:
    """Reads task, means and hidden folders, then jobs; writes the description, then reports."""
    task, means, hidden = json.loads(sys.stdin.readline())
    with closing(LocalExecutor(decode(Task, task), 1, means=decode(Means, means), hidden=tuple(hidden))) as executor:
        print(canonical(encode(executor.describe())), flush=True)
        for line in sys.stdin:
            job_id, job = json.loads(line)
            print(executor.submit(job_id, job.encode()).result().decode(), flush=True)


if __name__ == "__main__":
    serve()
