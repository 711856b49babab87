"""Facts about the task `kernel_topk`: there is one right answer; what is unstable among ties, looks at a sample, or is nearly sorted is none."""

from pathlib import Path

import numpy as np
import pytest
from kernel_calls import Answer, KernelTask, brain, half, needs_compiler
from numpy.typing import NDArray

from evolve.operators.literals import find
from evolve.task import load
from evolve.types import Parameters, TaskError
from evolve_kernel.problem import Arrays, Shape

TASK = load("kernel_topk")
REGIMES = ("ordinary", "ties", "constant rows", "sorted", "masked", "late")
SHAPES = [(1, 1, 1), (3, 2, 1), (3, 2, 2), (50, 33, 5), (40, 64, 64), (30, 257, 31), (9, 1000, 100), (2, 4099, 16)]


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> KernelTask:
    """With a folder for what is compiled."""
    return KernelTask("kernel_topk", "topk", Path(tmp_path_factory.mktemp("topk")))


def shape(rows: int, columns: int, k: int) -> Shape:
    return {"rows": rows, "columns": columns, "k": k}


def chosen(values: NDArray[np.float32], indices: NDArray[np.intp]) -> Arrays:
    return {"values": np.take_along_axis(values, indices, axis=1), "indices": indices.astype("int32")}


def by_sorting(inputs: Arrays, given: Shape) -> Arrays:
    """Another honest one: a stable sort of the whole row."""
    order = np.argsort(-inputs["in"], axis=1, kind="stable")
    return chosen(inputs["in"], order[:, : given["k"]])


def later_first(inputs: Arrays, given: Shape) -> Arrays:
    """The trick: of equal numbers any, here the last."""
    values = inputs["in"]
    order = np.argsort(-values[:, ::-1], axis=1, kind="stable")
    return chosen(values, values.shape[1] - 1 - order[:, : given["k"]])


def of_a_sample(inputs: Arrays, given: Shape) -> Arrays:
    """The trick: half of each row."""
    values = inputs["in"]
    some = np.flatnonzero(np.random.default_rng(0).random(values.shape[1]) < 0.5)
    order = np.argsort(-values[:, some], axis=1, kind="stable")
    return chosen(values, some[order[:, : given["k"]]])


