"""What a comparison holds equal, and values at a place."""

import math

import numpy as np
import pytest

from evolve.compare.resources import final, horizon, rounded, values_at
from evolve.types import Fitness
from tests.compare.runs import FITNESS, failed, run


def test_a_value_holds_until_the_next_one():
    """From the program on that found it; before the first there is none."""
    one = run(0, (0, 1.0), (10, 2.0), (60, 3.0))
    found = values_at(one, np.array([0.0, 9.0, 10.0, 59.9, 60.0, 100.0]), "programs", FITNESS)
    assert found.tolist() == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    assert values_at(one, np.array([4.9, 5.0]), "seconds", FITNESS).tolist() == [1.0, 2.0]


def test_a_fitness_to_minimise_is_turned():
    """Larger is better inside."""
    found = values_at(run(0, (10, 2.0)), np.array([10.0]), "programs", Fitness("excess", "min", 3))
    assert found.tolist() == [-2.0]


def test_what_failed_has_no_value_anywhere():
    """Minus infinity, which is worse than all."""
    assert values_at(failed(0), np.array([0.0, 100.0]), "programs", FITNESS).tolist() == [-math.inf, -math.inf]
    assert final(failed(0), 100.0, "programs", FITNESS) == -math.inf


def test_all_are_looked_at_where_the_shortest_ends():
    """What failed, and what could not go on, is not waited for."""
    courses = [run(0, programs=80), run(1, programs=100), failed(2), run(3, programs=30, status="exhausted")]
    assert horizon(courses, "programs") == 80
    assert horizon([courses[3]], "programs") == 30
    assert horizon([failed(0)], "programs") == 0


def test_what_is_reported_counts_at_the_end_and_the_curve_before_it():
    """A noisy task's best may be worth less than it once seemed."""
    one = run(0, (10, 2.0), (60, 5.0), final=4.5)
    assert final(one, 100.0, "programs", FITNESS) == 4.5
    assert final(one, 50.0, "programs", FITNESS) == 2.0
    assert final(run(0, (10, 2.0), final=None), 100.0, "programs", FITNESS) == -math.inf


def test_a_budget_in_time_that_was_overshot_a_little_was_spent():
    """What is reported at the end counts; of programs none is judged too many."""
    one = run(0, (10, 2.0), (100, 5.0), final=4.5)
    assert final(one, 49.0, "seconds", FITNESS) == 4.5
    assert final(one, 40.0, "seconds", FITNESS) == 2.0
    assert final(one, 98.0, "programs", FITNESS) == 2.0


@pytest.mark.parametrize(("value", "expected"), [(2.54142135, 2.54), (-0.0012345, -0.00123), (-math.inf, -math.inf)])
def test_what_is_beyond_the_digits_is_no_difference(value, expected):
    """As many as the task shows."""
    assert rounded(value, Fitness("f", "max", 3)) == expected
