"""The check of a task: its seed evaluated again, what it declares, the programs that it brings, then programs made up to fail.

Everything is evaluated by the task's own evaluator in real worker processes; nothing is written."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from evolve.conformance.findings import (
    SURE,
    Conformance,
    Finding,
    Verdict,
    evaluate,
    expect_ok,
    format_ending,
    in_user_direction,
    make_trial,
    read_feedback,
)
from evolve.conformance.impostors import check_impostors, limit_stages, make_asking, with_entry
from evolve.conformance.twins import check_twins, read_twins
from evolve.devices.leases import EVERYTHING, Grant
from evolve.evaluation import Description, Job, LocalExecutor, Report
from evolve.plugins import load
from evolve.sandbox.means import PLAIN, Means
from evolve.statistics import noise_floor
from evolve.task import CERTIFICATE, check_proof
from evolve.types import Carried, Evaluation, Outcome, Parameters, Task, TextId, Trial, seed_remedy

MEASUREMENTS = 5
"""Evaluations of a noisy task's seed, each with another random seed."""
_PATIENCE = 5.0
_LEAST_SECONDS = 1.0
"""A made-up program gets `_PATIENCE` times the seconds of the seed, and at least these: an endless loop takes all that it is given."""
_FURTHER = 1_000_003
"""Distance of two random seeds that a task's generators take for different ones, also where they divide them, or take a remainder."""


@dataclass(frozen=True, slots=True)
class _Seed:
    """A seed that passes: its first report, its fitness, and the standard deviation of one measurement."""

    report: Report
    fitness: float
    noise: float


def _be_silent(part: str) -> None:
    """Tells nobody."""


def check(
    task: Task,
    slots: int,
    means: Means = PLAIN,
    hidden: Sequence[str] = (),
    devices: Grant = EVERYTHING,
    report_part: Callable[[str], None] = _be_silent,
) -> Conformance:
    """Checks a task with `slots` workers side by side, its programs confined by `means` and without sight of what is `hidden`; raises `TaskError`
    where its evaluator does not load. Calls `report_part` before each part that takes long."""
    start = partial(LocalExecutor, slots=slots, means=means, hidden=hidden, devices=devices)
    with closing(start(task)) as executor:
        description = executor.describe()
        report_part(f"the seed, {'twice' if task.deterministic else f'{MEASUREMENTS} times'}")
        reports = _evaluate_seed(task, executor)
        findings = list(_check_seed(task, reports))
        seed = _passing_seed(reports)
        if seed is not None:
            report_part("the evaluator's functions, held-out cases, and programs that the task brings")
            findings += _check_declared(task, description, executor, seed)
    if seed is None:
        findings.append(Finding("made-up programs", "not tried", "the seed must pass first"))
    else:
        limit = max(_LEAST_SECONDS, _PATIENCE * seed.report.evaluation.seconds)
        report_part(f"made-up programs that fail in every common way, each for {limit:.3g} s at most")
        hurried = limit_stages(with_entry(task), description, limit)
        with closing(start(hurried)) as executor:
            executor.describe()
            findings += check_impostors(hurried, executor, slots, seed.fitness)
    evaluation = reports[0].evaluation
    return Conformance(
        task=task.name,
        version=task.version,
        isolation=description.isolation,
        passed=all(finding.verdict != "failed" for finding in findings),
        fitness=in_user_direction(task, evaluation),
        seconds=evaluation.seconds,
        cpu_seconds=evaluation.cpu_seconds,
        noise=None if seed is None else seed.noise,
        findings=tuple(findings),
    )


# --- the seed


def _evaluate_seed(task: Task, executor: LocalExecutor) -> list[Report]:
    """Returns the reports of two equal trials, or of several with other random seeds where the task is noisy, as far as they are OK."""
    reports: list[Report] = []
    # One at a time, for load is noise.
    for number, seed in enumerate((0, 0) if task.deterministic else range(MEASUREMENTS)):
        job = Job(f"seed.{number}", "evaluate", make_trial(task, seed), files=task.seed.files)
        reports += evaluate(executor, [job])
        if reports[-1].evaluation.outcome is not Outcome.OK:
            return reports[-1:]
    return reports


