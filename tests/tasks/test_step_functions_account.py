"""Facts about what is told about a step function."""

import pytest
from task_files import judging_files

FILES = judging_files("step_functions")
account = FILES.account


def told(kind: str, values: list[float], start: list[float] | None = None) -> list[str]:
    return account.account(kind, tuple(values), None if start is None else tuple(start)).split("\n")


def test_c2_is_told_how_far_from_flat_it_is() -> None:
    """Knots 1 4 4 of a maximum of 4: a ninth of the integral is below half of it."""
    assert told("c2", [0.25, 0.5]) == [
        "c2 with 2 steps: 0.796296296296, more is better.",
        "The autoconvolution is largest at knot 1 (steps i and j with i + j = 1) and within 0.1 % of that at 2 of 3 knots.",
        "The ratio would be 1 if the autoconvolution had one height wherever it is not 0. What it lacks: 11.1% of the integral is where "
        "the height is below half the maximum, 0.0% where it is from there to 90 %.",
        "0% of the steps are 0.",
    ]


@pytest.mark.parametrize("kind", ["c1", "c3abs"])
def test_a_minimised_kind_is_told_where_its_largest_knot_is(kind: str) -> None:
    """Knots 0 0 1 2 1 0 0."""
    lines = told(kind, [0.0, 1.0, 1.0, 0.0])
    assert lines[0] == f"{kind} with 4 steps: 4, less is better."
    assert "at knot 3 (steps i and j with i + j = 3) and within 0.1 % of that at 1 of 7 knots" in lines[1]
    assert "the mean knot is 0.286 of it" in lines[2]
    assert lines[3] == "50% of the steps are 0."


def test_erdos_is_told_the_shift_of_its_largest_overlap() -> None:
    """The first step, moved onto the gap behind it."""
    lines = told("erdos", [1.0, 0.0])
    assert lines[1] == "The overlap is largest at shift 1 and within 0.1 % of that at 1 of 3 knots."
    assert "the mean over all shifts is 0.333 of it" in lines[2]


def test_what_was_carried_is_told() -> None:
    """So that a reader knows whether the score is the program's own."""
    assert told("c2", [0.25, 0.5], [0.5, 0.5])[-1] == "It was given a construction with 0.666666666667 to begin with."
