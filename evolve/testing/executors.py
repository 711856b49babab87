"""Suite for executors: jobs that end with reports, jobs that are cancelled, and the end of all workers."""

import json
import math
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import closing

from evolve.protocols import Executor
from evolve.types import Needs, SandboxError

_IMPOSSIBLE = Needs(gpus=1_000_000)


def check_executor(make: Callable[[], Executor], jobs: Mapping[str, bytes], seconds: float = 60.0) -> None:
    """Runs jobs, by their ids, on the executors that `make()` returns. Each of the jobs, three or more, ends within `seconds`.

    Checked: the evaluator loads; stages that can never run have no capacity; every job ends with a report of its own; a
    cancelled job ends, too, and ends none but itself; fewer workers do not lose jobs; `close` ends what is open, may be called twice, and no
    job is taken after it."""
    with closing(make()) as executor:
        description = executor.describe()
        assert not description.error, f"the evaluator does not load: {description.error}"
        assert executor.capacity(Needs()) > 0, "no job can ever run"
        assert executor.capacity(_IMPOSSIBLE) == 0, f"a stage that needs {_IMPOSSIBLE.gpus:,} GPUs would wait for ever"
        futures = {job_id: executor.submit(job_id, job) for job_id, job in jobs.items()}
        # In the middle of them: jobs of workers that end now must be run by the one that stays.
        executor.resize(1)
        for job_id, future in futures.items():
            _check_report(job_id, future, seconds)
        executor.cancel("no such job")
        _check_cancelling(executor, jobs, seconds)
    executor.close()
    try:
        executor.submit(*next(iter(jobs.items())))
    except SandboxError:
        pass
    else:
        raise AssertionError("a job is taken after the executor was closed")
    with closing(make()) as executor:
        left = [executor.submit(job_id, job) for job_id, job in jobs.items()]
    assert all(future.done() for future in left), "jobs that were open when it was closed never end"


def _check_cancelling(executor: Executor, jobs: Mapping[str, bytes], seconds: float) -> None:
    again = {f"{job_id}-again": job for job_id, job in jobs.items()}
    futures = {job_id: executor.submit(job_id, job) for job_id, job in again.items()}
    *others, last = futures
    executor.cancel(last)
    for job_id in others:
        _check_report(job_id, futures[job_id], seconds)
    if not futures[last].cancelled():
        _check_report(last, futures[last], seconds)


def _check_report(job_id: str, future: "Future[bytes]", seconds: float) -> None:
    report = json.loads(future.result(seconds))
    fitness = report.get("evaluation", {}).get("fitness")
    assert fitness is None or math.isfinite(fitness), f"the report of job {job_id} is none: {report!r:.200}"
