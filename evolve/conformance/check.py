"""The check of a task: its seed judged again, what it declares, the programs that it brings, then made-up ones that fail in every common way.

Invariant: a check that failed names at least one finding with a remedy; the machine is as it was."""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from evolve.conformance.brought import brought
from evolve.conformance.declared import declarations
from evolve.conformance.findings import CaseLine, Conformance, Finding
from evolve.conformance.impostors import opened
from evolve.conformance.judges import in_short, judged
from evolve.conformance.made_up import LEAST_SECONDS, PATIENCE, hurried, made_up
from evolve.conformance.predicting import prediction
from evolve.conformance.proposals import changeable
from evolve.conformance.seed import MEASUREMENTS, Seed, judged_seed, shown, trial_of
from evolve.conformance.twins import twins
from evolve.conformance.verifying import verified_again
from evolve.devices import EVERYTHING, Grant
from evolve.evaluation import Description, Job, LocalExecutor, Report
from evolve.plugins import load
from evolve.sandbox import PLAIN, Means
from evolve.types import Carried, Evaluation, Outcome, Parameters, Task, TextId


def _silent(part: str) -> None:
    """Nobody is told."""


def check(
    task: Task,
    slots: int,
    means: Means = PLAIN,
    hidden: Sequence[str] = (),
    devices: Grant = EVERYTHING,
    begun: Callable[[str], None] = _silent,
) -> Conformance:
    """Checks a task with `slots` judges side by side, its programs confined by `means` and without sight of what is `hidden`; raises `TaskError`
    where its evaluator does not load. What takes long is told to `begun` as it begins."""
    with closing(LocalExecutor(task, slots, means=means, hidden=hidden, devices=devices)) as executor:
        description = executor.describe()
        begun(f"the seed, {'twice' if task.deterministic else f'{MEASUREMENTS} times'}")
        seed = judged_seed(task, executor)
        findings = list(seed.findings)
        cases: tuple[CaseLine, ...] = ()
        if seed.evaluation.outcome is Outcome.OK:
            cases, found = _of_a_passing_seed(task, description, executor, seed, begun)
            findings += found
    limit = max(LEAST_SECONDS, PATIENCE * seed.evaluation.seconds)
    if seed.evaluation.outcome is Outcome.OK:
        begun(f"made-up programs that fail in every common way, each for {limit:.3g} s at most")
        findings += made_up(opened(hurried(task, description, limit)), slots, means, hidden, devices, seed)
    else:
        findings.append(Finding("made-up programs", "not tried", "the seed must pass first"))
    return Conformance(
        task=task.name,
        version=task.version,
        path=task.path,
        deterministic=task.deterministic,
        isolation=description.isolation,
        passed=all(finding.verdict != "failed" for finding in findings),
        fitness=shown(task, seed.evaluation),
        seconds=seed.evaluation.seconds,
        cpu_seconds=seed.evaluation.cpu_seconds,
        noise=seed.noise,
        limit=limit,
        held_out=cases,
        findings=tuple(findings),
    )


def _of_a_passing_seed(
    task: Task, description: Description, executor: LocalExecutor, seed: Seed, begun: Callable[[str], None]
) -> tuple[tuple[CaseLine, ...], list[Finding]]:
    """What the task declares and brings, and the seed on its held-out cases."""
    plugins = load()
    findings = [*_trust(seed.evaluation), changeable(task, seed.evaluation, plugins)]
    findings.append(prediction(task, executor))
    findings += declarations(task, seed.evaluation, seed.noise)
    findings += _functions(task, description, executor, seed.first)
    findings += _carried(task, executor, seed.first)
    if task.held_out:
        begun("the seed on each held-out case")
    cases, found = _held_out(task, executor)
    twin_programs = twins(task, plugins)
    if twin_programs:
        begun("programs that the task brings")
    return cases, [*findings, *found, *brought(task, executor, seed, twin_programs)]


def _trust(evaluation: Evaluation) -> list[Finding]:
    """What the score is worth, where the judge has not witnessed it."""
    if evaluation.trust == "claimed":
        remedy = "to have results promoted, compute the score in the judge: docs/tasks.md tells of `rescore`"
        return [Finding("trust", "warned", "the score is claimed by the program itself: nothing is promoted", remedy)]
    if evaluation.trust == "rescored":
        return [
            Finding("trust", "passed", "the score is rescored: computed by the judge from what the program has saved")
        ]
    return []


def _functions(task: Task, description: Description, executor: LocalExecutor, seed: Report) -> list[Finding]:
    """Certificate, fingerprint and picture of the seed, where the evaluator has such functions."""
    artifacts = {name: seed.texts[TextId(text)] for name, text in seed.evaluation.artifacts.items()}
    kinds = [kind for kind in ("certify", "fingerprint", "draw") if kind in description.functions]
    jobs = [Job(kind, kind, replace(trial_of(task), stage=kind), artifacts=artifacts) for kind in kinds]
    reports = dict(zip(kinds, judged(executor, jobs), strict=True))
    findings = [_answered(task, kind, report) for kind, report in reports.items()]
    return [*findings, *verified_again(task, reports.get("certify"))]


def _answered(task: Task, kind: str, report: Report) -> Finding:
    evaluation = report.evaluation
    remedy = f"mend the function marked @evaluate.{kind}"
    if kind == "certify" and evaluation.outcome is Outcome.OK:
        return Finding(kind, "passed", f"{task.fitness.name} {shown(task, evaluation)!r}, certified")
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
    trial = replace(trial_of(task), carried=Carried(left))
    (report,) = judged(executor, [Job("carried", "evaluate", trial, files=task.seed.files)])
    if report.evaluation.outcome is Outcome.OK:
        value = f"{shown(task, report.evaluation):.{task.fitness.digits}g}"
        return [Finding("seed with what it carries", "passed", f"{task.fitness.name} {value}")]
    what = f"{report.evaluation.outcome}: {in_short(report)}"
    return [Finding("seed with what it carries", "failed", what, "mend what the evaluator does with trial.carried")]


def _held_out(task: Task, executor: LocalExecutor) -> tuple[tuple[CaseLine, ...], list[Finding]]:
    """The seed on each held-out case, without thresholds."""
    jobs = [
        Job(
            case.name,
            "evaluate",
            replace(trial_of(task), split="held_out", parameters=Parameters(case.parameters)),
            files=task.seed.files,
            ungated=True,
        )
        for case in task.held_out
    ]
    reports = judged(executor, jobs)
    lines = tuple(
        CaseLine(job.id, report.evaluation.outcome, shown(task, report.evaluation), report.evaluation.seconds)
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
