"""The seed of a task, judged again and again: whether it passes, and whether equal programs get equal scores.

Invariant: one judging at a time, for load is noise."""

from collections.abc import Sequence
from dataclasses import dataclass

from evolve.conformance.findings import Finding
from evolve.conformance.judges import in_short, judged
from evolve.evaluation import Job, LocalExecutor, Report
from evolve.statistics import noise_floor
from evolve.task.remedy import remedy
from evolve.types import Evaluation, Outcome, Parameters, Task, Trial

MEASUREMENTS = 5
"""How often the seed of a noisy task is judged, each time with another seed."""
SURE = 3.0
"""By how many standard deviations a measurement must be better before that is no chance."""


@dataclass(frozen=True, slots=True)
class Seed:
    """The seed's first report, where it is OK, and what several showed. `noise` is None for fewer than two values."""

    first: Report
    noise: float | None
    findings: tuple[Finding, ...]

    @property
    def evaluation(self) -> Evaluation:
        return self.first.evaluation


def shown(task: Task, evaluation: Evaluation) -> float | None:
    """A fitness as the user writes it."""
    return None if evaluation.fitness is None else task.fitness.shown(evaluation.fitness)


def trial_of(task: Task, seed: int = 0) -> Trial:
    """What a judging of the task is told, as the search tells it."""
    return Trial(seed, parameters=Parameters(task.parameters), secret="of a check")


def judged_seed(task: Task, executor: LocalExecutor) -> Seed:
    """Judges the seed: twice with one trial, or several times with other seeds where it is noisy; one at a time, for load is noise."""
    seeds = (0, 0) if task.deterministic else range(MEASUREMENTS)
    reports: list[Report] = []
    for number, seed in enumerate(seeds):
        reports += judged(executor, [Job(f"seed.{number}", "evaluate", trial_of(task, seed), files=task.seed.files)])
        if reports[-1].evaluation.outcome is not Outcome.OK:
            break
    last = reports[-1]
    if last.evaluation.outcome is not Outcome.OK:
        what = f"{last.evaluation.outcome} at judging {len(reports)}: {in_short(last)}"
        return Seed(last, None, (Finding("seed", "failed", what, remedy(last.evaluation.outcome)),))
    tag = next((report.evaluation.tag for report in reports if report.evaluation.tag), "")
    if tag:
        mend = "mend the check that tags it: programs that are tagged are quarantined"
        return Seed(reports[0], None, (Finding("seed", "failed", f"its own evaluator tags it: {tag}", mend),))
    value = f"{shown(task, reports[0].evaluation):.{task.fitness.digits}g}"
    passed = Finding("seed", "passed", f"{task.fitness.name} {value}")
    values = [report.evaluation.fitness for report in reports if report.evaluation.fitness is not None]
    again = _equal(task, reports) if task.deterministic else noisy(values)
    return Seed(reports[0], noise_floor(values), (passed, again))


def _equal(task: Task, reports: Sequence[Report]) -> Finding:
    one, two = (report.evaluation for report in reports)
    if (one.fitness, one.descriptors, one.objectives) == (two.fitness, two.descriptors, two.objectives):
        return Finding("seed again", "passed", "equal, as `deterministic = true` says")
    values = f"{shown(task, one)!r} and {shown(task, two)!r}"
    what = f"a {task.fitness.name} of {values}" if one.fitness != two.fitness else "other descriptors or objectives"
    return Finding(
        "seed again",
        "failed",
        f"`deterministic = true`, and the same program got {what}",
        "take `deterministic` out of the task, or let nothing but the program and the parameters decide",
    )


def noisy(values: Sequence[float]) -> Finding:
    """What several measurements of a noisy task show."""
    noise = noise_floor(values)
    if noise == 0.0:
        return Finding(
            "seed again",
            "warned",
            f"{len(values)} measurements with different seeds are equal",
            "say `deterministic = true` where that is meant: each program is then judged once",
        )
    mean = sum(values) / len(values)
    # Around a mean of zero, such as that of a seed's speed against itself, a share of it says nothing.
    share = f" ({noise / abs(mean):.2%} of the mean)" if abs(mean) > noise else ""
    return Finding(
        "seed again", "passed", f"{len(values)} measurements have a standard deviation of {noise:.3g}{share}"
    )
