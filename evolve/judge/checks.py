"""Whether what an evaluator returned is an evaluation that may enter the log.

Invariant: every number that passes is a finite `float`; a bool, a complex number or a text never counts as one."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

from evolve.types import Evaluation, Outcome, Task


class Fault(Exception):
    """Why an evaluation cannot stand: INVALID where the program's numbers are not finite, INTERNAL where the evaluator broke
    its contract."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.evaluation = Evaluation.failed(outcome, message)


def checked(answer: Any, task: Task, *, wants_axes: bool = True) -> Evaluation:
    """`answer` with plain finite floats for numbers, or the failure that it is. `wants_axes`: an OK evaluation has a
    descriptor for each of the task's axes."""
    try:
        return _checked(answer, task, wants_axes)
    except Fault as fault:
        return fault.evaluation


def _checked(answer: Any, task: Task, wants_axes: bool) -> Evaluation:
    if not isinstance(answer, Evaluation):
        raise Fault(
            Outcome.INTERNAL,
            f"the evaluator returned a {type(answer).__name__}, wanted an Evaluation. Do: return Evaluation.ok(...), .wrong(...) or .invalid(...)",
        )
    if not isinstance(answer.feedback, str):
        raise Fault(Outcome.INTERNAL, f"the evaluator's feedback is a {type(answer.feedback).__name__}, wanted a text")
    descriptors = _numbers("descriptor", answer.descriptors)
    missing = [axis.name for axis in task.axes if axis.name not in descriptors]
    if missing and wants_axes and answer.outcome is Outcome.OK:
        got = ", ".join(descriptors) or "none"
        raise Fault(Outcome.INVALID, f"no descriptor for the task's axis {missing[0]!r}; the evaluation has {got}")
    error = answer.standard_error
    return replace(
        answer,
        fitness=None if answer.fitness is None else number("fitness", answer.fitness),
        standard_error=None if error is None else number("standard error", error),
        descriptors=descriptors,
        metrics=_numbers("metric", answer.metrics),
    )


def _numbers(what: str, values: Mapping[str, Any]) -> dict[str, float]:
    if not isinstance(values, Mapping):
        raise Fault(
            Outcome.INTERNAL,
            f"the evaluator's {what}s are a {type(values).__name__}, wanted a mapping of names to numbers",
        )
    return {str(name): number(f"{what} {name!r}", value) for name, value in values.items()}


def number(what: str, value: Any) -> float:
    """`value` as a finite float; raises `Fault`. numpy's scalars are numbers; a bool is not."""
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
    return plain


def stored_texts(artifacts: Mapping[str, Any], limit: int) -> dict[str, str]:
    """Each artifact as canonical JSON; raises `Fault` where they are more than `limit` bytes together, as `stored_text` does."""
    texts = {name: stored_text(name, artifact) for name, artifact in artifacts.items()}
    sizes = {name: len(text.encode()) for name, text in texts.items()}
    if sum(sizes.values()) > limit:
        largest = max(sizes, key=sizes.__getitem__)
        raise Fault(
            Outcome.INTERNAL,
            f"the evaluator's artifacts are {sum(sizes.values()):,} bytes as JSON, the largest is {largest!r}, and {limit:,} are kept at most. "
            "Do: keep less of each program, or raise sandbox.artifacts in task.toml",
        )
    return texts


def shortened(feedback: str, limit: int) -> str:
    """Feedback of at most `limit` bytes, with a note of how much was cut from its end."""
    whole = feedback.encode()
    if len(whole) <= limit:
        return feedback
    return f"{whole[:limit].decode(errors='ignore')}\n\n({len(whole) - limit:,} more bytes of feedback were cut)"


def stored_text(name: str, artifact: Any) -> str:
    """An artifact as canonical JSON; arrays and tuples become lists. Raises `Fault` for what is no finite plain data."""
    try:
        text = json.dumps(
            artifact, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_listed
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(
            Outcome.INTERNAL,
            f"the evaluator's artifact {name!r} cannot be stored: {error}. Do: return plain data with finite numbers",
        ) from error
    return printable(text)


def _listed(value: Any) -> Any:
    """A numpy array or scalar as lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is no plain data")


def printable(text: str) -> str:
    """`text` with `?` for halves of surrogate pairs, which no UTF-8 file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
