"""Facts about the evaluators that `evolve task new` writes: whatever a program answers is its own failure, not the evaluator's."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evolve.evaluation.worker import load_evaluator
from evolve.task import folders, load
from evolve.testing import RehearsedCandidate
from evolve.types import Evaluation, Outcome, Parameters, Trial

ENTRIES = {"function": "throw", "one-file": "temperature"}
HOSTILE = [
    None,
    {},
    [],
    [10**400] * 9,
    [float("nan")] * 9,
    [-float("inf")] * 2,
    [True] * 9,
    [np.zeros((1 << 39, 0), np.int8)] * 2,
    np.zeros((1 << 39, 0), np.int8),
    np.zeros((9, 1 << 39, 0), np.int8),
]


@pytest.fixture
def evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], Evaluation]:
    """What a new task of a kind finds of a candidate."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "evolve_task_evaluator", None)

    def evaluated(kind: str, candidate: Any) -> Evaluation:
        place = Path("tasks") / "mine"
        task = load(place if place.exists() else folders.create("mine", kind))
        ((_, evaluate),) = load_evaluator(task).stages(task)
        found: Evaluation = evaluate(candidate, Trial(parameters=Parameters(task.parameters)))
        return found

    return evaluated


@pytest.mark.parametrize("kind", ENTRIES)
@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_an_answer_of_another_form_is_invalid(
    evaluated: Callable[[str, Any], Evaluation], kind: str, answer: object
) -> None:
    """Numbers that are no floats, arrays of no numbers that are as long as one likes."""
    candidate = RehearsedCandidate({ENTRIES[kind]: lambda *arguments: answer})
    assert evaluated(kind, candidate).outcome is Outcome.INVALID


def test_a_number_that_is_too_large_for_a_float_is_repaired(evaluated: Callable[[str, Any], Evaluation]) -> None:
    """Like every one outside of the range."""
    large, largest = (
        evaluated("function", RehearsedCandidate({"throw": lambda target, speed=speed: [45.0, speed]}))
        for speed in (10**400, 100.0)
    )
    assert (large.outcome, large.fitness) == (Outcome.OK, largest.fitness)
