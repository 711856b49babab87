"""The module of a task's folder that knows the problem: it makes instances, and says what an answer is worth.

Whatever the module gives is checked here once; what it breaks of the contract is an error that names the function."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve import Candidate, Evaluation, TaskModule, Trial, task_module
from evolve.types import Parameters, Task
from evolve_benchmark.settings import BenchmarkSettings
from evolve_benchmark.sharing import ARRAY_TYPES, Room

Number: TypeAlias = Fraction | float
Arguments: TypeAlias = tuple[Any, ...]
ROWS = 10
"""Rows of a table in the feedback."""
REQUIRED = {
    "instances": "(rng, parameters)",
    "check": "(instance, answer)",
}
OPTIONAL = {
    "value": "(instance, answer)",
    "reference": "(instance)",
    "trivial": "(instance)",
    "agree": "(instance, one, other)",
    "arguments": "(instance)",
    "warm_up": "(rng, parameters)",
    "label": "(instance)",
    "objectives": "(instance, answer)",
    "metrics": "(measured)",
    "room": "(instance)",
}
VALUED = ("value", "reference")
"""Functions that a module needs as well where answers are better or worse."""
ONE_KIND = ""
"""The kind of instances that come as a sequence and have no kinds."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One of a problem's instances with its kind; `given` is what the module made, and belongs to the module."""

    kind: str
    given: Any


class BenchmarkProblem:
    """Functions of a module, called and checked."""

    def __init__(self, module: TaskModule) -> None:
        self._module = module

    def instances(self, rng: Generator, parameters: Parameters) -> list[Instance]:
        """Returns all instances, kind after kind, in the module's order."""
        made = self._module.call("instances", rng, parameters)
        kinds = made if isinstance(made, Mapping) else {ONE_KIND: made}
        if not kinds or not all(isinstance(some, Sequence) and len(some) for some in kinds.values()):
            raise self._module.broken(
                "instances", made, "a sequence of instances, or one for each kind, none of them empty"
            )
        return [Instance(str(kind), given) for kind, some in kinds.items() for given in some]

    def warm_up(self, rng: Generator, parameters: Parameters) -> Instance:
        """Returns an instance that does not count: of `warm_up`, or the first of other instances."""
        if self._module.has("warm_up"):
            return Instance(ONE_KIND, self._module.call("warm_up", rng, parameters))
        return self.instances(rng, parameters)[0]

    def arguments(self, instance: Instance) -> Arguments:
        """Returns the arguments of the program's function: the instance itself, unless the module says otherwise."""
        if not self._module.has("arguments"):
            return (instance.given,)
        arguments = self._module.call("arguments", instance.given)
        if not isinstance(arguments, tuple):
            raise self._module.broken(
                "arguments", arguments, "a tuple, with one entry for each argument of the program"
            )
        return arguments

    def shared_arguments(self, instance: Instance) -> Arguments:
        """Returns the room for an answer, and the arrays that the program's function gets beside it."""
        made = self._module.call("room", instance.given)
        match made:
            case [[*shape], str(dtype)] if dtype in ARRAY_TYPES and all(
                type(each) is int and each >= 0 for each in shape
            ):
                room = Room(tuple(shape), dtype)
            case _:
                raise self._module.broken(
                    "room",
                    made,
                    f"shape and type of an answer, such as ((8, 8), 'float32'); types are {', '.join(ARRAY_TYPES)}",
                )
        arrays = self.arguments(instance)
        if not all(isinstance(one, np.ndarray) and one.dtype.name in ARRAY_TYPES for one in arrays):
            raise self._module.broken("arguments", arrays, "arrays alone, where they are shared with the program")
        return (room, *arrays)

    def fault(self, instance: Instance, answer: Any) -> str:
        """Returns in a sentence why an answer is none; empty for one that is."""
        said = self._module.call("check", instance.given, answer)
        if not isinstance(said, str):
            raise self._module.broken("check", said, 'a text: what is wrong with the answer, "" where nothing is')
        return said

    def value(self, instance: Instance, answer: Any) -> Number:
        """Returns the value of an answer that was checked."""
        return _positive(self._module, "value", self._module.call("value", instance.given, answer))

    def reference(self, instance: Instance) -> Number:
        """Returns the value that answers are compared with."""
        return _positive(self._module, "reference", self._module.call("reference", instance.given))

    def trivial(self, instance: Instance) -> Any:
        """Returns the answer that a late one counts as; raises `TaskError` where it is not one itself."""
        answer = self._module.call("trivial", instance.given)
        if fault := self.fault(instance, answer):
            raise self._module.broken("trivial", answer, f"an answer that passes check(), which says: {fault}")
        return answer

    def agree(self, instance: Instance, one: Any, other: Any) -> bool:
        """Returns whether two answers that were checked say the same: by `agree`, or as plain data with what rounding may do to its numbers."""
        if not self._module.has("agree"):
            return are_alike(one, other)
        said = self._module.call("agree", instance.given, one, other)
        if not isinstance(said, bool):
            raise self._module.broken("agree", said, "True or False")
        return said

    def label(self, instance: Instance) -> str:
        """Returns a few words about an instance, for a table."""
        return str(self._module.call("label", instance.given)) if self._module.has("label") else ""

    def mean_objectives(self, answers: Sequence[tuple[Any, Any]]) -> dict[str, float]:
        """Returns each objective as its mean over pairs of an instance of the module's and the answer to it."""
        each = [self.numbers("objectives", *one) for one in answers]
        return {name: math.fsum(float(one[name]) for one in each) / len(each) for name in each[0]}

    def numbers(self, function: str, *arguments: Any) -> dict[str, Any]:
        """Returns the numbers of `objectives` or `metrics` by name; none where the module has no such function."""
        if not self._module.has(function):
            return {}
        numbers = self._module.call(function, *arguments)
        if not isinstance(numbers, Mapping):
            raise self._module.broken(function, numbers, "a mapping of names to numbers")
        return dict(numbers)