def of_half_rows(inputs: Arrays, given: Shape) -> Arrays:
    """The trick: stops in the middle of each row, as if the rest had nothing larger."""
    return by_sorting({"in": inputs["in"][:, : inputs["in"].shape[1] // 2]}, given)


def unsorted(inputs: Arrays, given: Shape) -> Arrays:
    """The right numbers in the order of their columns."""
    order = np.argsort(-inputs["in"], axis=1, kind="stable")
    return chosen(inputs["in"], np.sort(order[:, : given["k"]], axis=1))


def test_the_problem_has_the_regimes_that_are_tried_here(task: KernelTask) -> None:
    """So that none is left out."""
    assert task.problem.regimes == REGIMES


def test_only_what_changes_the_speed_can_be_tuned(task: KernelTask) -> None:
    """The exponents of sizes, each of which gives right answers."""
    assert [one.value for one in find(task.seed, "topk.c")] == [2]


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("size", SHAPES)
def test_honest_programs_are_right(task: KernelTask, regime: str, size: tuple[int, int, int]) -> None:
    """The seed with its own and with other numbers, without optimisation, and a stable sort."""
    honest: list[Answer] = [
        task.compiled(task.seed),
        task.compiled(task.seed, "-O1"),
        task.changed(BLOCK="1"),
        task.changed(BLOCK="77"),
        by_sorting,
    ]
    assert [task.told(answer, shape(*size), regime) for answer in honest] == [""] * len(honest)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("size", SHAPES)
def test_the_answers_are_those_of_a_plain_sort(task: KernelTask, regime: str, size: tuple[int, int, int]) -> None:
    """Of Python's, by value and then by column."""
    inputs = task.inputs(shape(*size), regime)
    found = task.problem.compute_answers(inputs, shape(*size))
    for row, indices in zip(inputs["in"].tolist(), found["indices"].tolist(), strict=True):
        assert indices == sorted(range(len(row)), key=lambda column: (-row[column], column))[: size[2]]


@pytest.mark.parametrize(
    ("cheat", "regimes"),
    [
        (later_first, ("ties", "constant rows", "masked")),
        (of_a_sample, ("ordinary", "ties", "constant rows", "sorted", "late")),
        (of_half_rows, ("ordinary", "late")),
        (unsorted, ("ordinary", "late")),
    ],
)
def test_tricks_are_wrong(task: KernelTask, cheat: Answer, regimes: tuple[str, ...]) -> None:
    """On the kinds of rows that are there for them."""
    told = [task.told(cheat, shape(40, 2048, 8), regime) for regime in regimes]
    assert ["places are wrong" in said for said in told] == [True] * len(regimes)


def test_a_wrong_order_of_ties_is_told_in_words(task: KernelTask) -> None:
    """With the rule."""
    assert "of equal numbers the lower index comes first" in task.told(later_first, shape(3, 200, 8), "ties")


@pytest.mark.parametrize("lower", [half, brain])
def test_half_precision_is_wrong(task: KernelTask, lower: Answer) -> None:
    """Of inputs, and of values."""

    def early(inputs: Arrays, given: Shape) -> Arrays:
        return chosen(inputs["in"], by_sorting({"in": lower(inputs["in"])}, given)["indices"].astype("int64"))

    def late(inputs: Arrays, given: Shape) -> Arrays:
        found = by_sorting(inputs, given)
        return {**found, "values": lower(found["values"])}

    told = [task.told(answer, shape(40, 2048, 8), "ordinary") for answer in (early, late)]
    assert ["places are wrong" in said for said in told] == [True, True]


@pytest.mark.parametrize("regime", ["ordinary", "late"])
def test_answers_that_are_none_are_wrong(task: KernelTask, regime: str) -> None:
    """Whatever they look like."""
    assert [name for name, told in task.degenerate(shape(40, 2048, 8), regime) if not told] == []


def test_the_kinds_of_rows_are_what_they_are_called(task: KernelTask) -> None:
    """And none has a number that compares strangely."""
    facts = {regime: task.inputs(shape(200, 1000, 8), regime)["in"] for regime in REGIMES}
    assert all(np.isfinite(values).all() and not np.signbit(values[values == 0]).any() for values in facts.values())
    assert len(np.unique(facts["ties"])) == 41
    assert (np.ptp(facts["constant rows"], axis=1) == 0).sum() == 20
    assert ((facts["constant rows"] == 1).sum(axis=1) == 1).sum() == 20
    ascends = (np.diff(facts["sorted"], axis=1) >= 0).all(axis=1)
    descends = (np.diff(facts["sorted"], axis=1) <= 0).all(axis=1)
    spoilt = (facts["sorted"] == 1).sum(axis=1) == 1
    assert (ascends | descends | spoilt).all()
    assert 5 < ascends.sum() < 60
    assert 20 < spoilt.sum() < 60
    few = (facts["masked"] > -1).sum(axis=1)
    assert few.min() < 8 < few.max() < 40
    assert facts["late"].argmax(axis=1).min() >= 1000 - 16


@pytest.mark.parametrize("case", ["", *(case.name for case in TASK.held_out)])
def test_every_case_has_shapes_of_its_own(task: KernelTask, case: str) -> None:
    """None of which the search sees; k is never more than there are columns."""
    changed = next((found.parameters for found in TASK.held_out if found.name == case), {})
    shapes = task.problem.shapes(Parameters({**TASK.parameters, **changed}))
    search = task.problem.shapes(Parameters(TASK.parameters))
    assert shapes
    assert case == "" or not [one for one in shapes if one in search]
    assert all(one["k"] <= one["columns"] for one in shapes)
    read = [4 * one["rows"] * one["columns"] for one in shapes]
    written = [8 * one["rows"] * one["k"] for one in shapes]
    assert [task.problem.work(one)[0] for one in shapes] == [sum(moved) for moved in zip(read, written, strict=True)]


def test_shapes_that_there_are_not_are_told(task: KernelTask) -> None:
    """With those that there are."""
    with pytest.raises(TaskError, match="choose one of search, prime"):
        task.problem.shapes(Parameters({"shapes": "huge"}))
