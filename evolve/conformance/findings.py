"""Findings of a task's check, and evaluations outside any campaign from which they are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.types import Evaluation, Outcome, Parameters, Task, TextId, Trial

Verdict = Literal["passed", "warned", "failed", "not tried"]
SURE = 3.0
"""Standard deviations by which a measurement must be better before that is no chance."""
FAULT_REMEDY = (
    "mend the evaluator: whatever a program answers, it must not raise anything but what candidate.call raises"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried, how it ended, and what to do where that was not right."""

    tried: str
    verdict: Verdict
    happened: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Conformance:
    """A checked task. `fitness` is the seed's, in the user's direction; `seconds` and `cpu_seconds` are what its evaluation took, the latter
    in the candidate; `noise` is the standard deviation of one measurement, None where the seed has no two."""

    task: str
    version: str
    isolation: str
    passed: bool
    fitness: float | None
    seconds: float
    cpu_seconds: float
    noise: float | None
    findings: tuple[Finding, ...]


def make_trial(task: Task, seed: int = 0) -> Trial:
    """Returns a trial such as the search makes."""
    return Trial(seed, parameters=Parameters(task.parameters), secret="of a check")


def evaluate(executor: LocalExecutor, jobs: Sequence[Job]) -> list[Report]:
    """Returns the reports of jobs that run side by side, in their order; the fitness in them is maximised."""
    futures = [executor.submit(job.id, encode_job(job)) for job in jobs]
    return [decode_report(future.result()) for future in futures]


def read_feedback(report: Report) -> str:
    """Returns the whole feedback of the evaluator or the engine."""
    return report.texts.get(TextId(report.evaluation.feedback), "").strip()


def format_ending(report: Report) -> str:
    """Returns the outcome with a line of feedback: the root error of a traceback, else the first line."""
    lines = read_feedback(report).split("\n\n", 1)[0].strip().splitlines() or ["there is no feedback"]
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return f"{report.evaluation.outcome}: {line.strip()[:200]}"


def in_user_direction(task: Task, evaluation: Evaluation) -> float | None:
    """Returns the fitness as the user writes it."""
    return None if evaluation.fitness is None else task.fitness.shown(evaluation.fitness)


def format_score(task: Task, report: Report) -> str:
    """Returns the fitness of an OK evaluation with its name."""
    return f"{task.fitness.name} {in_user_direction(task, report.evaluation):.{task.fitness.digits}g}"


def expect_ok(tried: str, task: Task, report: Report, remedy: str) -> Finding:
    """Returns a finding that passed exactly where the evaluation is OK."""
    if report.evaluation.outcome is Outcome.OK:
        return Finding(tried, "passed", f"ok with {format_score(task, report)}")
    return Finding(tried, "failed", format_ending(report), remedy)
