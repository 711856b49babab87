"""Judging a task's programs for a check, outside any campaign.

Invariant: jobs of one call run side by side, calls one after the other; nothing is kept."""

from collections.abc import Sequence

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.types import TextId


def judged(executor: LocalExecutor, jobs: Sequence[Job]) -> list[Report]:
    """The reports of jobs, in their order; the fitness in them is maximised."""
    futures = [executor.submit(job.id, encode_job(job)) for job in jobs]
    return [decode_report(future.result()) for future in futures]


def feedback(report: Report) -> str:
    """What the evaluator or the judge said."""
    return report.texts.get(TextId(report.evaluation.feedback), "").strip()


def in_short(report: Report) -> str:
    """One line of it: the root error of a traceback, else the first line."""
    first = feedback(report).split("\n\n", 1)[0].strip()
    lines = first.splitlines() or ["there is no feedback"]
    return (lines[-1] if lines[0].startswith("Traceback") else lines[0]).strip()[:200]
