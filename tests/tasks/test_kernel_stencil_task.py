"""Facts about the task `kernel_stencil`: honest programs are right on every kind of grid and at every edge, half precision and other rules for edges are not."""

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_calls import Answer, KernelTask, brain, half, needs_compiler
from numpy.typing import NDArray

from evolve.operators.literals import find
from evolve.task import load
from evolve.types import Parameters, TaskError
from evolve_kernel.problem import Arrays, Shape

TASK = load("kernel_stencil")
REGIMES = ("ordinary", "offset", "frame", "spikes", "scales", "nearly constant")
SHAPES = [(1, 1), (1, 7), (9, 1), (2, 2), (3, 50), (8, 32), (9, 33), (255, 257), (17, 1000)]
PLAIN = """
#include "stencil.h"
static long within(long i, long n) { return i < 0 ? 0 : i < n ? i : n - 1; }
void stencil(float *out, const float *in, const float *weights, long rows, long columns)
{
    for (long r = 0; r < rows; r++)
        for (long c = 0; c < columns; c++) {
            TYPE sum = 0;
            for (long j = 2; j >= 0; j--)
                for (long i = 2; i >= 0; i--)
                    sum += (TYPE)weights[3 * i + j] * in[within(r + i - 1, rows) * columns + within(c + j - 1, columns)];
            out[r * columns + c] = sum;
        }
}
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> KernelTask:
    """With a folder for what is compiled."""
    return KernelTask("kernel_stencil", "stencil", Path(tmp_path_factory.mktemp("stencil")))


def shape(rows: int, columns: int) -> Shape:
    return {"rows": rows, "columns": columns}


def padded(mode: Any, times: Callable[[NDArray[np.float32]], Any] = np.asarray) -> Answer:
    """Column by column, with some rule for what is outside of the grid; `times` is done to each product."""

    def answer(inputs: Arrays, given: Shape) -> Arrays:
        rows, columns = given["rows"], given["columns"]
        wide, weights = np.pad(inputs["in"], 1, mode=mode), inputs["weights"]
        with np.errstate(invalid="ignore"):
            strips = [
                sum(times(weights[i, j] * wide[i : i + rows, j : j + columns]) for i in range(3)) for j in range(3)
            ]
            return {"out": np.asarray(strips[0] + strips[1] + strips[2], "float32")}

    return answer


def test_the_problem_has_the_regimes_that_are_tried_here(task: KernelTask) -> None:
    """So that none is left out."""
    assert task.problem.regimes == REGIMES


def test_only_what_changes_the_speed_can_be_tuned(task: KernelTask) -> None:
    """The exponents of sizes, each of which gives right answers."""
    assert [one.value for one in find(task.seed, "stencil.c")] == [3, 5]


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("size", SHAPES)
def test_honest_programs_are_right(task: KernelTask, regime: str, size: tuple[int, int]) -> None:
    """The seed with its own and with other numbers, without optimisation, plain loops in another order, also in double precision, and numpy."""
    honest: list[Answer] = [
        task.compiled(task.seed),
        task.compiled(task.seed, "-O1", "-ffp-contract=off"),
        task.changed(HEIGHT="3", WIDTH="7"),
        task.changed(HEIGHT="1 << 6", WIDTH="1 << 8"),
        task.compiled(PLAIN.replace("TYPE", "float")),
        task.compiled(PLAIN.replace("TYPE", "double")),
        padded("edge"),
    ]
    assert [task.told(answer, shape(*size), regime) for answer in honest] == [""] * len(honest)


@pytest.mark.parametrize("lower", [half, brain])
@pytest.mark.parametrize("what", ["in", "weights", "products", "out"])
@pytest.mark.parametrize("regime", ["ordinary", "scales"])
def test_half_precision_is_wrong(task: KernelTask, lower: Answer, what: str, regime: str) -> None:
    """Of cells, of weights, of products and of outputs."""

    def answer(inputs: Arrays, given: Shape) -> Arrays:
        changed = {**inputs, what: lower(inputs[what])} if what in inputs else inputs
        found = padded("edge", lower if what == "products" else np.asarray)(changed, given)["out"]
        return {"out": lower(found) if what == "out" else found}

    assert "cells are wrong" in task.told(answer, shape(60, 70), regime)


@pytest.mark.parametrize("mode", ["constant", "reflect", "symmetric", "wrap", "linear_ramp"])
@pytest.mark.parametrize("regime", ["ordinary", "offset", "frame"])
def test_other_rules_for_edges_are_wrong(task: KernelTask, mode: str, regime: str) -> None:
    """Zeros, mirrors, the other side; one of them is the right rule under another name."""
    told = task.told(padded(mode), shape(60, 70), regime)
    assert (told == "") == (mode == "symmetric")
    wrong = told.partition(" ")[0]
    assert mode == "symmetric" or f"{wrong} of 4200 cells are wrong, {wrong} of them at an edge" in told


@pytest.mark.integration
@needs_compiler
def test_edges_that_are_left_out_are_wrong(task: KernelTask) -> None:
    """All four, on the largest grids that the search has."""
    for size in task.problem.shapes(Parameters(TASK.parameters)):
        for first, last in (("r = 1", "rows"), ("r = 0", "rows - 1"), ("c = 1", "columns"), ("c = 0", "columns - 1")):
            name = first[0]
            whole = f"for (long {name} = 0; {name} < {'rows' if name == 'r' else 'columns'}; {name}++)"
            text = PLAIN.replace("TYPE", "float")
            assert whole in text
            answer = task.compiled(text.replace(whole, f"for (long {first}; {name} < {last}; {name}++)"))
            assert "cells are wrong" in task.told(answer, {name: min(of, 300) for name, of in size.items()}, "ordinary")


@pytest.mark.parametrize("regime", ["ordinary", "scales"])
def test_answers_that_are_none_are_wrong(task: KernelTask, regime: str) -> None:
    """Whatever they look like."""
    assert [name for name, told in task.degenerate(shape(40, 300), regime) if not told] == []


def test_the_answers_are_those_of_exact_arithmetic(task: KernelTask) -> None:
    """In fractions, with the rule of the edges as the header has it."""
    inputs = task.inputs(shape(5, 4), "offset")
    weights, grid = inputs["weights"], inputs["in"]

    def cell(r: int, c: int) -> Fraction:
        return Fraction(float(grid[min(max(r, 0), 4), min(max(c, 0), 3)]))

    exact = [
        [
            float(sum(Fraction(float(weights[i, j])) * cell(r + i - 1, c + j - 1) for i in range(3) for j in range(3)))
            for c in range(4)
        ]
        for r in range(5)
    ]
    assert task.problem.compute_answers(inputs, shape(5, 4))["out"].tolist() == [
        pytest.approx(row, abs=1e-9) for row in exact
    ]


def test_the_kinds_of_grids_are_what_they_are_called(task: KernelTask) -> None:
    """Magnitudes, and where they are."""
    facts = {regime: task.inputs(shape(100, 110), regime) for regime in REGIMES}
    grids = {regime: np.abs(found["in"].astype("float64")) for regime, found in facts.items()}
    assert grids["offset"].mean() == pytest.approx(1000, abs=0.1)
    assert abs(facts["offset"]["weights"].sum()) < 1e-5
    assert grids["frame"][1:-1, 1:-1].max() < 2
    assert [edge.max() > 1e5 for edge in (grids["frame"][0], grids["frame"][-1])] == [True, True]
    assert 0.08 < (grids["spikes"] > 0).mean() < 0.12
    assert grids["scales"].max() > 1e10 * np.median(np.sort(grids["scales"].ravel())[:100])
    level = np.median(facts["nearly constant"]["in"])
    assert (facts["nearly constant"]["in"] == level).mean() == pytest.approx(7 / 8, abs=0.02)


@pytest.mark.parametrize("case", ["", *(case.name for case in TASK.held_out)])
def test_every_case_has_shapes_of_its_own(task: KernelTask, case: str) -> None:
    """None of which the search sees."""
    changed = next((found.parameters for found in TASK.held_out if found.name == case), {})
    shapes = task.problem.shapes(Parameters({**TASK.parameters, **changed}))
    search = task.problem.shapes(Parameters(TASK.parameters))
    assert shapes
    assert case == "" or not [one for one in shapes if one in search]
    assert [task.problem.work(one)[0] for one in shapes] == [8 * math.prod(one.values()) for one in shapes]


def test_shapes_that_there_are_not_are_told(task: KernelTask) -> None:
    """With those that there are."""
    with pytest.raises(TaskError, match="choose one of search, odd"):
        task.problem.shapes(Parameters({"shapes": "huge"}))
