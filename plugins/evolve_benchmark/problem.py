"""The module of a task's folder that knows the problem: it makes instances, and says what an answer is worth.

Invariant: whatever the module gives is looked at here once; what it breaks of the contract is an error that names the function."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from pathlib import Path
from typing import Any, TypeAlias

from numpy.random import Generator

from evolve import TaskModule, task_module
from evolve.types import Parameters
from evolve_benchmark.agreeing import agreeing

Number: TypeAlias = Fraction | float
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
    "grown": "(rng, parameters, times)",
    "label": "(instance)",
    "objectives": "(instance, answer)",
    "metrics": "(measured)",
}
VALUED = ("value", "reference")
"""What a module needs as well where answers are better or worse."""
ONE_KIND = ""
"""The kind of instances that come as a sequence and have no kinds."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One of a problem's instances with its kind; `given` is what the module made, and belongs to the module."""

    kind: str
    given: Any


class Problem:
    """The functions of a module, called and checked."""

    def __init__(self, module: TaskModule) -> None:
        self._module = module

    def instances(self, rng: Generator, parameters: Parameters) -> list[Instance]:
        """All instances, kind after kind, in the module's order."""
        made = self._module.call("instances", rng, parameters)
        kinds = made if isinstance(made, Mapping) else {ONE_KIND: made}
        if not kinds or not all(isinstance(some, Sequence) and len(some) for some in kinds.values()):
            raise self._module.broken(
                "instances", made, "a sequence of instances, or one for each kind, none of them empty"
            )
        return [Instance(str(kind), given) for kind, some in kinds.items() for given in some]

    def warm_up(self, rng: Generator, parameters: Parameters) -> Instance:
        """One that does not count: of `warm_up`, or the first of other instances."""
        if self._module.has("warm_up"):
            return Instance(ONE_KIND, self._module.call("warm_up", rng, parameters))
        return self.instances(rng, parameters)[0]

    def grown(self, rng: Generator, parameters: Parameters, times: int) -> Instance:
        """One of the size from which growth is measured, or `times` as large."""
        return Instance(ONE_KIND, self._module.call("grown", rng, parameters, times))

    def arguments(self, instance: Instance) -> tuple[Any, ...]:
        """What the program's function is called with: the instance itself, unless the module says otherwise."""
        if not self._module.has("arguments"):
            return (instance.given,)
        arguments = self._module.call("arguments", instance.given)
        if not isinstance(arguments, tuple):
            raise self._module.broken(
                "arguments", arguments, "a tuple, with one entry for each argument of the program"
            )
        return arguments

    def fault(self, instance: Instance, answer: Any) -> str:
        """Why an answer is none, in a sentence; empty for one that is."""
        said = self._module.call("check", instance.given, answer)
        if not isinstance(said, str):
            raise self._module.broken("check", said, 'a text: what is wrong with the answer, "" where nothing is')
        return said

    def value(self, instance: Instance, answer: Any) -> Number:
        """What an answer that was checked is worth."""
        return _positive(self._module, "value", self._module.call("value", instance.given, answer))

    def reference(self, instance: Instance) -> Number:
        """The value that answers are compared with."""
        return _positive(self._module, "reference", self._module.call("reference", instance.given))

    def trivial(self, instance: Instance) -> Any:
        """The answer that a late one counts as; raises `TaskError` where it is not one itself."""
        answer = self._module.call("trivial", instance.given)
        if fault := self.fault(instance, answer):
            raise self._module.broken("trivial", answer, f"an answer that passes check(), which says: {fault}")
        return answer

    def agree(self, instance: Instance, one: Any, other: Any) -> bool:
        """Whether two answers that were checked say the same: by `agree`, or as plain data with what rounding may do to its numbers."""
        if not self._module.has("agree"):
            return agreeing(one, other)
        said = self._module.call("agree", instance.given, one, other)
        if not isinstance(said, bool):
            raise self._module.broken("agree", said, "True or False")
        return said

    def label(self, instance: Instance) -> str:
        """A few words about an instance, for a table."""
        return str(self._module.call("label", instance.given)) if self._module.has("label") else ""

    def numbers(self, function: str, *arguments: Any) -> dict[str, Any]:
        """What `objectives` or `metrics` say, by name; nothing where the module has no such function."""
        if not self._module.has(function):
            return {}
        told = self._module.call(function, *arguments)
        if not isinstance(told, Mapping):
            raise self._module.broken(function, told, "a mapping of names to numbers")
        return dict(told)


def _positive(module: TaskModule, function: str, given: object) -> Number:
    """A number above 0 and below infinity, exact where the module's is."""
    number = _exact(given)
    if not 0 < number < math.inf:
        raise module.broken(function, given, "a finite number above 0")
    return number


def _exact(given: object) -> Number:
    """A number as a fraction where it is a rational one, else as a float; NaN for what is no number."""
    if isinstance(given, bool):
        return math.nan
    if isinstance(given, Rational):
        return Fraction(int(given.numerator), int(given.denominator))
    return float(given) if isinstance(given, Real) else math.nan


def load(folder: Path, file: str, needed: Sequence[str] = VALUED) -> Problem:
    """The problem in a file of a task's folder; raises `TaskError` where it lacks a function, one of those that every module has or one that is `needed`."""
    required = {**REQUIRED, **{function: OPTIONAL[function] for function in needed}}
    return Problem(task_module(folder, file, required, OPTIONAL))
