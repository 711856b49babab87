"""Repeated evaluation of a program outside any campaign, next to the seed that it should beat.

Invariant: equal trials are judged once. A result is kept as soon as it is known, so that whoever stops loses what is under way and no more."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Protocol

from evolve.evaluation import Description, Job, Report, decode_report, encode_job, encode_report
from evolve.types import REPEATABLE, Case, Parameters, Program, Task, Trial, canonical, digest
from evolve.types.codec import encode


class Cache(Protocol):
    """Methods that are used of an evaluation cache."""

    def get(self, key: str) -> bytes | None: ...
    def put(self, key: str, result: bytes) -> None: ...


class Submits(Protocol):
    """Method that is used of an executor."""

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]": ...


@dataclass(frozen=True, slots=True)
class MeasurementRequest:
    """One evaluation to make: of a program, or of the task's seed beside it; `case` names a held-out case."""

    program: Program
    is_seed: bool
    trial: Trial
    case: str = ""

    @property
    def job(self) -> Job:
        """Thresholds count but for held-out cases, as in a campaign."""
        return Job(f"{id(self)}", "evaluate", self.trial, files=self.program.files, ungated=bool(self.case))


@dataclass(frozen=True, slots=True)
class Measured:
    """One evaluation that is done; `kept`: it was done before."""

    wanted: MeasurementRequest
    report: Report
    kept: bool = False


def trials(
    task: Task, program: Program, seeds: Iterable[int], case: Case | None = None, secret: str = ""
) -> Iterator[MeasurementRequest]:
    """The program and the task's seed, with each of `seeds` in turn; on a held-out case where one is given."""
    for seed in seeds:
        trial = Trial(
            seed,
            split="held_out" if case else "search",
            parameters=Parameters(case.parameters if case else task.parameters),
            secret=secret,
        )
        name = case.name if case else ""
        yield MeasurementRequest(program, False, trial, name)
        if program != task.seed:
            yield MeasurementRequest(task.seed, True, trial, name)


@dataclass(frozen=True)
class Measuring:
    """Evaluation of one task's programs: the executor, the number of jobs at a time, and the cache of results (None: no cache).
    `release` is the package and version of a plugin's evaluator."""

    task: Task
    judges: Submits
    description: Description
    slots: int
    cache: Cache | None = None
    release: str = ""
    clock: Callable[[], float] = time.monotonic

    def measure(self, wanted: Iterable[MeasurementRequest], deadline: float = float("inf")) -> Iterator[Measured]:
        """Results in the order in which they come; nothing is begun after `deadline`, on the clock."""
        open_jobs: dict[Future[bytes], MeasurementRequest] = {}
        for one in wanted:
            kept = self._read_cache(one)
            if kept is not None:
                yield Measured(one, kept, kept=True)
                continue
            while len(open_jobs) >= self.slots:
                yield from self._done(open_jobs)
            if self.clock() >= deadline:
                break
            open_jobs[self.judges.submit(one.job.id, encode_job(one.job))] = one
        while open_jobs:
            yield from self._done(open_jobs)

    def _done(self, open_jobs: dict["Future[bytes]", MeasurementRequest]) -> Iterator[Measured]:
        """Waits for the next results, and keeps them."""
        done, _ = wait(open_jobs, return_when=FIRST_COMPLETED)
        for future in done:
            one, report = open_jobs.pop(future), decode_report(future.result())
            if self.cache is not None and report.evaluation.outcome in REPEATABLE:
                self.cache.put(self._key(one), encode_report(report))
            yield Measured(one, report)

    def _read_cache(self, one: MeasurementRequest) -> Report | None:
        found = self.cache.get(self._key(one)) if self.cache else None
        return None if found is None else decode_report(found)

    def _key(self, one: MeasurementRequest) -> str:
        """Returns the cache key: the task, the program, the trial, and the machine that evaluates."""
        where = [self.description.hardware, self.description.environment, self.description.isolation]
        what = [self.task.version, one.program.id, encode(one.trial), bool(one.case)]
        return digest(canonical(["measured", self.release, *what, *where]))