def _positive(module: TaskModule, function: str, given: object) -> Number:
    """Returns a number above 0 and below infinity, exact where the module's is."""
    number = _exact(given)
    if not 0 < number < math.inf:
        raise module.broken(function, given, "a finite number above 0")
    return number


def _exact(given: object) -> Number:
    """Returns a number as a fraction where it is a rational one, else as a float; NaN for what is no number."""
    if isinstance(given, bool):
        return math.nan
    if isinstance(given, Rational):
        return Fraction(int(given.numerator), int(given.denominator))
    return float(given) if isinstance(given, Real) else math.nan


def load(folder: Path, file: str, needed: Sequence[str] = VALUED) -> BenchmarkProblem:
    """Returns the problem in a file of a task's folder; raises `TaskError` where it lacks a function, one of those that every module has or one that is `needed`."""
    required = {**REQUIRED, **{function: OPTIONAL[function] for function in needed}}
    return BenchmarkProblem(task_module(folder, file, required, OPTIONAL))


EPSILON = math.sqrt(float(np.finfo(np.float64).eps))
"""Relative difference of two floats that say the same: half of the digits. Of an array the largest number counts."""


def are_alike(one: Any, other: Any) -> bool:
    """Returns whether two values as they arrive from programs are the same but for rounding. They may not have been checked: nothing that they hold is executed, or raises."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return _are_arrays_alike(one, other)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(are_alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(are_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=EPSILON) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def _are_arrays_alike(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    # Differences of half precision overflow in half precision.
    ours, theirs = one[finite].astype(np.longdouble), other[finite].astype(np.longdouble)
    largest = float(np.abs(ours).max(initial=0.0))
    return bool(np.abs(ours - theirs).max(initial=0.0) <= math.sqrt(float(np.finfo(one.dtype).eps)) * largest)


INSTANCES, ORDER, FIRST, AGAIN = range(4)
"""Purposes of a trial's random numbers."""


class RefusedAnswer(Exception):
    """An answer that makes the program `evaluation`."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(evaluation.feedback)
        self.evaluation = evaluation


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """Problem, program and trial of one evaluation in any mode. Without `chance` equal trials draw the same; each purpose has a stream of its own."""

    problem: BenchmarkProblem
    settings: BenchmarkSettings
    task: Task
    candidate: Candidate
    trial: Trial
    chance: int = 0

    def stream(self, purpose: int) -> Generator:
        """Returns random numbers of the evaluator's own."""
        return np.random.default_rng(self.trial.entropy(purpose, *([self.chance] if self.chance else [])))

    def fault(self, instance: Instance, answer: Any) -> str:
        """Returns what is wrong with an answer, with the name of its instance; empty where nothing is."""
        fault, name = self.problem.fault(instance, answer), self.name(instance)
        return f"{self.settings.function}(): {fault}{f' ({name})' if name else ''}" if fault else ""

    def name(self, instance: Instance) -> str:
        """Returns kind and label of an instance."""
        return " ".join(part for part in (instance.kind, self.problem.label(instance)) if part)

    def descriptors(self, worst: float) -> dict[str, float]:
        """Returns the descriptors of every mode."""
        size = sum(len(text.encode()) for text in self.candidate.program.files.values())
        return {"worst": worst, "log2_bytes": math.log2(max(1, size))}
