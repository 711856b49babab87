"""The module of a task's folder that knows the problem: which shapes there are, how inputs are made, and what the answers are.

Invariant: whatever the module gives is looked at here once; what it breaks of the contract is an error that names the function."""

import importlib.util
import inspect
import math
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

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

    def __init__(self, module: ModuleType, path: Path) -> None:
        self._module = module
        self._path = path
        self.regimes: tuple[str, ...] = tuple(module.REGIMES)
        self.tolerance: Mapping[str, float] = dict(getattr(module, TOLERANCE, {}))
        self.checks = hasattr(module, "check")
        """Whether the module has a check of its own, beside or in place of tolerances."""

    def shapes(self, parameters: Parameters) -> list[Shape]:
        """The shapes of a set, in the module's order."""
        made = self._call("shapes", parameters)
        if not isinstance(made, Sequence) or not made or not all(_is_shape(shape) for shape in made):
            raise _broken(
                self._path, "shapes", made, "a list of shapes, each a mapping of names to whole numbers above 0"
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
            raise _broken(self._path, "check", said, 'a text: what is wrong with the outputs, "" where nothing is')
        return said

    def work(self, shape: Shape) -> tuple[int, int]:
        """The least bytes moved, and the least operations."""
        match self._call("work", shape):
            case (int(moved), int(operations)) if moved > 0 and operations >= 0:
                return moved, operations
            case made:
                raise _broken(
                    self._path, "work", made, "two whole numbers: the least bytes moved, and the least operations"
                )

    def _arrays(self, function: str, made: object, kind: str, shape: Shape, *, exact: bool) -> Arrays:
        wanted = {one.name: one for one in self.arguments(shape) if one.kind == kind}
        if not isinstance(made, Mapping) or set(made) != set(wanted):
            raise _broken(self._path, function, made, f"a mapping with an array for each of {', '.join(wanted)}")
        for name, argument in wanted.items():
            array, types = made[name], {argument.dtype} if exact else EXACT
            if not isinstance(array, np.ndarray) or array.shape != argument.dims or array.dtype.name not in types:
                wanted_type = argument.dtype if exact else "float64, or of whole numbers,"
                told = f"an array of the shape {argument.dims} and type {wanted_type} for {name}"
                got = f"{array.dtype}{array.shape}" if isinstance(array, np.ndarray) else repr(array)
                raise _broken(self._path, function, got, told)
        return {name: np.ascontiguousarray(made[name]) for name in wanted}

    def _call(self, function: str, *arguments: Any) -> Any:
        call: Callable[..., Any] = getattr(self._module, function)
        try:
            return call(*arguments)
        except Exception as error:
            raise TaskError(
                f"{self._path}: {function}() raised {_raised(error, self._path)}{_asked(function, arguments)}. Do: mend it"
            ) from error


def shape_name(shape: Shape) -> str:
    """A shape in a table: `rows 512, columns 1024`."""
    return ", ".join(f"{name} {length}" for name, length in shape.items())


def _is_shape(shape: object) -> bool:
    return (
        isinstance(shape, Mapping)
        and bool(shape)
        and all(type(length) is int and length > 0 for length in shape.values())
    )


def _broken(path: Path, function: str, got: object, wanted: str) -> TaskError:
    told = got if isinstance(got, str) else repr(got)
    return TaskError(f"{path}: {function}() returned {told:.80}. Do: return {wanted}")


def _raised(error: Exception, path: Path) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{type(error).__name__}: {error!s:.200}{f' (line {lines[-1]})' if lines else ''}"


def _asked(function: str, arguments: Sequence[Any]) -> str:
    """On what it was called, where that says something."""
    given = dict(zip(FUNCTIONS[function].strip("()").split(", "), arguments, strict=True))
    told = shape_name(given["shape"]) if "shape" in given else ""
    regime = f"{given['regime']!r}" if "regime" in given else ""
    return "".join(f" on {one}" for one in (told, regime) if one)


def load(folder: Path, file: str) -> Problem:
    """The problem in a file of a task's folder, which may import its neighbours; raises `TaskError` where it lacks something."""
    path = folder / file
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        raise TaskError(f"{folder}: evaluator.module: there is no file {file!r}. Do: write it, or name another")
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    module = _executed(path)
    for function in FUNCTIONS:
        if function in REQUIRED or hasattr(module, function):
            _has(path, module, function)
    regimes = getattr(module, REGIMES, ())
    if not isinstance(regimes, tuple) or not regimes or not all(isinstance(one, str) for one in regimes):
        raise TaskError(f"{path}: {REGIMES} is {regimes!r:.80}. Do: name the kinds of inputs, as a tuple of texts")
    _check_tolerance(path, getattr(module, TOLERANCE, {}))
    return Problem(module, path)


def _check_tolerance(path: Path, given: object) -> None:
    right = isinstance(given, Mapping) and all(
        type(value) in (int, float) and 0 <= value < math.inf for value in given.values()
    )
    if not right:
        raise TaskError(
            f"{path}: {TOLERANCE} is {given!r:.80}. Do: give a number from 0 on for each output, such as 1e-6"
        )


def _executed(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"evolve_kernel_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise TaskError(f"{path}: this is no Python file. Do: name one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise TaskError(f"{path}: this cannot be imported: {_raised(error, path)}. Do: mend it") from error
    return module


def _has(path: Path, module: ModuleType, function: str) -> None:
    """Raises `TaskError` where the module has no such function, or one that takes something else."""
    wanted = f"{function}{FUNCTIONS[function]}"
    found = getattr(module, function, None)
    if not callable(found):
        raise TaskError(f"{path}: there is no function {wanted}. Do: write it")
    try:
        inspect.signature(found).bind(*wanted.partition("(")[2].split(","))
    except TypeError:
        raise TaskError(
            f"{path}: {function}{inspect.signature(found)} takes something else. Do: write {wanted}"
        ) from None
