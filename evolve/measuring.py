"""Repeated evaluation of a program outside any campaign, next to the seed that it should beat."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Protocol

from evolve.evaluation import Job, Report, decode_report, encode_job
from evolve.types import Case, Parameters, Program, Task, Trial


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
    """One evaluation that is done."""

    wanted: MeasurementRequest
    report: Report


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


def measure(executor: Submits, wanted: Iterable[MeasurementRequest], slots: int) -> Iterator[Measured]:
    """Yields results in the order in which they come; so many jobs are under way at a time."""
    open_jobs: dict[Future[bytes], MeasurementRequest] = {}
    for one in wanted:
        while len(open_jobs) >= slots:
            yield from _finish(open_jobs)
        open_jobs[executor.submit(one.job.id, encode_job(one.job))] = one
    while open_jobs:
        yield from _finish(open_jobs)


def _finish(open_jobs: dict["Future[bytes]", MeasurementRequest]) -> Iterator[Measured]:
    """Waits for the next results."""
    done, _ = wait(open_jobs, return_when=FIRST_COMPLETED)
    for future in done:
        yield Measured(open_jobs.pop(future), decode_report(future.result()))
