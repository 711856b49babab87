"""The module of a task's folder that knows the problem: which shapes there are, how inputs are made, and what the answers are.

Invariant: whatever the module gives is looked at here once; what it breaks of the contract is an error that names the function."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve import TaskModule, task_module
from evolve.types import Parameters, TaskError
from evolve_kernel.arguments import BYTES, Argument, arguments_of

Shape: TypeAlias = Mapping[str, int]
Arrays: TypeAlias = dict[str, NDArray[Any]]
REQUIRED = {
    "shapes": "(parameters)",
    "arguments": "(shape)",
    "make_inputs": "(rng, shape, regime)",
    "oracle": "(inputs, shape)",
    "work": "(shape)",
}
EXACT = {"float64", *(name for name in BYTES if "int" in name)}
"""Types of answers."""
OPTIONAL = {"check": "(outputs, expected, inputs, shape)"}
FUNCTIONS = {**REQUIRED, **OPTIONAL}
REGIMES, TOLERANCE = "REGIMES", "TOLERANCE"
"""Its constants: kinds of inputs, and for each output how far it may be from the answer, relative, in the L2 norm."""


class Problem:
    """The functions and constants of a module, called and checked."""

    def __init__(self, module: TaskModule) -> None:
        self._module = module
        self._path = module.path
        self.regimes = _regimes(module)
        self.tolerance = _tolerance(module)
        self.checks = module.has("check")
        """Whether the module has a check of its own, beside or in place of tolerances."""

    def shapes(self, parameters: Parameters) -> list[Shape]:
        """The shapes of a set, in the module's order."""
        made = self._call("shapes", parameters)
        if not isinstance(made, Sequence) or not made or not all(_is_shape(shape) for shape in made):
            raise self._module.broken(
                "shapes", made, "a list of shapes, each a mapping of names to whole numbers above 0"
            )
        return [dict(shape) for shape in made]

    def arguments(self, shape: Shape) -> tuple[Argument, ...]:
        """What the kernel is called with on a shape, in the order of its parameters."""
        made = self._call("arguments", shape)
        try:
            found = arguments_of(made)
        except ValueError as error:
            raise TaskError(f"{self._path}: arguments(): {error}. Do: correct it") from None
        outputs = [one.name for one in found if one.kind == "out"]
        if unknown := sorted(set(self.tolerance) - set(outputs)):
            raise TaskError(
                f"{self._path}: {TOLERANCE} has a number for {unknown[0]!r}, and the outputs are {', '.join(outputs)}. Do: name an output"
            )
        unchecked = [name for name in outputs if name not in self.tolerance]
        if unchecked and not self.checks:
            raise TaskError(
                f"{self._path}: nothing says what is right for the output {unchecked[0]!r}. Do: give it a {TOLERANCE}, or write check{OPTIONAL['check']}"
            )
        return found

    def inputs(self, rng: Generator, shape: Shape, regime: str) -> Arrays:
        """Fresh inputs, as contiguous arrays of the declared types."""
        made = self._call("make_inputs", rng, shape, regime)
        return self._arrays("make_inputs", made, "in", shape, exact=True)

    def expected(self, inputs: Arrays, shape: Shape) -> Arrays:
        """The answers, asked for when the program has answered: in float64, or exact whole numbers."""
        return self._arrays("oracle", self._call("oracle", inputs, shape), "out", shape, exact=False)

    def fault(self, outputs: Arrays, expected: Arrays, inputs: Arrays, shape: Shape) -> str:
        """What the module's own check says of outputs; empty where it finds nothing, or there is none."""
        said = self._call("check", outputs, expected, inputs, shape) if self.checks else ""
        if not isinstance(said, str):
            raise self._module.broken("check", said, 'a text: what is wrong with the outputs, "" where nothing is')
        return said

    def work(self, shape: Shape) -> tuple[int, int]:
        """The least bytes moved, and the least operations."""
        match self._call("work", shape):
            case (int(moved), int(operations)) if moved > 0 and operations >= 0:
                return moved, operations
            case made:
                raise self._module.broken(
                    "work", made, "two whole numbers: the least bytes moved, and the least operations"
                )

    def _arrays(self, function: str, made: object, kind: str, shape: Shape, *, exact: bool) -> Arrays:
        wanted = {one.name: one for one in self.arguments(shape) if one.kind == kind}
        if not isinstance(made, Mapping) or set(made) != set(wanted):
            got = list(made) if isinstance(made, Mapping) else made
            raise self._module.broken(function, got, f"a mapping with an array for each of {', '.join(wanted)}")
        for name, argument in wanted.items():
            array, types = made[name], {argument.dtype} if exact else EXACT
            if not isinstance(array, np.ndarray) or array.shape != argument.dims or array.dtype.name not in types:
                wanted_type = argument.dtype if exact else "float64, or of whole numbers,"
                told = f"an array of the shape {argument.dims} and type {wanted_type} for {name}"
                raise self._module.broken(function, array, told)
        return {name: np.ascontiguousarray(made[name]) for name in wanted}

    def _call(self, function: str, *arguments: Any) -> Any:
        return self._module.call(function, *arguments, told=_asked(function, arguments))


def shape_name(shape: Shape) -> str:
    """A shape in a table: `rows 512, columns 1024`."""
    return ", ".join(f"{name} {length}" for name, length in shape.items())


def _is_shape(shape: object) -> bool:
    return (
        isinstance(shape, Mapping)
        and bool(shape)
        and all(type(length) is int and length > 0 for length in shape.values())
    )


def _asked(function: str, arguments: Sequence[Any]) -> str:
    """On what it was called, where that says something."""
    given = dict(zip(FUNCTIONS[function].strip("()").split(", "), arguments, strict=True))
    told = shape_name(given["shape"]) if "shape" in given else ""
    regime = f"{given['regime']!r}" if "regime" in given else ""
    return "".join(f" on {one}" for one in (told, regime) if one)


def load(folder: Path, file: str) -> Problem:
    """The problem in a file of a task's folder; raises `TaskError` where it lacks something."""
    return Problem(task_module(folder, file, REQUIRED, OPTIONAL))


def _regimes(module: TaskModule) -> tuple[str, ...]:
    given = module.value(REGIMES)
    if given is None:
        raise TaskError(f"{module.path}: there is no {REGIMES}. Do: name the kinds of inputs, as a tuple of texts")
    if not isinstance(given, tuple) or not given or not all(isinstance(one, str) for one in given):
        raise TaskError(f"{module.path}: {REGIMES} is {given!r:.80}. Do: name the kinds of inputs, as a tuple of texts")
    return given


def _tolerance(module: TaskModule) -> Mapping[str, float]:
    given = module.value(TOLERANCE, {})
    right = isinstance(given, Mapping) and all(
        type(value) in (int, float) and 0 <= value < math.inf for value in given.values()
    )
    if not right:
        raise TaskError(
            f"{module.path}: {TOLERANCE} is {given!r:.80}. Do: give a number from 0 on for each output, such as 1e-6"
        )
    return dict(given)
