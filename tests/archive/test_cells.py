"""Cells: the bins of a grid, and regions around centroids."""

import math

import numpy as np
import pytest
from archive_makers import AXES, Story
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.cells import UNITS, Centroids, Grid, make_centroids
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


BOX = (Axis("first", -1.0, 1.0, 12), Axis("second", 0.0, 500.0, 7), Axis("third", 2.0, 2.5, 1))

LITERALS = [
    [855757.0, 440215.0],
    [459371.0, 155794.0],
    [704309.0, 889986.0],
    [907215.0, 740112.0],
    [482910.0, 428468.0],
    [831150.0, 174822.0],
    [189341.0, 877969.0],
    [164422.0, 227889.0],
]


def distances(cells: Centroids, point: tuple[float, ...]) -> np.ndarray:
    """To every centroid, by the shares of the axes."""
    low, high = (np.array([getattr(axis, name) for axis in cells.axes]) for name in ("low", "high"))
    share = (np.clip(point, low, high) - low) / (high - low)
    return np.linalg.norm(cells.centroids / UNITS - share, axis=1)


@given(st.tuples(st.floats(-2, 2), st.floats(-100, 700), st.floats(1, 3)))
@settings(max_examples=100, deadline=None)
def test_a_cell_is_that_of_the_nearest_centroid(point: tuple[float, ...]) -> None:
    cells = Centroids(BOX, 60)
    found = distances(cells, point)
    assert found[cells.cell(point)] <= found.min() + 3 / UNITS


def test_each_centroid_is_in_its_own_cell() -> None:
    cells = Centroids((Axis("x", 0.0, 1.0, 1), Axis("y", 0.0, 1.0, 1)), 200)
    assert [cells.cell(tuple(place)) for place in (cells.centroids / UNITS).tolist()] == list(range(200))


def test_values_outside_the_box_clamp() -> None:
    cells = Centroids(BOX, 50)
    assert cells.cell((1e308, -1e308, 9.0)) == cells.cell((1.0, 0.0, 2.5))


def test_the_centroids_are_the_same_for_ever() -> None:
    """Another numpy, another machine: the archive of a log must not change. The literals are the guard."""
    found = make_centroids(2, 8)
    assert found.tolist() == LITERALS
    assert not found.flags.writeable


def test_the_cells_share_the_box_about_evenly() -> None:
    rng = np.random.default_rng(0)
    cells = Centroids((Axis("x", 0.0, 1.0, 1), Axis("y", 0.0, 1.0, 1)), 50)
    counts = np.bincount([cells.cell(tuple(point)) for point in rng.random((5000, 2)).tolist()], minlength=50)
    assert counts.min() > 20
    assert counts.max() < 250


def test_an_axis_without_width_is_refused_and_so_is_a_box_without_axes() -> None:
    with pytest.raises(ValueError, match="finite low < high"):
        Centroids((Axis("x", 1.0, 1.0, 1),), 5)
    with pytest.raises(ValueError, match="need an axis"):
        Centroids((), 5)
    with pytest.raises(ValueError, match="every axis needs a finite descriptor: wanted first, second, third"):
        Centroids(BOX, 5).point({"first": 1.0})


def test_an_archive_of_centroids_keeps_the_best_of_each() -> None:
    story = Story(cells="cvt", centroids=5)
    assert (story.archive.grid.cells, story.archive.grid.axes) == (5, AXES)
    rng = np.random.default_rng(3)
    expected: dict[int, tuple[float, int]] = {}
    for number in range(60):
        at = (float(rng.uniform(0, 4)), float(rng.uniform(0, 2)))
        fitness = float(rng.normal())
        story.propose(number, fitness, at)
        cell = story.archive.grid.cell(at)
        expected[cell] = max(expected.get(cell, (-9.0, 0)), (fitness, number + 1))
    assert {elite.cell: (elite.fitness, elite.record) for elite in story.archive.elites(0)} == expected
    assert len(expected) == 5