def _passing_seed(reports: Sequence[Report]) -> _Seed | None:
    fitness = reports[0].evaluation.fitness
    if fitness is None or any(report.evaluation.tag for report in reports):
        return None
    return _Seed(reports[0], fitness, _noise_of(reports))


def _noise_of(reports: Sequence[Report]) -> float:
    values = [report.evaluation.fitness for report in reports if report.evaluation.fitness is not None]
    return noise_floor(values) or 0.0


def _check_seed(task: Task, reports: Sequence[Report]) -> Iterator[Finding]:
    tag = next((report.evaluation.tag for report in reports if report.evaluation.tag), "")
    if tag:
        remedy = "mend the check that tags it: programs that are tagged are quarantined"
        yield Finding("seed", "failed", f"its own evaluator tags it: {tag}", remedy)
        return
    yield expect_ok("seed", task, reports[0], seed_remedy(reports[0].evaluation.outcome))
    if reports[0].evaluation.outcome is Outcome.OK:
        yield _check_equal(task, reports) if task.deterministic else check_noise(_noise_of(reports), len(reports))


def _check_equal(task: Task, reports: Sequence[Report]) -> Finding:
    one, two = (report.evaluation for report in reports)
    if (one.fitness, one.descriptors, one.objectives) == (two.fitness, two.descriptors, two.objectives):
        return Finding("seed again", "passed", "equal, as `deterministic = true` says")
    values = f"{in_user_direction(task, one)!r} and {in_user_direction(task, two)!r}"
    what = f"a {task.fitness.name} of {values}" if one.fitness != two.fitness else "other descriptors or objectives"
    happened = f"`deterministic = true`, and the same program got {what}"
    remedy = "take `deterministic` out of the task, or let nothing but the program and the parameters decide"
    return Finding("seed again", "failed", happened, remedy)


def check_noise(noise: float, count: int) -> Finding:
    """Returns a finding about the standard deviation of `count` measurements."""
    if noise == 0.0:
        happened = f"{count} measurements with different seeds are equal"
        remedy = "say `deterministic = true` where that is meant: each program is then evaluated once"
        return Finding("seed again", "warned", happened, remedy)
    return Finding("seed again", "passed", f"{count} measurements have a standard deviation of {noise:.3g}")


# --- what the task declares and brings


def _check_declared(task: Task, description: Description, executor: LocalExecutor, seed: _Seed) -> Iterator[Finding]:
    yield from _check_trust(seed.report.evaluation)
    yield check_prediction(task, executor)
    yield from check_declarations(task, seed.report.evaluation, seed.noise)
    yield from _check_functions(task, description, executor, seed.report)
    yield from _check_cases(task, executor, seed.report)
    yield from check_twins(task, executor, read_twins(task, load()), seed.fitness, seed.noise)


