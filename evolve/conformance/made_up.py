"""Made-up programs through the real judge: each must end as it should, and the seed must pass again after them.

Invariant: what could not be tried is told with the reason; nothing that a program says of itself decides but the marks of `impostors` and `degenerate`."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from evolve.conformance.degenerate import NO_CHANGE, PREVIOUS, SECOND, asked_once, deaf, degenerate
from evolve.conformance.findings import Finding
from evolve.conformance.impostors import NO_LIMIT, NO_NUMBER, Impostor, cast
from evolve.conformance.judges import feedback, in_short, judged
from evolve.conformance.seed import Seed, shown, trial_of
from evolve.devices import Grant
from evolve.evaluation import Description, Job, LocalExecutor, Report
from evolve.sandbox import Means
from evolve.types import Needs, Outcome, Program, Stage, Task

PATIENCE = 5.0
"""A made-up program gets this many times what the seed takes ..."""
LEAST_SECONDS = 1.0
"""... and at least this."""


def hurried(task: Task, description: Description, seconds: float) -> Task:
    """The task with stages that last no longer than `seconds`, since an endless loop takes all that there is."""
    declared = {stage.name: stage for stage in task.stages}
    usual = Needs(gpus=task.limits.grants.gpu)
    stages = (declared.get(name, Stage(name, needs=usual)) for name in description.stages)
    return replace(task, stages=tuple(replace(stage, limit=min(stage.limit, seconds)) for stage in stages))


@dataclass(frozen=True, slots=True)
class _Bench:
    """The judges of a hurried task."""

    task: Task
    executor: LocalExecutor

    def judged(self, programs: Sequence[Program]) -> list[Report]:
        """The reports of programs, judged side by side."""
        jobs = [
            Job(f"{number}", "evaluate", trial_of(self.task), files=one.files) for number, one in enumerate(programs)
        ]
        return judged(self.executor, jobs)


def made_up(task: Task, slots: int, means: Means, hidden: Sequence[str], devices: Grant, seed: Seed) -> list[Finding]:
    """Each made-up program, then the seed again, in the same judge processes; `task` is hurried, and its entry is a file of the program."""
    failing, wrong, blind = cast(task), degenerate(task), deaf(task)
    with closing(LocalExecutor(task, slots, means=means, hidden=hidden, devices=devices)) as executor:
        executor.describe()
        bench = _Bench(task, executor)
        reports = bench.judged([one.program for one in (*failing.impostors, *wrong.impostors, *blind.impostors)])
        after = bench.judged([task.seed] * slots)
        tried, unseen = reports[: len(reports) - len(blind.impostors)], reports[len(reports) - len(blind.impostors) :]
        ended = zip((*failing.impostors, *wrong.impostors), tried, strict=True)
        found = [_previous(bench, _ended(task, *pair, seed)) for pair in ended]
    found += [_looked_at(*pair) for pair in zip(blind.impostors, unseen, strict=True)]
    not_tried = {**failing.not_tried, **wrong.not_tried}
    found += [Finding(name, "not tried", reason) for name, reason in not_tried.items()]
    return [*found, *_alive(task, after, seed)]


def _previous(bench: _Bench, found: Finding) -> Finding:
    """Who answers as before is right where nobody asks twice: then that was not tried."""
    if found.tried != PREVIOUS or found.verdict != "failed":
        return found
    (report,) = bench.judged([asked_once(bench.task)])
    if SECOND in feedback(report):
        return found
    return Finding(PREVIOUS, "not tried", "a process is asked for one answer only")


def _looked_at(impostor: Impostor, report: Report) -> Finding:
    """Whether a program that has not seen an argument was refused."""
    evaluation = report.evaluation
    if NO_NUMBER in feedback(report):
        return Finding(impostor.name, "not tried", "the argument holds no number")
    if NO_CHANGE in feedback(report):
        return Finding(impostor.name, "not tried", "the argument is zero already")
    if evaluation.outcome is Outcome.OK:
        return Finding(impostor.name, "warned", "ok: no answer depends on it", impostor.remedy)
    if evaluation.outcome is Outcome.INTERNAL:
        return Finding(
            impostor.name, "failed", f"internal: {in_short(report)}", "mend the evaluator: it must not raise"
        )
    return Finding(impostor.name, "passed", evaluation.outcome)


def _unchanged(report: Report) -> str:
    """Why a program had nothing to change; empty where it had."""
    if NO_NUMBER in feedback(report):
        return "the program's answer holds no number"
    return "the program's first answer stays the same" if NO_CHANGE in feedback(report) else ""


def _ended(task: Task, impostor: Impostor, report: Report, seed: Seed) -> Finding:
    """Whether a made-up program ended as it should."""
    outcome, wanted = report.evaluation.outcome, " or ".join(sorted(impostor.right))
    unchanged = _unchanged(report)
    if unchanged:
        return Finding(impostor.name, "not tried", unchanged)
    if NO_LIMIT in feedback(report):
        remedy = "judge on a system that enforces limits of memory (Linux)"
        return Finding(impostor.name, "failed", "it got twice the memory that it may have", remedy)
    if outcome in impostor.right:
        return Finding(impostor.name, "passed", outcome)
    if outcome is Outcome.INTERNAL:
        remedy = (
            "mend the evaluator: whatever a program answers, it must not raise anything but what candidate.call raises"
        )
        return Finding(impostor.name, "failed", f"internal, wanted {wanted}: {in_short(report)}", remedy)
    if outcome is not Outcome.OK:
        return Finding(impostor.name, "warned", f"{outcome}, where {wanted} was expected", impostor.remedy)
    fitness, own = report.evaluation.fitness, seed.evaluation.fitness
    assert fitness is not None, "an OK evaluation has a fitness"
    assert own is not None, "the seed is OK"
    score = f"{task.fitness.name} {task.fitness.shown(fitness):.{task.fitness.digits}g}"
    if impostor.strict:
        return Finding(impostor.name, "failed", f"ok with {score}; wanted {wanted}", impostor.remedy)
    if fitness < own:
        what, remedy = f"ok with {score}, which is worse than the seed's", f"if that is not meant: {impostor.remedy}"
        return Finding(impostor.name, "warned", what, remedy)
    return Finding(impostor.name, "failed", f"ok with {score}, as good as the seed; wanted {wanted}", impostor.remedy)


def _alive(task: Task, reports: Sequence[Report], seed: Seed) -> list[Finding]:
    """The seed again, after all of them."""
    name = "seed after them"
    for report in reports:
        evaluation = report.evaluation
        if evaluation.outcome is not Outcome.OK:
            what = f"{evaluation.outcome}: {in_short(report)}"
            return [Finding(name, "failed", what, "let a judging leave nothing behind that the next one meets")]
        if task.deterministic and evaluation.fitness != seed.evaluation.fitness:
            what = f"another {task.fitness.name}, {shown(task, evaluation)!r}"
            return [Finding(name, "failed", what, "keep nothing in the evaluator from one program to the next")]
    return [Finding(name, "passed", "as before" if task.deterministic else "ok")]
