"""The check of a task: its seed judged again, what it declares, then made-up programs that fail in every common way.

Invariant: a check that failed names at least one finding with a remedy; the machine is as it was."""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from evolve.conformance.declared import declarations
from evolve.conformance.findings import CaseLine, Conformance, Finding
from evolve.conformance.impostors import NO_LIMIT, NO_NUMBER, Impostor, cast, opened
from evolve.conformance.judges import feedback, in_short, judged
from evolve.conformance.proposals import changeable
from evolve.devices import EVERYTHING, Grant
from evolve.judge import Description, Job, LocalExecutor, Report
from evolve.plugins import load
from evolve.sandbox import PLAIN, Means
from evolve.statistics import noise_floor
from evolve.types import Carried, Evaluation, Needs, Outcome, Parameters, Stage, Task, TextId, Trial

MEASUREMENTS = 5
"""How often the seed of a noisy task is judged, each time with another seed."""
PATIENCE = 5.0
"""A made-up program gets this many times what the seed takes ..."""
LEAST_SECONDS = 1.0
"""... and at least this."""


@dataclass(frozen=True, slots=True)
class _Seed:
    """The seed's first report, where it is OK, and what several showed. `noise` is None for fewer than two values."""

    first: Report
    noise: float | None
    findings: tuple[Finding, ...]

    @property
    def evaluation(self) -> Evaluation:
        return self.first.evaluation


def check(
    task: Task, slots: int, means: Means = PLAIN, hidden: Sequence[str] = (), devices: Grant = EVERYTHING
) -> Conformance:
    """Checks a task with `slots` judges side by side, its programs confined by `means` and without sight of what is `hidden`; raises `TaskError`
    where its evaluator does not load."""
    with closing(LocalExecutor(task, slots, means=means, hidden=hidden, devices=devices)) as executor:
        description = executor.describe()
        seed = _seed(task, executor)
        findings = list(seed.findings)
        cases: tuple[CaseLine, ...] = ()
        if seed.evaluation.outcome is Outcome.OK:
            findings += _trust(seed.evaluation)
            findings.append(changeable(task, seed.evaluation, load()))
            findings += declarations(task, seed.evaluation)
            findings += _functions(task, description, executor, seed.first)
            findings += _carried(task, executor, seed.first)
            cases, found = _held_out(task, executor)
            findings += found
    limit = max(LEAST_SECONDS, PATIENCE * seed.evaluation.seconds)
    if seed.evaluation.outcome is Outcome.OK:
        findings += _impostors(opened(hurried(task, description, limit)), slots, means, hidden, devices, seed)
    else:
        findings.append(Finding("made-up programs", "not tried", "the seed must pass first"))
    return Conformance(
        task=task.name,
        version=task.version,
        path=task.path,
        deterministic=task.deterministic,
        isolation=description.isolation,
        passed=all(finding.verdict != "failed" for finding in findings),
        fitness=_shown(task, seed.evaluation),
        seconds=seed.evaluation.seconds,
        cpu_seconds=seed.evaluation.cpu_seconds,
        noise=seed.noise,
        limit=limit,
        held_out=cases,
        findings=tuple(findings),
    )


def _shown(task: Task, evaluation: Evaluation) -> float | None:
    return None if evaluation.fitness is None else task.fitness.shown(evaluation.fitness)


def _trust(evaluation: Evaluation) -> list[Finding]:
    """What the score is worth, where the judge has not witnessed it."""
    if evaluation.trust == "claimed":
        remedy = "to have results promoted, compute the score in the judge: docs/scripts.md tells of `rescore`"
        return [Finding("trust", "warned", "the score is claimed by the program itself: nothing is promoted", remedy)]
    if evaluation.trust == "rescored":
        return [
            Finding("trust", "passed", "the score is rescored: computed by the judge from what the program has saved")
        ]
    return []


def _trial(task: Task, seed: int = 0) -> Trial:
    return Trial(seed, parameters=Parameters(task.parameters))


