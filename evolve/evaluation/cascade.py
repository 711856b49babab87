"""Cascade of stages: runs a job and turns whatever happens into an evaluation and a report.

Invariant: a program's failure is its outcome and never INTERNAL; the evaluator's own failure is INTERNAL and never the program's, also
where an answer provoked it, because nobody here can tell what it would have been worth."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evolve.evaluation.candidate import Candidate, OpenSession
from evolve.evaluation.cases import draw, evaluate_cases
from evolve.evaluation.checks import Fault, check_evaluation, encode_artifacts, printable, shorten
from evolve.evaluation.device_allocator import Allocate, Allocation, allocate_nothing
from evolve.evaluation.job import Job, Report
from evolve.evaluation.task_code import Raised, TaskCodeError, attempt
from evolve.sandbox.session import OUTCOME
from evolve.sandbox.status import SessionFailed
from evolve.types import (
    Case,
    Evaluation,
    EvolveError,
    Needs,
    Outcome,
    Parameters,
    Program,
    Stage,
    Task,
    TaskError,
    TextId,
    Trial,
    UnusableFitness,
    text_id,
)
from evolve.types.errors import did_you_mean

if TYPE_CHECKING:  # importing the protocols imports numpy, which a task's own Python may lack
    from evolve.protocols import Evaluator

_LOG_SHOWN = 2000
_PROVOKED = (MemoryError, RecursionError, OverflowError, UnicodeError)
"""What an evaluator raises that does not look at an answer before it computes with it."""
_REMEDY = ". Try: look at the type, the length or shape, and the size of what a program answers before anything is computed with it"


@dataclass(frozen=True, slots=True)
class Bench:
    """A task with its evaluator, and what every evaluation made here has in common. `isolation` and `environment` are one
    line each. Made once per worker by `prepare`."""

    task: Task
    stages: Sequence[tuple[Stage, Callable[[Any, Trial], Evaluation]]]
    functions: Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]
    isolation: str
    environment: str
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True)
class _CascadeResult:
    """An evaluation whose artifacts are still data and whose feedback is still text."""

    evaluation: Evaluation
    cpu_seconds: float = 0.0
    drawing: str = ""
    waited: float = 0.0
    allocation: Allocation = field(default_factory=Allocation)


def prepare(
    task: Task,
    evaluator: "Evaluator",
    isolation: str = "",
    environment: str = "",
    clock: Callable[[], float] = time.monotonic,
) -> Bench:
    """Asks the evaluator for its stages and functions once; raises `TaskError` for a cascade that cannot run."""
    stages = tuple((_with_default_needs(task, stage), function) for stage, function in evaluator.stages(task))
    if not stages:
        raise TaskError(f"the evaluator of task {task.name!r} has no stage. Try: return one from stages()")
    last = stages[-1][0]
    if last.threshold is not None or last.top is not None:
        shown = f"the top {last.top:.3g}" if last.threshold is None else f"{last.threshold:g}"
        raise TaskError(
            f"stage {last.name!r} is the last, and nothing reads its threshold, {shown}. Try: remove it, or add a stage"
        )
    return Bench(task, stages, evaluator.functions(task), isolation, environment, clock)


def _with_default_needs(task: Task, stage: Stage) -> Stage:
    """A stage of which neither the task's file nor the evaluator says what it needs, needs the GPUs that the task grants: who grants some means to use them."""
    if stage.needs != Needs() or stage.name in {declared.name for declared in task.stages}:
        return stage
    return replace(stage, needs=Needs(gpus=task.limits.grants.gpu))


def evaluate_job(
    job: Job,
    bench: Bench,
    open_session: OpenSession,
    allocate: Allocate = allocate_nothing,
    neighbour: Callable[[], OpenSession] | None = None,
) -> Report:
    """Runs one job to its end; `allocate` gives each stage its devices right before it runs, and takes them back after; `neighbour` is for `Candidate.beside`. `seconds` is the wall time of the whole job but for what it waited for
    devices; the fitness in the report is maximised."""
    begun = bench.clock()
    # A case overrides single parameters of the task, so that its file says only what differs.
    trial = replace(job.trial, parameters=Parameters({**bench.task.parameters, **job.trial.parameters}))
    if job.kind == "evaluate":
        candidate = partial(Candidate, open_session=open_session, clock=bench.clock, neighbour=neighbour)
        found = _cascade(job, trial, bench, allocate, candidate)
    else:
        found = _compute(job, replace(trial, stage=job.kind), bench)
    return _report(job, bench, found, bench.clock() - begun - found.waited)


