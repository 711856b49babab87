"""What is drawn of a series."""

import math

import pytest

from evolve.drawing import Series
from evolve.drawing.series import Spot, spots


def test_what_is_not_finite_is_left_out() -> None:
    series = Series("a", [1, 2, 3, math.nan], [1.0, math.inf, 3.0, 4.0], [0.5, 0, -math.inf, 0], [2.0, 0, math.nan, 0])
    assert (Spot(1.0, 1.0, 0.5, 2.0), Spot(3.0, 3.0, 3.0, 3.0)) == spots(series)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"series 'a' has columns of lengths \[1, 2\]"):
        Series("a", [1, 2], [1.0])
    with pytest.raises(ValueError, match="series 'a'"):
        Series("a", [1], [1.0], low=[0.5])
