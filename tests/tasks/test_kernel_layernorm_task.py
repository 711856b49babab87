"""Facts about the task `kernel_layernorm`: honest programs are right on every kind of rows, half precision and tricks are not."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from kernel_calls import Answer, KernelTask, brain, half, needs_compiler

from evolve.operators.literals import find
from evolve.task import load
from evolve.types import Parameters, TaskError
from evolve_kernel.problem import Arrays, Shape

TASK = load("kernel_layernorm")
REGIMES = ("ordinary", "offset", "tiny", "constant rows", "spike", "scales")
SHAPES = [(3, 1), (5, 2), (67, 33), (33, 257), (9, 4099), (1, 100003)]
ONE_PASS = """
#include "layernorm.h"
#include <math.h>
void layernorm(float *out, const float *in, const float *weight, const float *bias, long rows, long columns)
{
    for (long r = 0; r < rows; r++) {
        TYPE sum = 0, squares = 0;
        for (long c = 0; c < columns; c++) {
            TYPE x = in[r * columns + c];
            sum += x;
            squares += x * x;
        }
        const TYPE mean = sum / columns, variance = squares / columns - mean * mean;
        const TYPE scale = 1 / sqrt((variance > 0 ? variance : 0) + (double)LAYERNORM_EPSILON);
        for (long c = 0; c < columns; c++)
            out[r * columns + c] = (in[r * columns + c] - mean) * scale * weight[c] + bias[c];
    }
}
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> KernelTask:
    """With a folder for what is compiled."""
    return KernelTask("kernel_layernorm", "layernorm", Path(tmp_path_factory.mktemp("layernorm")))


def shape(rows: int, columns: int) -> Shape:
    return {"rows": rows, "columns": columns}


def by_numpy(inputs: Arrays, _: Shape) -> Arrays:
    """Another honest one, with numpy's sums by pairs, in single precision."""
    values = inputs["in"]
    deviations = values - values.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((deviations * deviations).mean(axis=1, keepdims=True) + np.float32(1e-5))
    return {"out": deviations * scale * inputs["weight"] + inputs["bias"]}


def test_the_problem_has_the_regimes_that_are_tried_here(task: KernelTask) -> None:
    """So that none is left out."""
    assert task.problem.regimes == REGIMES


def test_only_what_changes_the_speed_can_be_tuned(task: KernelTask) -> None:
    """The exponents of sizes, each of which gives right answers."""
    assert [one.value for one in find(task.seed, "layernorm.c")] == [3]


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("size", SHAPES)
def test_honest_programs_are_right(task: KernelTask, regime: str, size: tuple[int, int]) -> None:
    """The seed with its own and with other numbers, without optimisation, with one sum after the other, with squares in double precision, and numpy."""
    honest: list[Answer] = [
        task.compiled(task.seed),
        task.compiled(task.seed, "-O1", "-ffp-contract=off"),
        task.changed(SUMS="1"),
        task.changed(SUMS="37"),
        task.compiled(ONE_PASS.replace("TYPE", "double")),
        by_numpy,
    ]
    assert [task.told(answer, shape(*size), regime) for answer in honest] == [""] * len(honest)


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize("regime", REGIMES)
def test_one_sum_after_the_other_is_right_on_the_longest_row(task: KernelTask, regime: str) -> None:
    """Where roundings add up most."""
    (longest,) = task.problem.shapes(Parameters({"shapes": "one row"}))
    seeds = [task.told(task.compiled(task.seed), longest, regime), task.told(task.changed(SUMS="1"), longest, regime)]
    assert seeds == ["", ""]