def _seed(task: Task, executor: LocalExecutor) -> _Seed:
    """Judges the seed: twice with one trial, or several times with other seeds where it is noisy; one at a time, for load is noise."""
    seeds = (0, 0) if task.deterministic else range(MEASUREMENTS)
    reports: list[Report] = []
    for number, seed in enumerate(seeds):
        reports += judged(executor, [Job(f"seed.{number}", "evaluate", _trial(task, seed), files=task.seed.files)])
        if reports[-1].evaluation.outcome is not Outcome.OK:
            break
    last = reports[-1]
    if last.evaluation.outcome is not Outcome.OK:
        what = f"{last.evaluation.outcome} at judging {len(reports)}: {in_short(last)}"
        return _Seed(last, None, (Finding("seed", "failed", what, "mend the seed or the evaluator"),))
    shown = f"{_shown(task, reports[0].evaluation):.{task.fitness.digits}g}"
    passed = Finding("seed", "passed", f"{task.fitness.name} {shown}")
    values = [report.evaluation.fitness for report in reports if report.evaluation.fitness is not None]
    again = _equal(task, reports) if task.deterministic else _noisy(values)
    return _Seed(reports[0], noise_floor(values), (passed, again))


def _equal(task: Task, reports: Sequence[Report]) -> Finding:
    one, two = (report.evaluation for report in reports)
    if (one.fitness, one.descriptors, one.objectives) == (two.fitness, two.descriptors, two.objectives):
        return Finding("seed again", "passed", "equal, as `deterministic = true` says")
    values = f"{_shown(task, one)!r} and {_shown(task, two)!r}"
    what = f"a {task.fitness.name} of {values}" if one.fitness != two.fitness else "other descriptors or objectives"
    return Finding(
        "seed again",
        "failed",
        f"`deterministic = true`, and the same program got {what}",
        "take `deterministic` out of the task, or let nothing but the program and the parameters decide",
    )


def _noisy(values: Sequence[float]) -> Finding:
    noise = noise_floor(values)
    if noise == 0.0:
        return Finding(
            "seed again",
            "warned",
            f"{len(values)} measurements with different seeds are equal",
            "say `deterministic = true` where that is meant: each program is then judged once",
        )
    mean = sum(values) / len(values)
    share = f" ({noise / abs(mean):.2%} of the mean)" if mean else ""
    return Finding(
        "seed again", "passed", f"{len(values)} measurements have a standard deviation of {noise:.3g}{share}"
    )


def _functions(task: Task, description: Description, executor: LocalExecutor, seed: Report) -> list[Finding]:
    """Certificate, fingerprint and picture of the seed, where the evaluator has such functions."""
    artifacts = {name: seed.texts[TextId(text)] for name, text in seed.evaluation.artifacts.items()}
    kinds = [kind for kind in ("certify", "fingerprint", "draw") if kind in description.functions]
    jobs = [Job(kind, kind, replace(_trial(task), stage=kind), artifacts=artifacts) for kind in kinds]
    return [_answered(task, job.id, report) for job, report in zip(jobs, judged(executor, jobs), strict=True)]


def _answered(task: Task, kind: str, report: Report) -> Finding:
    evaluation = report.evaluation
    remedy = f"mend the function marked @evaluate.{kind}"
    if kind == "certify" and evaluation.outcome is Outcome.OK:
        return Finding(kind, "passed", f"{task.fitness.name} {_shown(task, evaluation)!r}, certified")
    if kind == "fingerprint" and evaluation.fingerprint:
        return Finding(kind, "passed", evaluation.fingerprint[:40])
    if kind == "draw" and report.drawing:
        if "<svg" in report.drawing:
            return Finding(kind, "passed", f"an SVG picture of {len(report.drawing):,} characters")
        return Finding(kind, "warned", "the text is no SVG picture", "return one text that begins with <svg")
    why = in_short(report) if evaluation.outcome is not Outcome.SCREENED else "it gave an empty text"
    return Finding(kind, "failed", f"{evaluation.outcome}: {why}", remedy)


def _carried(task: Task, executor: LocalExecutor, seed: Report) -> list[Finding]:
    """The seed judged once more, with what it leaves to its children."""
    left = {
        name: json.loads(seed.texts[TextId(seed.evaluation.artifacts[name])])
        for name in task.carry
        if name in seed.evaluation.artifacts
    }
    if not left:
        return []
    trial = replace(_trial(task), carried=Carried(left))
    (report,) = judged(executor, [Job("carried", "evaluate", trial, files=task.seed.files)])
    if report.evaluation.outcome is Outcome.OK:
        value = f"{_shown(task, report.evaluation):.{task.fitness.digits}g}"
        return [Finding("seed with what it carries", "passed", f"{task.fitness.name} {value}")]
    what = f"{report.evaluation.outcome}: {in_short(report)}"
    return [Finding("seed with what it carries", "failed", what, "mend what the evaluator does with trial.carried")]


