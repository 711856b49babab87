"""Cases of a task: the last stage evaluates each by itself, and their weighted mean is the fitness.

Cases are paired with those of the program's parent. A program goes no further where it is no better on the cases of its job's gate, or where
what is known says that it is worse over all of them (a race: as in F-Race, Birattari et al. 2002, https://dl.acm.org/doi/10.5555/2955491.2955494)."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from evolve.evaluation.checks import check_evaluation
from evolve.evaluation.job import Job
from evolve.types import Case, Evaluation, Outcome, Task, Trust

FEW = 4
"""Cases after which a race may end."""
SURE = 3.0
"""Standard errors by which a program that is stopped is worse than its parent, on the mean over the cases so far."""


@dataclass(frozen=True, slots=True)
class CaseSuccess:
    """A success on one case."""

    case: Case
    evaluation: Evaluation


def evaluate_cases(task: Task, job: Job, evaluate: Callable[[Case], Evaluation]) -> Evaluation:
    """Evaluates case after case until one fails, the program is stopped, or none is left; returns one evaluation with what was found on each."""
    results: list[CaseSuccess] = []
    for case in _order(task.cases, job):
        found = evaluate(case)
        if found.outcome is Outcome.OK and found.cases:
            found = Evaluation.failed(
                Outcome.INTERNAL,
                "the evaluator returned cases of its own, and the task declares its cases. Try: return the fitness of trial.case alone",
            )
        if found.outcome is not Outcome.OK:
            told = f"Case {case.name!r}: {found.feedback}"
            return replace(found, feedback=told, cases=_scores(results))
        results.append(CaseSuccess(case, found))
        reason = _find_reason_to_stop(task, job, results)
        if reason:
            feedback = f"{reason}\n\n{_join_feedback(results)}".strip()
            return Evaluation.failed(Outcome.BELOW_THRESHOLD, feedback, cases=_scores(results))
    return check_evaluation(_combine(results), task)


def _order(cases: Sequence[Case], job: Job) -> list[Case]:
    """Returns the cases of the gate first, then the others; each program has an order of its own, so that no case decides for all."""
    return sorted(cases, key=lambda case: (case.name not in job.gate, draw(job.id, case.name)))


def draw(key: object, case: str) -> bytes:
    """Returns bytes that follow from a key and the name of a case, and that no other pair has."""
    return hashlib.sha256(f"{key}/{case}".encode()).digest()


def _find_reason_to_stop(task: Task, job: Job, results: Sequence[CaseSuccess]) -> str:
    known = [one for one in results if one.case.name in job.rival]
    if not known or len(results) == len(task.cases):
        return ""
    gains = [_gain(task, job.rival, one) for one in known]
    weights = [one.case.weight for one in known]
    mean, error = _mean_and_error(gains, weights)
    where = f"{len(results)} of {len(task.cases)} cases"
    if len(results) == len(job.gate) and mean <= 0:
        return f"stopped after {where}: no better than its parent on those that it had to improve"
    if len(known) >= FEW and mean + SURE * error < 0:
        return f"stopped after {where}: worse than its parent by {-mean:.4g} on the mean, with a standard error of {error:.2g}"
    return ""


def _gain(task: Task, rival: Mapping[str, float], result: CaseSuccess) -> float:
    assert result.evaluation.fitness is not None, "a success has a fitness"
    return task.fitness.inside(result.evaluation.fitness) - rival[result.case.name]


def _mean_and_error(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """Returns the weighted mean and its standard error; infinite for one value."""
    mean, count = _average(values, weights), len(values)
    if count < 2:
        return mean, math.inf
    spread = math.fsum((weight * (value - mean)) ** 2 for weight, value in zip(weights, values, strict=True))
    return mean, math.sqrt(spread * count / (count - 1)) / math.fsum(weights)


def _scores(results: Sequence[CaseSuccess]) -> dict[str, float]:
    return {one.case.name: one.evaluation.fitness for one in results if one.evaluation.fitness is not None}


def _join_feedback(results: Sequence[CaseSuccess]) -> str:
    return "\n\n".join(
        f"Case {one.case.name!r}: {one.evaluation.feedback}" for one in results if one.evaluation.feedback
    )


def _combine(results: Sequence[CaseSuccess]) -> Evaluation:
    """Returns the weighted means of the numbers that all cases have; artifacts are named after their cases."""
    found = [one.evaluation for one in results]
    weights = [one.case.weight for one in results]
    trusts = get_args(Trust)
    return Evaluation.ok(
        _average([one.fitness or 0.0 for one in found], weights),
        objectives=_average_by_name([one.objectives for one in found], weights),
        descriptors=_average_by_name([one.descriptors for one in found], weights),
        metrics=_average_by_name([one.metrics for one in found], weights),
        cases=_scores(results),
        artifacts={
            f"{one.case.name}/{name}": data for one in results for name, data in one.evaluation.artifacts.items()
        },
        feedback=_join_feedback(results),
        standard_error=_error_of_mean([one.standard_error for one in found], weights),
        tag=next((one.tag for one in found if one.tag), ""),
        trust=max((one.trust for one in found), key=trusts.index),
    )


def _error_of_mean(errors: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Returns the standard error of the weighted mean; None where that of a case is not known."""
    known = [weight * error for weight, error in zip(weights, errors, strict=True) if error is not None]
    return math.hypot(*known) / math.fsum(weights) if len(known) == len(errors) else None


def _average(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(weight * value for weight, value in zip(weights, values, strict=True)) / math.fsum(weights)


def _average_by_name(tables: Sequence[Mapping[str, float]], weights: Sequence[float]) -> dict[str, float]:
    names = [name for name in tables[0] if all(name in table for table in tables)]
    return {name: _average([table[name] for table in tables], weights) for name in names}