def check_declarations(task: Task, seed: Evaluation, noise: float) -> Iterator[Finding]:
    """Yields a finding for each kind of declaration that the task has; `noise` is one standard deviation of the seed's fitness."""
    assert seed.fitness is not None, "the seed is OK"
    direction = f"fitness.direction = {task.fitness.direction!r}"
    score = f"the seed has {task.fitness.shown(seed.fitness):.{task.fitness.digits}g}"
    if task.axes:
        values = ", ".join(f"{axis.name} {seed.descriptors[axis.name]:.6g}" for axis in task.axes)
        is_inside = all(axis.low <= seed.descriptors[axis.name] <= axis.high for axis in task.axes)
        remedy = "widen the range, or programs like the seed all fall into the border cell"
        yield _compare("axes", f"the seed has {values}", is_inside, "warned", remedy)
    # A score that is too good to be true comes from the evaluator, or from a direction that is the wrong way round.
    if task.bound is not None:
        is_possible = seed.fitness <= task.fitness.inside(task.bound)
        remedy = f"check the bound, the score, and {direction}"
        yield _compare("bound", f"{score}, the bound is {task.bound:g}", is_possible, "failed", remedy)
    if task.anchors:
        best = max(task.fitness.inside(anchor.value) for anchor in task.anchors)
        happened = f"{score}, the best of them {task.fitness.shown(best):g}"
        is_usual = seed.fitness <= best + SURE * noise
        yield _compare("anchors", happened, is_usual, "warned", f"check the anchors, and {direction}")
    for constraint in task.constraints:
        value = seed.metrics[constraint.metric]
        remedy = "begin with a program that meets it, or nothing can be the best until one is found"
        is_met = constraint.violation(value) == 0.0
        yield _compare(f"constraint {constraint.metric}", f"the seed has {value:.6g}", is_met, "warned", remedy)
    if task.carry:
        left = ", ".join(name for name in task.carry if name in seed.artifacts) or "nothing"
        is_whole = all(name in seed.artifacts for name in task.carry)
        remedy = "return Evaluation.ok(..., artifacts={...}) with what a child is to get"
        yield _compare("carry", f"the seed leaves {left}", is_whole, "failed", remedy)


def _compare(tried: str, happened: str, is_right: bool, otherwise: Verdict, remedy: str) -> Finding:
    return Finding(tried, "passed", happened) if is_right else Finding(tried, otherwise, happened, remedy)


def _check_trust(evaluation: Evaluation) -> Iterator[Finding]:
    if evaluation.trust == "claimed":
        remedy = "to have results promoted, compute the score in the evaluator: docs/tasks.md tells of `rescore`"
        yield Finding("trust", "warned", "the score is claimed by the program itself: nothing is promoted", remedy)
    elif evaluation.trust == "rescored":
        yield Finding("trust", "passed", "the evaluator computes the score from what the program has saved")


def check_prediction(task: Task, executor: LocalExecutor) -> Finding:
    """Returns a finding about draws: a program that knows the task's files and the random seed could repeat those that do not depend on the secret.

    The task's seed, and a program that tells what it is asked, are evaluated in equal trials, with another secret, and with another random seed."""
    tried = "prediction"
    if task.promotion == "certificate":
        return Finding(tried, "not tried", "the answer is one certified object: there is nothing to hide")
    programs = [*([task.seed] if task.deterministic else []), *make_asking(task)]

    def observe(trial: Trial) -> list[tuple[object, ...]]:
        jobs = [Job(f"{tried}.{number}", "evaluate", trial, one.files) for number, one in enumerate(programs)]
        return [_extract_draws(report) for report in evaluate(executor, jobs)]

    trial = make_trial(task)
    other_seed, other_secret = replace(trial, seed=trial.seed + _FURTHER), replace(trial, secret=f"not {trial.secret}")
    observed = zip(*map(observe, (trial, trial, other_seed, other_secret)), strict=True)
    depends = [
        (first != by_seed, first != by_secret) for first, again, by_seed, by_secret in observed if first == again
    ]
    if (True, False) in depends:
        return Finding(
            tried,
            "failed" if task.deterministic else "warned",
            "what is drawn follows from trial.seed, so that a program can draw it itself and have its answers ready",
            "seed generators by trial.entropy(...): docs/tasks.md, the rules of an evaluator",
        )
    if any(by_secret for _, by_secret in depends):
        return Finding(tried, "passed", "what is drawn depends on the secret, or a part of it does")
    return Finding(tried, "not tried", "nothing that repeats depends on seed or secret")


def _extract_draws(report: Report) -> tuple[object, ...]:
    """Returns what may depend on a draw. Artifacts may name the random seed, and a program that is scored on other instances has another score."""
    evaluation = report.evaluation
    return (
        evaluation.outcome,
        evaluation.fitness,
        evaluation.objectives,
        read_feedback(report) if evaluation.fitness is None else "",
    )


