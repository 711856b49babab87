"""Facts about answers that say the same."""

import numpy as np
import pytest

from evolve_benchmark.agreeing import agreeing

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (3, 3),
        ("a", "a"),
        (0.1 + 0.2, 0.3),
        (NAN, NAN),
        ([1, [2.0]], [1, [2.0 + 1e-15]]),
        ({"a": 1.0, "b": []}, {"b": [], "a": 1.0}),
        (np.array([1.0, 1e-20]), np.array([1.0 + 1e-12, 0.0])),
        (np.array([1e-320, 0.0]), np.array([1e-320, 0.0])),
        (np.array([NAN, INFINITE, 1.0]), np.array([NAN, INFINITE, 1.0])),
        (np.float32([1.0, 2.0]), np.float32([1.00001, 2.0])),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.array([True, False]), np.array([True, False])),
    ],
)
def test_what_rounding_does_is_no_difference(one, other):
    """Of an array the largest number counts."""
    assert agreeing(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        ("a", "b"),
        (1.0, 1.00001),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 2}),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.zeros(2), [0.0, 0.0]),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1.0, 2.0]), np.array([1.0, 2.001])),
        (np.array([1e-310, 0.0]), np.array([0.0, 0.0])),
        (np.array([NAN, 1.0]), np.array([1.0, NAN])),
        (np.array([INFINITE]), np.array([-INFINITE])),
    ],
)
def test_what_is_another_answer(one, other):
    """Also where it is another type."""
    assert not agreeing(one, other)
