"""Kernels of tasks as tests call them: compiled by the judge's flags into this process, with the arguments that the problem declares, and told right or wrong as the judge does."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from task_files import TASKS

from evolve_kernel.compiled import FLAGS, STANDARDS
from evolve_kernel.problem import Arrays, KernelProblem, Shape, load
from evolve_kernel.rounds import check_answers

Answer = Callable[[Arrays, Shape], Arrays]
"""What comes of inputs."""
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler called `cc`")


class KernelTask:
    """The problem of a task, and its kernels compiled into `folder`; equal texts are compiled once."""

    def __init__(self, name: str, function: str, folder: Path) -> None:
        self._folder, self._function, self._place = TASKS / name, function, folder
        self._numbers = count()
        self._compiled: dict[tuple[str, ...], Answer] = {}
        self.problem: KernelProblem = load(self._folder, "problem.py")
        self.seed = (self._folder / f"{function}.c").read_text("utf-8")

    def compiled(self, text: str, *flags: str) -> Answer:
        """A source by the judge's flags and some more, which go before those."""
        if (text, *flags) not in self._compiled:
            self._compiled[text, *flags] = self._answer(self._library(text, flags))
        return self._compiled[text, *flags]

    def changed(self, **changes: str) -> Answer:
        """The seed with other numbers: `changed(BLOCK="3")` where it has `BLOCK = ...`."""
        text = self.seed
        for name, value in changes.items():
            before, found, after = text.partition(f" {name} = ")
            assert found, f"the seed has no {name}"
            end = min(after.index(mark) for mark in ",}" if mark in after)
            text = f"{before}{found}{value}{after[end:]}"
        return self.compiled(text)

    def inputs(self, shape: Shape, regime: str, seed: int = 0) -> Arrays:
        """Of a generator with this seed."""
        return self.problem.inputs(np.random.default_rng(seed), shape, regime)

    def told(self, answer: Answer, shape: Shape, regime: str, seed: int = 0) -> str:
        """What the judge says of an answer; empty where it is right."""
        inputs = self.inputs(shape, regime, seed)
        kept = {name: array.copy() for name, array in inputs.items()}
        outputs = answer(inputs, shape)
        assert all(np.array_equal(kept[name], inputs[name]) for name in kept), "it has modified its inputs"
        return check_answers(self.problem, outputs, self.problem.compute_answers(inputs, shape), inputs, shape).fault

    def degenerate(self, shape: Shape, regime: str) -> Iterator[tuple[str, str]]:
        """What the judge says of answers that are none, each with its name."""
        inputs = self.inputs(shape, regime)
        expected = self.problem.compute_answers(inputs, shape)
        before = self._cast(self.problem.compute_answers(self.inputs(shape, regime, 1), shape), shape)
        right = self._cast(expected, shape)
        assert check_answers(self.problem, right, expected, inputs, shape).fault == "", "the right answer is wrong"
        for name, change in _CHANGES.items():
            wrong = {key: change(array, before[key]) for key, array in right.items()}
            yield name, check_answers(self.problem, wrong, expected, inputs, shape).fault

    def _cast(self, arrays: Arrays, shape: Shape) -> Arrays:
        types = {one.name: one.dtype for one in self.problem.arguments(shape)}
        return {name: array.astype(types[name]) for name, array in arrays.items()}

    def _library(self, text: str, flags: tuple[str, ...]) -> Any:
        source = self._place / f"{next(self._numbers)}.c"
        source.write_text(text, "utf-8")
        library = source.with_suffix(".so")
        command = ["cc", *STANDARDS["c"], *FLAGS, *flags, "-shared", "-I", self._folder, "-o", library, source, "-lm"]
        subprocess.run(command, check=True, timeout=120)
        return getattr(ctypes.CDLL(str(library)), self._function)

    def _answer(self, called: Any) -> Answer:
        def answer(inputs: Arrays, shape: Shape) -> Arrays:
            outputs: Arrays = {}
            passed: list[Any] = []
            for one in self.problem.arguments(shape):
                if one.kind == "number":
                    passed.append(ctypes.c_long(one.value))
                    continue
                if one.kind != "in":
                    outputs[one.name] = np.full(one.bytes, 0xFF, "uint8").view(one.dtype).reshape(one.dims)
                array = inputs[one.name] if one.kind == "in" else outputs[one.name]
                passed.append(ctypes.c_void_p(array.ctypes.data))
            called(*passed)
            return outputs

        return answer


def _begun(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """The first rows alone; the others are full of zeros."""
    some = np.zeros_like(array)
    some[:rows] = array[:rows]
    return some


def _with_last(array: NDArray[Any], value: float) -> NDArray[Any]:
    other = array.copy()
    other[-1, -1] = value
    return other


_CHANGES: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]] = {
    "zeros": lambda array, _: np.zeros_like(array),
    "the mean everywhere": lambda array, _: np.full_like(array, array.mean()),
    "the previous answer": lambda _, before: before,
    "half done": lambda array, _: _begun(array, len(array) // 2),
    "the last row missing": lambda array, _: _begun(array, len(array) - 1),
    "the last number missing": lambda array, _: _with_last(array, -7),
    "not a number": lambda array, _: _with_last(array, np.nan if array.dtype.kind == "f" else -1),
    "infinite": lambda array, _: _with_last(array, np.inf if array.dtype.kind == "f" else -1),
    "the other sign": lambda array, _: -array,
    "the order reversed": lambda array, _: array[:, ::-1].copy(),
    "one percent off": lambda array, _: (array * 1.01).astype(array.dtype),
    "shuffled": lambda array, _: np.random.default_rng(2).permutation(array.ravel()).reshape(array.shape),
}


def half(values: NDArray[Any]) -> NDArray[np.float32]:
    """Rounded to float16 and back."""
    with np.errstate(over="ignore"):
        return values.astype("float16").astype("float32")


def brain(values: NDArray[Any]) -> NDArray[np.float32]:
    """Rounded to bfloat16 and back: the upper half of a float32, to the nearest."""
    bits = values.astype("float32").view("uint32")
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return rounded.astype("uint32").view("float32")
