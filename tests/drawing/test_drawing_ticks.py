"""Marks of axes: round, within the axis, and told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.drawing import log_ticks, ticks
from evolve.drawing.scale import span


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 1500, ("0", "500", "1,000", "1,500")),
        (0.96, 2.63, ("1.0", "1.5", "2.0", "2.5")),
        (-1.2, 1.2, ("-1.0", "-0.5", "0.0", "0.5", "1.0")),
        (2.635862756, 2.6358627574, ("2.6358627560", "2.6358627565", "2.6358627570")),
        (0, 3e12, ("0", "1e+12", "2e+12", "3e+12")),
        (0, 2e-6, ("0", "5.0e-07", "1.0e-06", "1.5e-06", "2.0e-06")),
    ],
)
def test_labels_have_the_digits_that_tell_them_apart(low: float, high: float, labels: tuple[str, ...]) -> None:
    assert ticks(low, high, 5).labels == labels


@given(
    st.tuples(
        st.floats(-1e140, 1e140, allow_subnormal=False),
        st.floats(-1e140, 1e140, allow_subnormal=False),
    ),
    st.integers(2, 12),
)
def test_no_two_labels_are_equal_whatever_the_values(ends: tuple[float, float], most: int) -> None:
    low, high = span(ends)
    found = ticks(low, high, most)
    assert len(found.labels) <= most
    assert len(set(found.labels)) == len(found.labels)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1, 10_000, ("1", "10", "100", "1,000", "10,000")),
        (10, 100, ("10", "20", "50", "100")),
        (0.001, 0.1, ("0.001", "0.003", "0.01", "0.03", "0.1")),
        (3.2, 4.1, ("3.2", "3.4", "3.6", "3.8", "4.0")),
        (1, 1e30, ("1", "1,000,000", "1e+12", "1e+18", "1e+24", "1e+30")),
    ],
)
def test_a_logarithmic_axis_has_powers_of_ten(low: float, high: float, labels: tuple[str, ...]) -> None:
    assert labels == log_ticks(low, high).labels
