"""Checks of an evaluator's answer, before it may enter the log.

Invariant: every number that passes is a finite `float`; a bool, a complex number or a text never counts as one."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, get_args

from evolve.types import Evaluation, Outcome, Task, Trust

LARGEST = 1e100
"""Largest number of an evaluation: sums and squares of such numbers are finite, here and wherever the log is read."""
TAG = 80
"""Characters of a tag that are kept, on one line."""


class Fault(Exception):
    """Reason to reject an evaluation: INVALID where the program's numbers are not finite, INTERNAL where the evaluator broke
    its contract."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.evaluation = Evaluation.failed(outcome, message)


def check_evaluation(answer: Any, task: Task, *, complete: bool = True) -> Evaluation:
    """`answer` with plain finite floats for numbers and the violation of the task's constraints, or the failure that it is.
    `complete`: an OK evaluation has a descriptor for each axis, a number for each objective and a metric for each constraint."""
    try:
        return _check_evaluation(answer, task, complete)
    except Fault as fault:
        return fault.evaluation


def _check_evaluation(answer: Any, task: Task, complete: bool) -> Evaluation:
    if not isinstance(answer, Evaluation):
        raise Fault(
            Outcome.INTERNAL,
            f"the evaluator returned a {type(answer).__name__}, wanted an Evaluation. Try: return Evaluation.ok(...), .wrong(...) or .invalid(...)",
        )
    if not isinstance(answer.feedback, str):
        raise Fault(Outcome.INTERNAL, f"the evaluator's feedback is a {type(answer.feedback).__name__}, wanted a text")
    if not isinstance(answer.tag, str):
        raise Fault(Outcome.INTERNAL, f"the evaluator's tag is a {type(answer.tag).__name__}, wanted a text")
    if answer.trust not in get_args(Trust):
        known = ", ".join(map(repr, get_args(Trust)))
        raise Fault(Outcome.INTERNAL, f"the evaluator's trust is {answer.trust!r:.80}. Try: use one of {known}")
    error = answer.standard_error
    plain = replace(
        answer,
        fitness=None if answer.fitness is None else number("fitness", answer.fitness),
        standard_error=None if error is None else number("standard error", error),
        descriptors=_numbers("descriptor", answer.descriptors),
        metrics=_numbers("metric", answer.metrics),
        cases=_numbers("case", answer.cases),
        objectives=_objectives(answer, task),
        violation=0.0,  # computed below from the metrics, whatever the evaluator wrote here
        tag=" ".join(printable(answer.tag).split())[:TAG],
    )
    return _complete_evaluation(plain, task) if complete and answer.outcome is Outcome.OK else plain


def _objectives(answer: Evaluation, task: Task) -> dict[str, float]:
    objectives = _numbers("objective", answer.objectives)
    declared = [objective.name for objective in task.objectives]
    for name in objectives:
        if name not in declared:
            raise Fault(
                Outcome.INTERNAL,
                f"the evaluator returned an objective {name!r}, which the task does not declare; it has {', '.join(declared) or 'none'}. "
                "Try: declare it in task.toml, as a table of [[objectives]], or return it as a metric",
            )
    return objectives


def _complete_evaluation(evaluation: Evaluation, task: Task) -> Evaluation:
    """A success that has all that the task asks for, with how far it misses the constraints: the worker's own sum."""
    _want("descriptor", "axis", [axis.name for axis in task.axes], evaluation.descriptors)
    _want("number", "objective", [objective.name for objective in task.objectives], evaluation.objectives)
    _want("metric", "constraint on", [constraint.metric for constraint in task.constraints], evaluation.metrics)
    missed = [constraint.violation(evaluation.metrics[constraint.metric]) for constraint in task.constraints]
    return replace(evaluation, violation=number("violation of the constraints", math.fsum(missed)))


def _want(what: str, kind: str, names: Sequence[str], given: Mapping[str, float]) -> None:
    missing = [name for name in names if name not in given]
    if missing:
        got = ", ".join(given) or "none"
        raise Fault(Outcome.INVALID, f"no {what} for the task's {kind} {missing[0]!r}; the evaluation has {got}")


def _numbers(what: str, values: Mapping[str, Any]) -> dict[str, float]:
    if not isinstance(values, Mapping):
        raise Fault(
            Outcome.INTERNAL,
            f"the evaluator's {what}s are a {type(values).__name__}, wanted a mapping of names to numbers",
        )
    return {str(name): number(f"{what} {name!r}", value) for name, value in values.items()}


def number(what: str, value: Any) -> float:
    """`value` as a float of at most `LARGEST`; raises `Fault`. numpy's scalars are numbers; a bool is not."""
    # A bool is a Real in Python, but an evaluator that returns one has mixed up a verdict and a score.
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Fault(
            Outcome.INTERNAL, f"the evaluator's {what} is a {type(value).__name__}, {value!r:.80}, wanted a number"
        )
    try:
        plain = float(value)
    except OverflowError:
        raise Fault(Outcome.INVALID, f"the {what} is too large for a floating-point number") from None
    if not math.isfinite(plain):
        raise Fault(Outcome.INVALID, f"the {what} is {plain}, not a finite number")
    if abs(plain) > LARGEST:
        raise Fault(Outcome.INVALID, f"the {what} is {plain:.3g}, and numbers of an evaluation are {LARGEST:g} at most")
    return plain


def encode_artifacts(artifacts: Mapping[str, Any], limit: int) -> dict[str, str]:
    """Each artifact as canonical JSON; raises `Fault` where they are more than `limit` bytes together, as `encode_artifact` does."""
    texts = {name: encode_artifact(name, artifact) for name, artifact in artifacts.items()}
    sizes = {name: len(text.encode()) for name, text in texts.items()}
    if sum(sizes.values()) > limit:
        largest = max(sizes, key=sizes.__getitem__)
        raise Fault(
            Outcome.INTERNAL,
            f"the evaluator's artifacts are {sum(sizes.values()):,} bytes as JSON, the largest is {largest!r}, and {limit:,} are kept at most. "
            "Try: keep less of each program, or raise sandbox.artifacts in task.toml",
        )
    return texts


def shorten(feedback: str, limit: int) -> str:
    """Feedback of at most `limit` bytes, with a note of how much was cut from its end."""
    whole = feedback.encode()
    if len(whole) <= limit:
        return feedback
    return f"{whole[:limit].decode(errors='ignore')}\n\n({len(whole) - limit:,} more bytes of feedback were cut)"


def encode_artifact(name: str, artifact: Any) -> str:
    """An artifact as canonical JSON; arrays and tuples become lists. Raises `Fault` for what is no finite plain data."""
    try:
        text = json.dumps(
            artifact, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_to_plain_data
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(
            Outcome.INTERNAL,
            f"the evaluator's artifact {name!r} cannot be stored: {error}. Try: return plain data with finite numbers",
        ) from error
    return printable(text)


def _to_plain_data(value: Any) -> Any:
    """A numpy array or scalar as lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is no plain data")


def printable(text: str) -> str:
    """`text` with `?` for halves of surrogate pairs, which no UTF-8 file can hold."""
    # Such a text would fail where the log is written, when it is nobody's any more.
    return text.encode("utf-8", "replace").decode("utf-8")