def _check_functions(task: Task, description: Description, executor: LocalExecutor, seed: Report) -> Iterator[Finding]:
    """Yields findings on certificate, fingerprint and picture of the seed, where the evaluator has such functions."""
    artifacts = {name: seed.texts[TextId(text)] for name, text in seed.evaluation.artifacts.items()}
    kinds = [kind for kind in ("certify", "fingerprint", "draw") if kind in description.functions]
    jobs = [Job(kind, kind, replace(make_trial(task), stage=kind), artifacts=artifacts) for kind in kinds]
    reports = dict(zip(kinds, evaluate(executor, jobs), strict=True))
    for kind, report in reports.items():
        yield _check_function(task, kind, report)
    if task.verifier:
        yield check_verifier(task, reports.get("certify"))


def _check_function(task: Task, kind: str, report: Report) -> Finding:
    remedy = f"mend the function marked @evaluate.{kind}"
    if kind == "certify":
        return expect_ok(kind, task, report, remedy)
    answer = report.evaluation.fingerprint if kind == "fingerprint" else report.drawing
    if not answer:
        is_empty = report.evaluation.outcome is Outcome.SCREENED
        return Finding(kind, "failed", "it gave an empty text" if is_empty else format_ending(report), remedy)
    if kind == "draw" and "<svg" not in answer:
        return Finding(kind, "warned", "the text is no SVG picture", "return one text that begins with <svg")
    return Finding(kind, "passed", f"a text of {len(answer):,} characters")


def check_verifier(task: Task, certified: Report | None) -> Finding:
    """Returns a finding about the task's verifier, run on the certificate of the seed as a reader runs it, who has nothing else of the task."""
    tried = "verifier"
    if certified is None:
        remedy = "write a function marked @evaluate.certify, or take `verifier` out of task.toml"
        return Finding(tried, "failed", "the evaluator certifies nothing that it could verify", remedy)
    evaluation = certified.evaluation
    if evaluation.fitness is None:
        return Finding(tried, "not tried", "the seed must be certified first")
    if CERTIFICATE not in evaluation.artifacts:
        remedy = f'return Evaluation.ok(..., artifacts={{"{CERTIFICATE}": proof}}) in @evaluate.certify'
        return Finding(tried, "failed", f"the seed is certified, and there is no artifact {CERTIFICATE!r}", remedy)
    value = task.fitness.shown(evaluation.fitness)
    proof = check_proof(task, certified.texts[TextId(evaluation.artifacts[CERTIFICATE])], value, "the seed")
    if not proof.refusal:
        return Finding(tried, "passed", f"the seed's certificate holds: {task.fitness.name} {value!r}")
    remedy = "mend the verifier, or the function marked @evaluate.certify: both must prove the same"
    return Finding(tried, "failed", f"the seed's certificate {proof.refusal}", remedy)


def _check_cases(task: Task, executor: LocalExecutor, seed: Report) -> Iterator[Finding]:
    """Yields findings on the seed with what it leaves to its children, and on each held-out case, without thresholds."""
    left = {
        name: json.loads(seed.texts[TextId(seed.evaluation.artifacts[name])])
        for name in task.carry
        if name in seed.evaluation.artifacts
    }
    trial, files = make_trial(task), task.seed.files
    jobs = []
    if left:
        carried = replace(trial, carried=Carried(left))
        jobs.append(Job("seed with what it carries", "evaluate", carried, files=files, ungated=True))
    for case in task.held_out:
        held_out = replace(trial, split="held_out", parameters=Parameters(case.parameters))
        jobs.append(Job(f"held-out case {case.name}", "evaluate", held_out, files=files, ungated=True))
    for job, report in zip(jobs, evaluate(executor, jobs), strict=True):
        remedy = "mend what the evaluator does with trial.carried and trial.parameters, or the case"
        yield expect_ok(job.id, task, report, remedy)