@pytest.mark.parametrize("lower", [half, brain])
@pytest.mark.parametrize("what", ["in", "weight", "out"])
def test_half_precision_is_wrong(task: KernelTask, lower: Answer, what: str) -> None:
    """Of inputs, of weights and of outputs, on ordinary rows of all widths of the search."""
    for size in task.problem.shapes(Parameters(TASK.parameters)):

        def answer(inputs: Arrays, given: Shape) -> Arrays:
            found = task.problem.compute_answers(
                {**inputs, what: lower(inputs[what])} if what in inputs else inputs, given
            )
            return {"out": lower(found["out"]) if what == "out" else found["out"].astype("float32")}

        assert "rows are wrong" in task.told(answer, {**size, "rows": 24}, "ordinary")


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize("regime", ["offset", "tiny"])
def test_a_variance_from_the_mean_of_squares_is_wrong(task: KernelTask, regime: str) -> None:
    """In single precision: what is left of two large numbers is their rounding."""
    answer = task.compiled(ONE_PASS.replace("TYPE", "float"))
    for size in task.problem.shapes(Parameters(TASK.parameters)):
        assert "rows are wrong" in task.told(answer, {**size, "rows": 24}, regime)


def test_answers_that_are_none_are_wrong(task: KernelTask) -> None:
    """Whatever they look like."""
    assert [name for name, told in task.degenerate(shape(40, 1536), "ordinary") if not told] == []


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize(("line", "other"), [("* weight[c] ", ""), (" + bias[c]", ""), (" + LAYERNORM_EPSILON", "")])
def test_all_that_is_given_counts(task: KernelTask, line: str, other: str) -> None:
    """Without weights, biases or what is added to the variance, it is another function."""
    answer = task.compiled(task.seed.replace(line, other))
    assert line in task.seed
    assert "rows are wrong" in task.told(answer, shape(20, 300), "tiny")


def test_the_answers_are_those_of_exact_arithmetic(task: KernelTask) -> None:
    """Of a row in fractions, but for the square root."""
    inputs = task.inputs(shape(1, 50), "offset")
    row, weight, bias = ([Fraction(float(x)) for x in inputs[name].ravel()] for name in ("in", "weight", "bias"))
    mean = sum(row) / 50
    variance = sum((x - mean) ** 2 for x in row) / 50
    scale = 1 / math.sqrt(variance + Fraction(float(np.float32(1e-5))))
    wanted = [float((x - mean) * w) * scale + float(b) for x, w, b in zip(row, weight, bias, strict=True)]
    assert task.problem.compute_answers(inputs, shape(1, 50))["out"][0] == pytest.approx(wanted, abs=1e-9)


def test_the_kinds_of_rows_are_what_they_are_called(task: KernelTask) -> None:
    """Means and variances."""
    facts = {regime: task.inputs(shape(50, 400), regime)["in"].astype("float64") for regime in REGIMES}
    assert facts["ordinary"].var() == pytest.approx(1, rel=0.05)
    assert facts["offset"].mean() == pytest.approx(1024, abs=0.1)
    assert facts["tiny"].var() == pytest.approx(1e-6, rel=0.05)
    rows = facts["constant rows"]
    assert (rows.var(axis=1) == 0).sum() == 5
    # As many are equal but for one number.
    assert (
        ((rows != np.median(rows, axis=1, keepdims=True)).sum(axis=1) == 1) & (np.ptp(rows, axis=1) == 1)
    ).sum() == 5
    assert (facts["spike"] == 100).sum() == 50
    assert facts["scales"].std(axis=1).max() > 1e3 * facts["scales"].std(axis=1).min()


@pytest.mark.parametrize("case", ["", *(case.name for case in TASK.held_out)])
def test_every_case_has_shapes_of_its_own(task: KernelTask, case: str) -> None:
    """None of which the search sees."""
    changed = next((found.parameters for found in TASK.held_out if found.name == case), {})
    shapes = task.problem.shapes(Parameters({**TASK.parameters, **changed}))
    search = task.problem.shapes(Parameters(TASK.parameters))
    assert shapes
    assert case == "" or not [one for one in shapes if one in search]
    assert all(moved >= 8 * math.prod(one.values()) for one in shapes for moved in [task.problem.work(one)[0]])


def test_shapes_that_there_are_not_are_told(task: KernelTask) -> None:
    """With those that there are."""
    with pytest.raises(TaskError, match="choose one of search, prime"):
        task.problem.shapes(Parameters({"shapes": "huge"}))