def _held_out(task: Task, executor: LocalExecutor) -> tuple[tuple[CaseLine, ...], list[Finding]]:
    """The seed on each held-out case, without thresholds."""
    jobs = [
        Job(
            case.name,
            "evaluate",
            Trial(split="held_out", parameters=Parameters(case.parameters)),
            files=task.seed.files,
            ungated=True,
        )
        for case in task.held_out
    ]
    reports = judged(executor, jobs)
    lines = tuple(
        CaseLine(job.id, report.evaluation.outcome, _shown(task, report.evaluation), report.evaluation.seconds)
        for job, report in zip(jobs, reports, strict=True)
    )
    failed = [
        Finding(
            f"held-out case {job.id}",
            "failed",
            f"{report.evaluation.outcome}: {in_short(report)}",
            "mend the case, or the seed: a best program is promoted by these cases",
        )
        for job, report in zip(jobs, reports, strict=True)
        if report.evaluation.outcome is not Outcome.OK
    ]
    if not lines or failed:
        return lines, failed
    return lines, [Finding("held-out cases", "passed", f"the seed passes {len(lines)}")]


def hurried(task: Task, description: Description, seconds: float) -> Task:
    """The task with stages that last no longer than `seconds`, since an endless loop takes all that there is."""
    declared = {stage.name: stage for stage in task.stages}
    usual = Needs(gpus=task.limits.grants.gpu)
    stages = (declared.get(name, Stage(name, needs=usual)) for name in description.stages)
    return replace(task, stages=tuple(replace(stage, limit=min(stage.limit, seconds)) for stage in stages))


def _impostors(
    task: Task, slots: int, means: Means, hidden: Sequence[str], devices: Grant, seed: _Seed
) -> list[Finding]:
    """Each made-up program, then the seed again, in the same judge processes."""
    tried = cast(task)
    jobs = [
        Job(f"{number}", "evaluate", _trial(task), files=impostor.program.files)
        for number, impostor in enumerate(tried.impostors)
    ]
    with closing(LocalExecutor(task, slots, means=means, hidden=hidden, devices=devices)) as executor:
        executor.describe()
        reports = judged(executor, jobs)
        again = [Job(f"after.{slot}", "evaluate", _trial(task), files=task.seed.files) for slot in range(slots)]
        after = judged(executor, again)
    found = [_ended(task, *pair, seed) for pair in zip(tried.impostors, reports, strict=True)]
    found += [Finding(name, "not tried", reason) for name, reason in tried.not_tried.items()]
    return [*found, *_alive(task, after, seed)]


def _ended(task: Task, impostor: Impostor, report: Report, seed: _Seed) -> Finding:
    """Whether a made-up program ended as it should."""
    outcome, wanted = report.evaluation.outcome, " or ".join(sorted(impostor.right))
    if NO_NUMBER in feedback(report):
        return Finding(impostor.name, "not tried", "the program's answer holds no number")
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
    shown = f"{task.fitness.name} {task.fitness.shown(fitness):.{task.fitness.digits}g}"
    if fitness < own:
        return Finding(
            impostor.name,
            "warned",
            f"ok with {shown}, which is worse than the seed's",
            f"if that is not meant: {impostor.remedy}",
        )
    return Finding(impostor.name, "failed", f"ok with {shown}, as good as the seed; wanted {wanted}", impostor.remedy)


def _alive(task: Task, reports: Sequence[Report], seed: _Seed) -> list[Finding]:
    """The seed again, after all of them."""
    name = "seed after them"
    for report in reports:
        evaluation = report.evaluation
        if evaluation.outcome is not Outcome.OK:
            what = f"{evaluation.outcome}: {in_short(report)}"
            return [Finding(name, "failed", what, "let a judging leave nothing behind that the next one meets")]
        if task.deterministic and evaluation.fitness != seed.evaluation.fitness:
            what = f"another {task.fitness.name}, {_shown(task, evaluation)!r}"
            return [Finding(name, "failed", what, "keep nothing in the evaluator from one program to the next")]
    return [Finding(name, "passed", "as before" if task.deterministic else "ok")]
