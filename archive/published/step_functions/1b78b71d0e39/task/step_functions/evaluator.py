"""Judges a construction: the candidate gives a step function, the judge repairs it, computes its ratio, and proves it.

Invariant: nothing that a candidate says is believed but its steps; what was carried is checked like an answer before it is handed on."""

from collections.abc import Mapping
from typing import Any

import account
import exact
import plot
import steps

from evolve import Candidate, Evaluation, EvolveError, Outcome, Trial, evaluator

ALLOWANCE = 2.0
"""A program may use so many times the processor time that it was told, since it must look at a clock to know."""


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The ratio in floating point, about 1e-14 from the exact value."""
    kind, count, limit = _asked(trial)
    start = _start(trial, kind, count)
    answer = candidate.call(
        "construct", kind, count, limit, trial.seed, None if start is None else list(start), seconds=5.0 + 4.0 * limit
    )
    if candidate.cpu_seconds > ALLOWANCE * limit:
        return Evaluation.failed(
            Outcome.TIMED_OUT,
            f"construct() used {candidate.cpu_seconds:.2f} s of processor time; its limit is {limit:g} s",
        )
    try:
        found = steps.steps_from(answer, kind, count)
    except ValueError as error:
        return Evaluation.invalid(str(error))
    return _evaluation(kind, found, start)


def _asked(trial: Trial) -> tuple[str, int, float]:
    """Kind, number of steps and seconds of processor time; raises `EvolveError` for parameters that nothing can be built for."""
    kind, count, limit = trial.parameters.kind, trial.parameters.n, trial.parameters.limit
    if kind not in exact.KINDS:
        raise EvolveError(f"there is no kind {kind!r}. Do: --set task.kind= one of {', '.join(exact.KINDS)}")
    if type(count) is not int or count < 1:
        raise EvolveError(f"n is {count!r}, wanted a number of steps. Do: --set task.n=256")
    if not limit > 0.0:
        raise EvolveError(f"limit is {limit!r}, wanted seconds of processor time. Do: --set task.limit=0.5")
    return kind, count, float(limit)


def _start(trial: Trial, kind: str, count: int) -> steps.Steps | None:
    """The parent's construction, where there is one and it is of this kind and size."""
    carried = trial.carried("steps")
    if carried is None:
        return None
    try:
        return steps.steps_from(carried, kind, count)
    except ValueError:
        return None


def _evaluation(kind: str, found: steps.Steps, start: steps.Steps | None) -> Evaluation:
    knots, ratio = steps.knots(kind, found), steps.ratio(kind, found)
    if beyond(kind, ratio):
        return _fault(kind, ratio)
    metrics = {"ratio": ratio, "active_knots": steps.active(knots)}
    if start is not None:
        metrics["carried"] = steps.ratio(kind, start)
        metrics["gain"] = steps.score(kind, ratio) - steps.score(kind, metrics["carried"])
    return Evaluation.ok(
        fitness=steps.score(kind, ratio),
        descriptors={"zeros": steps.zeros(found), "asymmetry": steps.asymmetry(found)},
        metrics=metrics,
        artifacts={"steps": found},
        feedback=account.account(kind, found, start),
    )


def beyond(kind: str, ratio: Any) -> bool:
    """Whether a ratio of a minimised kind is below what is proven; the engine looks at `bound` in `task.toml` for c2."""
    return kind in exact.BOUNDS and ratio < exact.BOUNDS[kind]


def _fault(kind: str, ratio: float) -> Evaluation:
    bound = float(exact.BOUNDS[kind])
    return Evaluation.failed(
        Outcome.INTERNAL,
        f"a {kind} of {ratio!r} is below the proven bound {bound!r}, so that the evaluator is at fault",
    )


@evaluate.certify
def certify(artifacts: Mapping[str, Any], trial: Trial) -> Evaluation:
    """The exact ratio, rounded to the worse side."""
    kind, _, _ = _asked(trial)
    try:
        proof = exact.certificate(kind, artifacts["steps"])
        value = exact.proven(proof, trial.parameters)
    except ValueError as error:
        return Evaluation.invalid(str(error))
    if beyond(kind, abs(value)):
        return _fault(kind, float(abs(value)))
    return Evaluation.ok(fitness=exact.rounded_down(value), artifacts={"certificate": proof})


@evaluate.fingerprint
def fingerprint(artifacts: Mapping[str, Any], trial: Trial) -> str:
    """The outline of the function: a polished copy has the same one."""
    kind, _, _ = _asked(trial)
    return steps.fingerprint(kind, artifacts["steps"])


@evaluate.draw
def draw(artifacts: Mapping[str, Any], trial: Trial) -> str:
    """The steps, and below them the autoconvolution."""
    kind, _, _ = _asked(trial)
    return plot.svg(kind, artifacts["steps"])
