"""Where the numbers of an axis come from."""

import math

import pytest

from evolve import novelty
from evolve.campaign.descriptors import Descriptors
from evolve.types import Axis, Evaluation, Outcome, Program

SEED = Program({"seed.py": "x = 1\n"})
OTHER = Program({"seed.py": "y = [1, 2, 3]\n"})


def unread() -> Program:
    raise AssertionError("the program was read")


def axes(*names: str) -> list[Axis]:
    return [Axis(name, 0, 1, 2) for name in names]


def test_what_the_evaluator_says_comes_first_then_a_metric() -> None:
    """Metrics that no axis has the name of stay where they are; no program is read."""
    evaluation = Evaluation.ok(1.0, descriptors={"a": 0.1}, metrics={"a": 0.9, "b": 0.5, "c": 0.7})
    completed = Descriptors(axes("a", "b"), SEED).complete(evaluation, unread)
    assert completed.descriptors == {"a": 0.1, "b": 0.5}
    assert completed.metrics == evaluation.metrics


def test_the_default_axes_are_read_from_the_text() -> None:
    evaluation = Evaluation.ok(1.0)
    descriptors = Descriptors(novelty.DEFAULT_AXES, SEED)
    assert descriptors.complete(evaluation, lambda: SEED).descriptors["seed_distance"] == 0.0
    assert descriptors.complete(evaluation, lambda: OTHER).descriptors["seed_distance"] == 1.0


def test_an_axis_that_nobody_has_a_number_for_is_named() -> None:
    """The first one."""
    evaluation = Evaluation.ok(1.0, descriptors={"a": 0.1})
    descriptors = Descriptors(axes("a", "b", "c"), SEED)
    assert descriptors.missing(descriptors.complete(evaluation, unread)) == "b"
    assert Descriptors(axes("a"), SEED).missing(evaluation) == ""


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_a_failure_stays_as_it_is(outcome: Outcome) -> None:
    """It has no place, so it needs no number."""
    evaluation = Evaluation.failed(outcome, "", metrics={"a": math.pi})
    assert Descriptors(axes("a"), SEED).complete(evaluation, unread) == evaluation
