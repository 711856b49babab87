"""Facts about the task `kernel_prefix_sum`: honest programs are right however they group their sums, half precision and sums that begin anew are not."""

import itertools
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

TASK = load("kernel_prefix_sum")
REGIMES = ("positive", "walk", "alternating", "whole", "growing", "rare")
SHAPES = [(5, 1), (9, 3), (7, 31), (3, 32), (4, 1000), (1, 300007)]
PLAIN = """
#include "prefix_sum.h"
void prefix_sum(float *out, const float *in, long rows, long columns)
{
    for (long r = 0; r < rows; r++) {
        TYPE sum = 0;
        for (long c = 0; c < columns; c++)
            out[r * columns + c] = sum += in[r * columns + c];
    }
}
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> KernelTask:
    """With a folder for what is compiled."""
    return KernelTask("kernel_prefix_sum", "prefix_sum", Path(tmp_path_factory.mktemp("prefix_sum")))


def shape(rows: int, columns: int) -> Shape:
    return {"rows": rows, "columns": columns}


def by_halves(inputs: Arrays, _: Shape) -> Arrays:
    """As parallel processors do it (Hillis and Steele): after n steps each place has the sum of 2**n neighbours."""
    sums, step = inputs["in"].copy(), 1
    while step < sums.shape[1]:
        sums[:, step:] = sums[:, step:] + sums[:, :-step]
        step *= 2
    return {"out": sums}


def by_blocks(inputs: Arrays, _: Shape) -> Arrays:
    """Sums within blocks of 64, then what is before each block, added to all of it."""
    values = inputs["in"]
    starts = range(0, values.shape[1], 64)
    parts = [np.cumsum(values[:, start : start + 64], axis=1, dtype="float32") for start in starts]
    before = itertools.accumulate((part[:, -1:] for part in parts[:-1]), initial=np.float32(0))
    return {"out": np.concatenate([part + carried for part, carried in zip(parts, before, strict=True)], axis=1)}


def begun_anew(inputs: Arrays, _: Shape) -> Arrays:
    """The trick: each block of a thousand has sums of its own."""
    values = inputs["in"]
    starts = range(0, values.shape[1], 1000)
    parts = [np.cumsum(values[:, start : start + 1000], axis=1, dtype="float32") for start in starts]
    return {"out": np.concatenate(parts, axis=1)}


def test_the_problem_has_the_regimes_that_are_tried_here(task: KernelTask) -> None:
    """So that none is left out."""
    assert task.problem.regimes == REGIMES


def test_only_what_changes_the_speed_can_be_tuned(task: KernelTask) -> None:
    """The exponents of sizes, each of which gives right answers."""
    assert [one.value for one in find(task.seed, "prefix_sum.c")] == [2, 3]


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("size", SHAPES)
def test_honest_programs_are_right(task: KernelTask, regime: str, size: tuple[int, int]) -> None:
    """The seed with its own and with other numbers, without optimisation, one addition after the other, also in double precision, and sums in other groups."""
    honest: list[Answer] = [
        task.compiled(task.seed),
        task.compiled(task.seed, "-O1", "-ffp-contract=off"),
        task.changed(LANES="5", ROUNDS="3"),
        task.changed(LANES="2", ROUNDS="1 << 9"),
        task.compiled(PLAIN.replace("TYPE", "float")),
        task.compiled(PLAIN.replace("TYPE", "double")),
        by_halves,
        by_blocks,
    ]
    assert [task.told(answer, shape(*size), regime) for answer in honest] == [""] * len(honest)


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize("regime", ["positive", "alternating"])
def test_one_addition_after_the_other_is_right_on_the_longest_row(task: KernelTask, regime: str) -> None:
    """Where roundings add up most."""
    longest = max(task.problem.shapes(Parameters(TASK.parameters)), key=lambda one: one["columns"])
    plain = task.compiled(PLAIN.replace("TYPE", "float"))
    assert [task.told(answer, longest, regime) for answer in (plain, task.compiled(task.seed))] == ["", ""]


@pytest.mark.parametrize("lower", [half, brain])
@pytest.mark.parametrize("what", ["in", "out"])
@pytest.mark.parametrize("regime", ["positive", "walk", "growing"])
def test_half_precision_is_wrong(task: KernelTask, lower: Answer, what: str, regime: str) -> None:
    """Of inputs and of outputs, in short rows and in long ones."""

    def answer(inputs: Arrays, given: Shape) -> Arrays:
        found = task.problem.compute_answers({"in": lower(inputs["in"])} if what == "in" else inputs, given)
        return {"out": lower(found["out"]) if what == "out" else found["out"].astype("float32")}

    told = [task.told(answer, shape(1, columns), regime) for columns in (2048, 32768, 300000)]
    assert ["sums are wrong" in said for said in told] == [True] * 3


@pytest.mark.parametrize("regime", REGIMES)
def test_sums_that_begin_anew_are_wrong(task: KernelTask, regime: str) -> None:
    """On every kind of rows."""
    assert "sums are wrong" in task.told(begun_anew, shape(2, 32768), regime)


@pytest.mark.parametrize("regime", ["positive", "walk"])
def test_answers_that_are_none_are_wrong(task: KernelTask, regime: str) -> None:
    """Whatever they look like."""
    assert [name for name, told in task.degenerate(shape(40, 2048), regime) if not told] == []


@pytest.mark.parametrize("regime", ["positive", "walk", "rare"])
def test_what_is_left_out_is_missed(task: KernelTask, regime: str) -> None:
    """One number of a hundred, at random."""

    def answer(inputs: Arrays, given: Shape) -> Arrays:
        left_out = np.random.default_rng(3).random(inputs["in"].shape) < 0.01
        return {"out": np.cumsum(np.where(left_out, 0, inputs["in"]), axis=1).astype("float32")}

    assert "sums are wrong" in task.told(answer, shape(2, 32768), regime)


def test_the_answers_are_those_of_exact_arithmetic(task: KernelTask) -> None:
    """Within far less than what a sum may be off."""
    inputs = task.inputs(shape(1, 3000), "alternating")
    exact = [float(total) for total in itertools.accumulate(Fraction(float(x)) for x in inputs["in"][0])]
    assert task.problem.compute_answers(inputs, shape(1, 3000))["out"][0] == pytest.approx(exact, rel=1e-9)


def test_the_kinds_of_rows_are_what_they_are_called(task: KernelTask) -> None:
    """Signs and magnitudes."""
    facts = {regime: task.inputs(shape(20, 5000), regime)["in"].astype("float64") for regime in REGIMES}
    assert facts["positive"].min() >= 0
    assert abs(facts["walk"].mean()) < 0.02
    assert facts["alternating"][:, ::2].min() >= 1e6
    assert facts["alternating"][:, 1::2].max() <= 1 - 1e6
    assert (facts["whole"] == np.rint(facts["whole"])).all()
    assert facts["growing"][:, -10:].mean() > 1e11 * facts["growing"][:, :10].mean()
    assert 0.001 < (facts["rare"] != 0).mean() < 0.004


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
    with pytest.raises(TaskError, match="choose one of search, prime"):
        task.problem.shapes(Parameters({"shapes": "huge"}))
