"""Facts about `kernel_softmax`: its inputs are hard, its answers right, its tolerance between honest programs and the next lower precision."""

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evolve.task
from evolve.operators.literals import template
from evolve.types import Parameters
from evolve_kernel.compiled import FLAGS, compiler
from evolve_kernel.problem import KernelProblem, load
from evolve_kernel.rounds import check_answers

TASK = evolve.task.load("kernel_softmax")
FOLDER = Path(TASK.folder)
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
Softmax = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]


@pytest.fixture(scope="module")
def problem() -> KernelProblem:
    """The task's module."""
    before = [*sys.path]
    found = load(FOLDER, "problem.py")
    sys.path[:] = before
    return found


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Softmax:
    """The program that the search begins with, called in this process."""
    library = tmp_path_factory.mktemp("softmax") / "softmax.so"
    wanted = [flag for flag in FLAGS if compiler("c").x86 or "cf-protection" not in flag]
    subprocess.run(["cc", "-std=c11", *wanted, "-shared", "-o", str(library), "softmax.c"], cwd=FOLDER, check=True)
    function = ctypes.CDLL(str(library)).softmax

    def softmax(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        out = np.full_like(values, np.nan)
        sizes = [ctypes.c_long(length) for length in values.shape]
        function(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(values.ctypes.data), *sizes)
        return out

    return softmax


def inputs(problem: KernelProblem, rows: int, columns: int, regime: str) -> tuple[dict[str, Any], dict[str, int]]:
    shape = {"rows": rows, "columns": columns}
    return problem.inputs(np.random.default_rng(rows + columns), shape, regime), shape


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 17, 100, 1021])
def test_the_seed_is_right_on_rows_of_any_length(problem: KernelProblem, seed: Softmax, columns: int) -> None:
    """And on all kinds of inputs."""
    for regime in problem.regimes:
        given, shape = inputs(problem, 13, columns, regime)
        expected = problem.compute_answers(given, shape)
        assert check_answers(problem, {"out": seed(given["in"])}, expected, given, shape).fault == "", regime


@pytest.mark.integration
@needs_compiler
def test_the_seed_is_right_on_one_long_row(problem: KernelProblem, seed: Softmax) -> None:
    """Where sums in single precision are off the most."""
    given, shape = inputs(problem, 1, 300_000, "one large")
    assert (
        check_answers(problem, {"out": seed(given["in"])}, problem.compute_answers(given, shape), given, shape).fault
        == ""
    )


@pytest.mark.parametrize("regime", ["normal", "offset", "spread", "equal rows", "one large", "masked", "far below"])
def test_the_next_lower_precision_is_wrong(problem: KernelProblem, regime: str) -> None:
    """On every kind of inputs but those whose answers it can tell."""
    given, shape = inputs(problem, 50, 300, regime)
    expected = problem.compute_answers(given, shape)
    rounded = {"out": expected["out"].astype(np.float16).astype(np.float32)}
    exact = {"out": expected["out"].astype(np.float32)}
    assert check_answers(problem, exact, expected, given, shape).fault == ""
    assert check_answers(problem, rounded, expected, given, shape).fault != ""


@pytest.mark.parametrize("regime", ["spread", "one large"])
def test_small_numbers_may_not_be_left_out(problem: KernelProblem, regime: str) -> None:
    """The norm over all does not miss them."""
    given, shape = inputs(problem, 50, 300, regime)
    expected = problem.compute_answers(given, shape)
    out = expected["out"].astype(np.float32)
    out[0, np.argmin(expected["out"][0])] = 0
    told = check_answers(problem, {"out": out}, expected, given, shape).fault
    assert "numbers are off by more than 0.001 of themselves, the first in row 0" in told


def test_no_largest_is_needed_for_ordinary_numbers_alone(problem: KernelProblem) -> None:
    """The hard ones overflow, or vanish, in single precision without it."""
    given, shape = inputs(problem, 4, 32_768, "offset")
    with np.errstate(over="ignore", invalid="ignore"):
        raised = np.exp(given["in"])
        out = raised / raised.sum(axis=1, keepdims=True)
    assert check_answers(problem, {"out": out}, problem.compute_answers(given, shape), given, shape).fault != ""


def test_every_case_has_shapes_that_no_other_has(problem: KernelProblem) -> None:
    """What is held out is not in the search."""
    names = [TASK.parameters["shapes"], *(case.parameters["shapes"] for case in TASK.held_out)]
    found = [tuple(shape.items()) for name in names for shape in problem.shapes(Parameters(shapes=name))]
    assert len(set(found)) == len(found)


def test_three_sizes_of_blocks_are_all_that_is_tuned() -> None:
    """The coefficients are hexadecimal floats, which operators leave alone."""
    assert template(TASK.seed).values == (2, 2, 2)
