"""The module of a task's folder that knows the problem: its shapes, the kernel's arguments on each, inputs, and answers.

Whatever the module gives is checked here once; what it breaks of the contract is an error that names the function."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve import TaskModule, task_module
from evolve.types import Parameters, TaskError

Kind = Literal["in", "out", "room", "number"]
C_TYPES = {
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long",
    "uint64": "unsigned long",
    "float32": "float",
    "float64": "double",
}
"""Element types, as numpy and as C call them, where `long` has 64 bits."""
BYTES = {name: int("".join(filter(str.isdigit, name))) // 8 for name in C_TYPES}
MOST = 30
"""Arrays, and numbers, of a call: one place is the evaluator's."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One of them: an array of `dims` and `dtype`, or, of the kind "number", a `value`."""

    kind: Kind
    name: str
    dims: tuple[int, ...] = ()
    dtype: str = ""
    value: int = 0

    @property
    def bytes(self) -> int:
        """The size of an array."""
        return math.prod(self.dims) * BYTES[self.dtype]


def arguments_of(given: object) -> tuple[Argument, ...]:
    """Returns what a module's `arguments` returned, as values; raises `ValueError` with what is wrong."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ValueError(f"{given!r:.80} is no sequence of arguments")
    found = tuple(map(_argument, given))
    names = [one.name for one in found]
    arrays = [one for one in found if one.kind != "number"]
    if len(set(names)) < len(names):
        raise ValueError(f"two arguments are called {next(name for name in names if names.count(name) > 1)!r}")
    if not any(one.kind == "out" for one in arrays):
        raise ValueError('no argument is filled: one has the kind "out"')
    if max(len(arrays), len(found) - len(arrays)) > MOST:
        raise ValueError(f"there are more than {MOST} arrays, or numbers")
    return found


def _argument(given: Any) -> Argument:
    match given:
        case ("number", str(name), int(value)) if not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63:
            return Argument("number", _check_name(name), value=value)
        case ("in" | "out" | "room" as kind, str(name), [*dims], str(dtype)) if dtype in C_TYPES:
            if not dims or not all(type(length) is int and length > 0 for length in dims):
                raise ValueError(f"{name!r} has the dimensions {dims!r}, wanted whole numbers above 0")
            return Argument(kind, _check_name(name), tuple(dims), dtype)
    raise ValueError(
        f'{given!r:.80} is no argument, wanted ("in", "out" or "room", name, dimensions, dtype) with a dtype of '
        f'{", ".join(C_TYPES)}, or ("number", name, whole number)'
    )


def _check_name(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of an argument")
    return name


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


class KernelProblem:
    """The functions and constants of a module, called and checked."""

    def __init__(self, module: TaskModule) -> None:
        self._module = module
        self._path = module.path
        self.regimes = _regimes(module)
        self.tolerance = _tolerance(module)
        self.checks = module.has("check")
        """Whether the module has a check of its own, beside or in place of tolerances."""

    def shapes(self, parameters: Parameters) -> list[Shape]:
        """Returns the shapes of a set, in the module's order."""
        made = self._call("shapes", parameters)
        if not isinstance(made, Sequence) or not made or not all(_is_shape(shape) for shape in made):
            raise self._module.broken(
                "shapes", made, "a list of shapes, each a mapping of names to whole numbers above 0"
            )
        return [dict(shape) for shape in made]

    def arguments(self, shape: Shape) -> tuple[Argument, ...]:
        """Returns what the kernel is called with on a shape, in the order of its parameters."""
        made = self._call("arguments", shape)
        try:
            found = arguments_of(made)
        except ValueError as error:
            raise TaskError(f"{self._path}: arguments(): {error}. Try: correct it") from None
        outputs = [one.name for one in found if one.kind == "out"]
        if unknown := sorted(set(self.tolerance) - set(outputs)):
            raise TaskError(
                f"{self._path}: {TOLERANCE} has a number for {unknown[0]!r}, and the outputs are {', '.join(outputs)}. Try: name an output"
            )
        unchecked = [name for name in outputs if name not in self.tolerance]
        if unchecked and not self.checks:
            raise TaskError(
                f"{self._path}: nothing says what is right for the output {unchecked[0]!r}. Try: give it a {TOLERANCE}, or write check{OPTIONAL['check']}"
            )
        return found

    def inputs(self, rng: Generator, shape: Shape, regime: str) -> Arrays:
        """Returns fresh inputs, as contiguous arrays of the declared types."""
        made = self._call("make_inputs", rng, shape, regime)
        return self._arrays("make_inputs", made, "in", shape, exact=True)

    def compute_answers(self, inputs: Arrays, shape: Shape) -> Arrays:
        """Returns the answers, asked for when the program has answered: in float64, or exact whole numbers."""
        return self._arrays("oracle", self._call("oracle", inputs, shape), "out", shape, exact=False)

    def fault(self, outputs: Arrays, expected: Arrays, inputs: Arrays, shape: Shape) -> str:
        """Returns what the module's own check says of outputs; empty where it finds nothing, or there is none."""
        said = self._call("check", outputs, expected, inputs, shape) if self.checks else ""
        if not isinstance(said, str):
            raise self._module.broken("check", said, 'a text: what is wrong with the outputs, "" where nothing is')
        return said

    def work(self, shape: Shape) -> tuple[int, int]:
        """Returns the least bytes moved, and the least operations."""
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
        return self._module.call(function, *arguments, told=_describe_call(function, arguments))


def shape_name(shape: Shape) -> str:
    """Returns a shape in a table: `rows 512, columns 1024`."""
    return ", ".join(f"{name} {length}" for name, length in shape.items())


def _is_shape(shape: object) -> bool:
    return (
        isinstance(shape, Mapping)
        and bool(shape)
        and all(type(length) is int and length > 0 for length in shape.values())
    )


def _describe_call(function: str, arguments: Sequence[Any]) -> str:
    """Returns the shape and regime that a function was called on, where it has them."""
    given = dict(zip(FUNCTIONS[function].strip("()").split(", "), arguments, strict=True))
    told = shape_name(given["shape"]) if "shape" in given else ""
    regime = f"{given['regime']!r}" if "regime" in given else ""
    return "".join(f" on {one}" for one in (told, regime) if one)


def load(folder: Path, file: str) -> KernelProblem:
    """Returns the problem in a file of a task's folder; raises `TaskError` where it lacks something."""
    return KernelProblem(task_module(folder, file, REQUIRED, OPTIONAL))


def _regimes(module: TaskModule) -> tuple[str, ...]:
    given = module.value(REGIMES)
    if given is None:
        raise TaskError(f"{module.path}: there is no {REGIMES}. Try: name the kinds of inputs, as a tuple of texts")
    if not isinstance(given, tuple) or not given or not all(isinstance(one, str) for one in given):
        raise TaskError(
            f"{module.path}: {REGIMES} is {given!r:.80}. Try: name the kinds of inputs, as a tuple of texts"
        )
    return given


def _tolerance(module: TaskModule) -> Mapping[str, float]:
    given = module.value(TOLERANCE, {})
    right = isinstance(given, Mapping) and all(
        type(value) in (int, float) and 0 <= value < math.inf for value in given.values()
    )
    if not right:
        raise TaskError(
            f"{module.path}: {TOLERANCE} is {given!r:.80}. Try: give a number from 0 on for each output, such as 1e-6"
        )
    return dict(given)
