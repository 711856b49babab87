"""The evaluator keeps its promises, and does what it says."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from evolve import Evaluation, Outcome, Trial
from evolve.testing import RehearsedCandidate, check_evaluator, rehearsed_task

from evolve_starter.evaluator import Root


def judged(root: Callable[[list[float]], Any]) -> Evaluation:
    """What the evaluator finds of a program with this function, without a sandbox."""
    ((_, evaluate),) = Root({}).stages(rehearsed_task())
    return evaluate(RehearsedCandidate({"root": root}), Trial())


def test_it_keeps_the_promises_of_an_evaluator() -> None:
    """evolve's own suite: stages with names and limits, the same answer for the same task."""
    check_evaluator(lambda: Root({"points": 5}))


def test_a_perfect_answer_has_no_error() -> None:
    """The fitness is the largest error."""
    assert judged(lambda xs: [math.sqrt(x) for x in xs]).fitness == 0.0


def test_the_largest_error_is_the_fitness() -> None:
    """With where it is."""
    evaluation = judged(lambda xs: [2.0 for x in xs])
    assert (evaluation.fitness, evaluation.feedback) == (1.0, "the largest error, 1, is at x = 1")


@pytest.mark.parametrize("answer", [None, [], [math.nan] * 61, ["2"] * 61, [True] * 61, [10**400] * 61, [1e308] * 61])
def test_what_is_no_list_of_numbers_is_invalid(answer: Any) -> None:
    """However it comes."""
    assert judged(lambda xs: answer).outcome is Outcome.INVALID
