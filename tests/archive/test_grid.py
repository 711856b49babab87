"""Facts about cells."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.grid import Grid
from evolve.types import Axis

GRID = Grid((Axis("size", 0.0, 4.0, 4), Axis("walls", 10.0, 12.0, 2)))


@pytest.mark.parametrize(
    ("size", "walls", "cell"),
    [
        (0, 10, 0),
        (0.99, 10.99, 0),
        (0, 11, 1),
        (1, 10, 2),
        (3.99, 11.99, 7),
        (4, 12, 7),
        (-5, 99, 1),
        (1e308, -1e308, 6),
    ],
)
def test_values_fall_into_bins_and_clamp(size: float, walls: float, cell: int) -> None:
    assert GRID.cell(GRID.point({"size": size, "walls": walls, "other": 1.0})) == cell


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=100, deadline=None)
def test_every_finite_point_has_a_cell(size: float, walls: float) -> None:
    assert 0 <= GRID.cell((size, walls)) < GRID.cells == 8


def test_a_grid_without_axes_has_one_cell() -> None:
    assert (Grid(()).cells, Grid(()).cell(Grid(()).point({}))) == (1, 0)


@pytest.mark.parametrize(
    "descriptors", [{}, {"size": 1.0}, {"size": math.nan, "walls": 10.0}, {"size": math.inf, "walls": 10.0}]
)
def test_a_missing_or_endless_descriptor_is_refused(descriptors: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="every axis needs a finite descriptor: wanted size, walls"):
        GRID.point(descriptors)


@pytest.mark.parametrize(
    ("low", "high", "bins"), [(1.0, 1.0, 2), (2.0, 1.0, 2), (0.0, math.inf, 2), (math.nan, 1.0, 2), (0.0, 1.0, 0)]
)
def test_an_axis_without_width_or_bins_is_refused(low: float, high: float, bins: int) -> None:
    with pytest.raises(ValueError, match="axis 'size' needs finite low < high and at least one bin"):
        Grid((Axis("size", low, high, bins),))