def _cascade(
    job: Job, trial: Trial, bench: Bench, allocate: Allocate, candidate_of: Callable[..., Candidate]
) -> _CascadeResult:
    """Stage after stage while each reaches its threshold; `job.stage` runs alone. What an earlier stage has tagged stays tagged."""
    stages = [(stage, function) for stage, function in bench.stages if job.stage in ("", stage.name)]
    if not stages:
        known = did_you_mean(job.stage, [stage.name for stage, _ in bench.stages])
        return _CascadeResult(Evaluation.failed(Outcome.INTERNAL, f"the evaluator has no stage {job.stage!r}.{known}"))
    program, cpu_seconds, waited, passed, tag = Program(job.files), 0.0, 0.0, dict[str, float](), ""
    for stage, function in stages:
        last = stage is stages[-1][0]
        try:
            with allocate(stage) as allocation:
                limit = min(stage.limit, job.limit or stage.limit)
                candidate = candidate_of(program, limit=limit)
                told = replace(trial, stage=stage.name, limit=stage.limit, device=allocation.device)
                found = _run_stage(job, bench.task, function, candidate, told, complete=last)
        except EvolveError as error:  # this machine cannot give what the stage needs
            return _CascadeResult(
                Evaluation.failed(Outcome.INTERNAL, str(error), stage=stage.name), cpu_seconds, waited=waited
            )
        waited += allocation.waited
        # `passed` grows with what the stages before the last one find.
        tag = found.tag or tag
        evaluation = replace(found, stage=stage.name, passed=passed, tag=tag)
        if limit < stage.limit and found.outcome is Outcome.TIMED_OUT:
            evaluation = replace(evaluation, limit=limit)
        # Failed stages count too: what a program costs does not depend on how it ended.
        cpu_seconds += candidate.cpu_seconds
        if evaluation.fitness is not None and not last:
            passed[stage.name] = bench.task.fitness.inside(evaluation.fitness)
            evaluation = evaluation if job.ungated else _apply_thresholds(bench.task, stage, evaluation, job.wanted)
        if evaluation.outcome is not Outcome.OK:
            break
    return _CascadeResult(evaluation, cpu_seconds, waited=waited, allocation=allocation)


def _run_stage(
    job: Job,
    task: Task,
    function: Callable[[Any, Trial], Evaluation],
    candidate: Candidate,
    trial: Trial,
    *,
    complete: bool,
) -> Evaluation:
    """One stage, which is the last where it must be `complete`: then case by case, where the task has cases and the trial is none that is held out."""
    if not complete or not task.cases or trial.split == "held_out":
        return _run(task, function, candidate, trial, complete=complete)

    def evaluate(case: Case) -> Evaluation:
        # Draws of its own: noise that all cases have in common would look like a difference between programs.
        told = replace(
            trial,
            seed=int.from_bytes(draw(trial.seed, case.name)[:4]) >> 1,
            case=case.name,
            parameters=Parameters({**trial.parameters, **case.parameters}),
        )
        return _run(task, function, candidate, told, complete=False)

    return evaluate_cases(task, job, evaluate)


def _run(
    task: Task, function: Callable[[Any, Trial], Evaluation], candidate: Candidate, trial: Trial, *, complete: bool
) -> Evaluation:
    """One stage; only the last one's evaluation must be `complete`. What escapes from it is the program's failure (`SessionFailed`) or
    the evaluator's (anything else)."""
    answer = attempt(lambda: check_evaluation(function(candidate, trial), task, complete=complete))
    if not isinstance(answer, Raised):
        return answer
    if isinstance(answer.error, SessionFailed):
        failure = answer.error
        return Evaluation.failed(OUTCOME[failure.status], _append_log(failure.message, candidate.log))
    return _report_error(answer)


def _report_error(raised: Raised) -> Evaluation:
    """Returns the evaluation of an error that the evaluator raised. A fitness that is not finite is the program's failure; a sandbox that does not start has its own message."""
    if isinstance(raised.error, UnusableFitness):
        return Evaluation.invalid(f"the fitness is {raised.error.fitness}, not a finite number")
    if isinstance(raised.error, Fault):
        return raised.error.evaluation
    if isinstance(raised.error, TaskCodeError):
        return _report_evaluator_error(raised.error.said, raised.error.raised)
    if isinstance(raised.error, EvolveError):
        return Evaluation.failed(Outcome.INTERNAL, str(raised.error))
    return _report_evaluator_error(f"the evaluator raised {raised.line}", raised)


def _report_evaluator_error(said: str, raised: Raised) -> Evaluation:
    """A failure of the task's own code, with its traceback."""
    remedy = _REMEDY if isinstance(raised.error, _PROVOKED) else ""
    return Evaluation.failed(Outcome.INTERNAL, f"{said}{remedy}\n\n{raised.trace}")


def _append_log(message: str, log: str) -> str:
    tail = log[-_LOG_SHOWN:].strip()
    return f"{message}\n\nThe program's last output:\n{tail}" if tail else message


