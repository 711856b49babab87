"""Facts about the seed of `step_functions`."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import step_samples
from task_files import judging_files

from evolve.operators.literals import template
from evolve.task import load

FILES = judging_files("step_functions")
exact, steps = FILES.exact, FILES.steps

TASK = load("step_functions")
SEED: dict[str, Any] = runpy.run_path(str(Path(TASK.folder) / "seed.py"))


def test_its_numbers_are_those_of_the_search_and_not_of_the_formulas() -> None:
    """Six, as the README says."""
    assert template(TASK.seed).values == (300.0, 3e-05, 1.0, 0.003, 0.05, 0.2)


@pytest.mark.parametrize("kind", step_samples.KINDS)
def test_it_computes_what_the_judge_computes(kind: str) -> None:
    """On functions of its own making."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        fitted = SEED["fitted"](kind, 0.5 + 0.2 * rng.standard_normal(20))
        found = steps.steps_from(fitted, kind, 20)
        assert SEED["score"](kind, fitted, np.max) == pytest.approx(
            steps.score(kind, steps.ratio(kind, found)), rel=1e-12
        )


@pytest.mark.parametrize("kind", step_samples.KINDS)
def test_it_goes_on_from_a_start_and_never_below_it(kind: str) -> None:
    """However short its time."""
    first = SEED["construct"](kind, 20, 0.02, 1, None)
    second = SEED["construct"](kind, 20, 0.02, 2, first)
    scores = [exact.score(kind, exact.verify(exact.certificate(kind, answer))) for answer in (first, second)]
    assert scores[1] >= scores[0] - 1e-13


def test_now_and_then_it_begins_anew() -> None:
    """One time in five, by its random numbers."""
    starts = [SEED["construct"]("c2", 3, 1e-9, seed, [1.0, 4.0, 0.0]) for seed in range(200)]
    assert all(start in ([0.25, 1.0, 0.0], [1.0, 1.0, 1.0]) for start in starts)
    assert 25 < starts.count([1.0, 1.0, 1.0]) < 55


def test_without_time_it_returns_its_start() -> None:
    """But for its height."""
    assert SEED["construct"]("c2", 3, 1e-9, 1, [1.0, 4.0, 0.0]) == [0.25, 1.0, 0.0]
    assert SEED["construct"]("c2", 3, 1e-9, 1, None) == [1.0, 1.0, 1.0]


def test_what_has_no_score_is_the_worst() -> None:
    """The judge would refuse it, as it does nothing at all."""
    assert SEED["score"]("erdos", np.array([1.2, 0.3]), np.max) == -np.inf
    assert SEED["score"]("c2", SEED["fitted"]("c2", np.array([-1.0, -2.0])), np.max) == -np.inf


def test_the_softer_maximum_counts_what_is_near_the_top() -> None:
    """It is the maximum of one, and more of two."""
    assert SEED["soft"](np.array([2.0, 0.1])) == pytest.approx(2.0)
    assert SEED["soft"](np.array([2.0, 2.0])) == pytest.approx(2.0 * 2 ** (1 / 300))
    assert SEED["soft"](np.array([2.0, 1.99])) > 2.0
