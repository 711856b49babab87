"""The programs that a task brings for its check, judged: honest ones pass as the seed does, and no other one gains anything.

Invariant: each is judged within the task's own limits and without thresholds; in a noisy task one at a time, for load is noise."""

import math
from collections.abc import Sequence

from evolve.conformance.findings import Finding
from evolve.conformance.judges import in_short, judged
from evolve.conformance.seed import SURE, Seed, shown, trial_of
from evolve.conformance.twins import program
from evolve.evaluation import Job, LocalExecutor, Report
from evolve.types import Outcome, Task, Twin


def brought(task: Task, executor: LocalExecutor, seed: Seed, found: Sequence[Twin]) -> list[Finding]:
    """A finding for each program; `seed` has passed."""
    reports = _reports(task, executor, found)
    return [
        _passes(task, *pair) if pair[0].honest else _gains(task, *pair, seed)
        for pair in zip(found, reports, strict=True)
    ]


def _reports(task: Task, executor: LocalExecutor, found: Sequence[Twin]) -> list[Report]:
    jobs = [
        Job(f"twin.{number}", "evaluate", trial_of(task), files=program(task, twin).files, ungated=True)
        for number, twin in enumerate(found)
    ]
    if task.deterministic:
        return judged(executor, jobs)
    return [report for job in jobs for report in judged(executor, [job])]


def _passes(task: Task, twin: Twin, report: Report) -> Finding:
    """An honest program is OK, and not tagged."""
    evaluation, name = report.evaluation, f"honest: {twin.name}"
    if evaluation.outcome is not Outcome.OK:
        what = f"{evaluation.outcome}: {in_short(report)}"
        return Finding(name, "failed", what, "mend the evaluator, which refuses an honest program, or the program")
    if evaluation.tag:
        what = f"its evaluator tags it: {evaluation.tag}"
        return Finding(name, "failed", what, "mend the check that tags it: programs that are tagged are quarantined")
    return Finding(name, "passed", f"ok with {_score(task, report)}")


def _gains(task: Task, twin: Twin, report: Report, seed: Seed) -> Finding:
    """A dishonest program fails, is tagged, or is no better than the seed, within the noise."""
    evaluation, name = report.evaluation, f"dishonest: {twin.name}"
    if evaluation.outcome is Outcome.INTERNAL:
        remedy = (
            "mend the evaluator: whatever a program answers, it must not raise anything but what candidate.call raises"
        )
        return Finding(name, "failed", f"internal: {in_short(report)}", remedy)
    if evaluation.tag:
        return Finding(name, "passed", f"{evaluation.outcome}, and quarantined: {evaluation.tag}")
    if evaluation.fitness is None:
        return Finding(name, "passed", evaluation.outcome)
    assert seed.evaluation.fitness is not None, "the seed has passed"
    if evaluation.fitness <= seed.evaluation.fitness + SURE * math.sqrt(2) * (seed.noise or 0.0):
        return Finding(name, "passed", f"ok with {_score(task, report)}, no better than the seed")
    remedy = "mend the evaluator, which this program profits from"
    return Finding(name, "failed", f"ok with {_score(task, report)}, better than the seed", remedy)


def _score(task: Task, report: Report) -> str:
    return f"{task.fitness.name} {shown(task, report.evaluation):.{task.fitness.digits}g}"