def _apply_thresholds(task: Task, stage: Stage, evaluation: Evaluation, relative: Mapping[str, float]) -> Evaluation:
    """Returns the evaluation for the next stage: below a threshold, it has no fitness and goes no further."""
    assert evaluation.fitness is not None, "a failure is not asked for its fitness"
    wanted = [] if stage.threshold is None else [task.fitness.inside(stage.threshold)]
    wanted += [relative[stage.name]] if stage.name in relative else []
    if not wanted or task.fitness.inside(evaluation.fitness) >= max(wanted):
        return evaluation
    least, bound = "at least" if task.fitness.direction == "max" else "at most", task.fitness.shown(max(wanted))
    line = f"stage {stage.name!r} found a {task.fitness.name} of {evaluation.fitness:.6g}; the next stage wants {least} {bound:.6g}"
    if stage.top is not None and relative.get(stage.name) == max(wanted):
        line += f", the top {stage.top:.0%} of what it found before"
    feedback = f"{line}\n\n{evaluation.feedback}".strip()
    return replace(evaluation, outcome=Outcome.BELOW_THRESHOLD, fitness=None, standard_error=None, feedback=feedback)


def _compute(job: Job, trial: Trial, bench: Bench) -> _CascadeResult:
    """Runs the evaluator's function of a job on an evaluation's artifacts, without the program."""
    if job.kind not in bench.functions:
        message = f"the evaluator cannot {job.kind}. Try: mark a function with @evaluate.{job.kind}"
        return _CascadeResult(Evaluation.failed(Outcome.INTERNAL, message))
    artifacts = {name: json.loads(text) for name, text in job.artifacts.items()}
    if job.kind == "certify":
        return _CascadeResult(_certify(artifacts, trial, bench))
    answer = _call_for_text(job.kind, artifacts, trial, bench)
    if isinstance(answer, Evaluation):
        return _CascadeResult(answer)
    # Nothing was evaluated, and an OK would need a fitness: the answer stands beside a SCREENED evaluation.
    screened = Evaluation.failed(Outcome.SCREENED, f"{job.kind}: nothing was evaluated")
    if job.kind == "draw":
        return _CascadeResult(screened, drawing=answer)
    return _CascadeResult(replace(screened, fingerprint=answer))


def _certify(artifacts: Mapping[str, Any], trial: Trial, bench: Bench) -> Evaluation:
    """Returns the exact value as an evaluation, with the name of its basin where the evaluator can tell."""
    evaluation = attempt(
        lambda: check_evaluation(bench.functions["certify"](artifacts, trial), bench.task, complete=False)
    )
    if isinstance(evaluation, Raised):
        return _report_error(evaluation)
    if evaluation.outcome is not Outcome.OK:
        return evaluation
    # A certificate is the evaluator's own proof; a claim of the program's proves nothing.
    if evaluation.trust == "claimed":
        return Evaluation.failed(
            Outcome.INTERNAL, "the evaluator certified what is claimed. Try: compute the exact value in `certify`"
        )
    name = _call_for_text("fingerprint", artifacts, trial, bench) if "fingerprint" in bench.functions else ""
    return (
        name
        if isinstance(name, Evaluation)
        else replace(evaluation, certified=True, fingerprint=name or evaluation.fingerprint)
    )


def _call_for_text(function: str, artifacts: Mapping[str, Any], trial: Trial, bench: Bench) -> str | Evaluation:
    """Returns the text that a function of the evaluator answers, or its failure."""
    answer = attempt(lambda: bench.functions[function](artifacts, trial))
    if isinstance(answer, Raised):
        return _report_error(answer)
    if not isinstance(answer, str):
        message = f"the evaluator's {function} returned a {type(answer).__name__}, wanted a text"
        return Evaluation.failed(Outcome.INTERNAL, message)
    return printable(answer)


def _report(job: Job, bench: Bench, found: _CascadeResult, seconds: float) -> Report:
    """The evaluation with ids for its texts, its fitness and objectives maximised, and with the circumstances in which it was made."""
    evaluation, limits = found.evaluation, bench.task.limits
    # Artifacts are the task's objects, whose methods may raise anything while they are encoded.
    texts = attempt(lambda: encode_artifacts(evaluation.artifacts, limits.artifacts))
    if isinstance(texts, Raised):
        evaluation, texts = replace(_report_error(texts), stage=evaluation.stage), {}
    feedback = shorten(printable(evaluation.feedback), limits.feedback)
    told = replace(
        evaluation,
        fitness=None if evaluation.fitness is None else bench.task.fitness.inside(evaluation.fitness),
        objectives=_maximise_objectives(bench.task, evaluation),
        cases={name: bench.task.fitness.inside(value) for name, value in evaluation.cases.items()},
        feedback=text_id(feedback) if feedback else "",
        artifacts={name: text_id(text) for name, text in texts.items()},
        stage=evaluation.stage or job.kind,
        seconds=seconds,
        cpu_seconds=found.cpu_seconds,
        device=found.allocation.device,
        isolation=bench.isolation,
        environment="; ".join(filter(None, [bench.environment, found.allocation.conditions])),
    )
    stored: dict[TextId, str] = {text_id(text): text for text in texts.values()}
    if feedback:
        stored[text_id(feedback)] = feedback
    return Report(told, stored, found.drawing)


def _maximise_objectives(task: Task, evaluation: Evaluation) -> dict[str, float]:
    """A success's objectives in the order of the task; a failure has none."""
    given = evaluation.objectives if evaluation.outcome is Outcome.OK else {}
    return {each.name: each.inside(given[each.name]) for each in task.objectives if each.name in given}
