"""Facts about what is right, and what is said of what is wrong."""

import sys

import numpy as np
import pytest
from kernel_problems import DOUBLING

from evolve_kernel.answers import check_answers
from evolve_kernel.problem import load

SHAPE = {"count": 1000}
ANSWER = {"out": np.linspace(1, 2, 1000).reshape(10, 100)}


@pytest.fixture
def problem(tmp_path, monkeypatch):
    """With a tolerance, and a check where a text is given."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def made(tolerance="1e-6", more=""):
        (tmp_path / "problem.py").write_text(DOUBLING.replace("1e-6", tolerance, 1) + more)
        return load(tmp_path, "problem.py")

    return made


def outputs(change=lambda out: None, dtype=np.float32):
    """The answer, rounded and changed."""
    out = ANSWER["out"].astype(dtype)
    change(out)
    return {"out": out}


def test_what_is_within_the_tolerance_is_right(problem):
    """Relative, over the whole array."""
    assert check_answers(problem(), outputs(), ANSWER, {}, SHAPE).fault == ""
    assert check_answers(problem(), {"out": ANSWER["out"] * (1 + 0.9e-6)}, ANSWER, {}, SHAPE).fault == ""


def test_what_is_not_is_told_with_its_distance(problem):
    """And with the worst element."""
    said = check_answers(problem(), {"out": ANSWER["out"] * 1.01}, ANSWER, {}, SHAPE).fault
    assert said.startswith(
        "out is off by 0.01 (relative, in the L2 norm), and 1e-06 is allowed: 1000 of 1000 elements are wrong."
    )
    assert "The worst is [9, 99]" in said


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_never_right(problem, value):
    """One element is enough."""
    said = check_answers(problem("1e6"), outputs(lambda out: out.__setitem__((3, 4), value)), ANSWER, {}, SHAPE).fault
    assert said.startswith("out is not finite")
    assert "The worst is [3, 4]" in said


def test_what_was_not_written_is_counted(problem):
    """Such as the last columns, which a loop has left out."""

    def unfinished(out):
        out[:, 96:].view("uint8")[:] = 0xA5

    said = check_answers(problem(), outputs(unfinished), ANSWER, {}, SHAPE).fault
    assert "40 of 1000 elements are wrong; 40 were not written. The worst" in said


def test_the_worst_element_is_told(problem):
    said = check_answers(problem(), outputs(lambda out: out.__setitem__((3, 4), 9.0)), ANSWER, {}, SHAPE).fault
    assert "1 of 1000 elements are wrong. The worst is [3, 4]: 9.0, wanted" in said


def test_no_tolerance_is_equality(problem):
    """For whole numbers."""
    answer = {"out": np.arange(6)}
    assert check_answers(problem("0"), {"out": np.arange(6, dtype=np.int32)}, answer, {}, SHAPE).fault == ""
    said = check_answers(problem("0"), {"out": np.array([0, 1, 2, 3, 5, 4], np.int32)}, answer, {}, SHAPE).fault
    assert said.startswith("out must be exact: 2 of 6 elements are wrong.")


def test_an_answer_of_zeros_has_an_absolute_tolerance(problem):
    """There is nothing to divide by."""
    zeros = {"out": np.zeros(4)}
    assert check_answers(problem(), {"out": np.full(4, 1e-8, np.float32)}, zeros, {}, SHAPE).fault == ""
    assert "off by 0.02" in check_answers(problem(), {"out": np.full(4, 1e-2, np.float32)}, zeros, {}, SHAPE).fault


def test_what_is_right_tells_how_far_it_is(problem):
    """At most of all outputs, and nothing where equality is asked for."""
    assert check_answers(problem(), {"out": ANSWER["out"] * (1 + 5e-7)}, ANSWER, {}, SHAPE).distance == pytest.approx(
        5e-7
    )
    assert check_answers(problem(), ANSWER, ANSWER, {}, SHAPE).distance == 0.0
    assert check_answers(problem("0"), ANSWER, ANSWER, {}, SHAPE).distance is None


def test_the_modules_own_check_comes_after_the_tolerance(problem):
    """It says what a norm does not."""
    found = problem("1", "\n\ndef check(outputs, expected, inputs, shape):\n    return f'not so, {shape[\"count\"]}'\n")
    assert check_answers(found, outputs(), ANSWER, {}, SHAPE).fault == "not so, 1000"
