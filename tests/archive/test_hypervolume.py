"""Facts about the space that a front dominates."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.hypervolume import hypervolume


def volume(points: list[tuple[float, ...]], reference: tuple[float, ...]) -> float:
    return hypervolume(np.array(points, dtype=float).reshape(-1, len(reference)), np.array(reference, dtype=float))


@pytest.mark.parametrize(
    ("points", "reference", "expected"),
    [
        ([], (0, 0), 0.0),
        ([(3,), (5,)], (1,), 4.0),
        ([(2, 3)], (0, 0), 6.0),
        ([(2, 3), (3, 1)], (0, 0), 7.0),
        ([(2, 3), (3, 1), (2, 3), (1, 1)], (0, 0), 7.0),
        ([(2, 3), (3, 1)], (2, 0), 1.0),
        ([(-1, 3), (3, -1)], (0, 0), 0.0),
        ([(1, 1, 1)], (0, 0, 0), 1.0),
        ([(2, 1, 1), (1, 2, 1), (1, 1, 2)], (0, 0, 0), 4.0),
        ([(2, 2, 1, 1), (1, 1, 2, 2)], (0, 0, 0, 0), 7.0),
    ],
)
def test_volumes_that_can_be_counted_by_hand(
    points: list[tuple[float, ...]], reference: tuple[float, ...], expected: float
) -> None:
    assert volume(points, reference) == expected


@given(st.integers(1, 5), st.data())
@settings(max_examples=100, deadline=None)
def test_it_is_the_number_of_unit_cubes_that_a_point_covers(dimensions: int, data: st.DataObject) -> None:
    """Points of small whole numbers, so that every volume is exact."""
    size = 4 if dimensions < 5 else 3
    points = data.draw(st.lists(st.tuples(*[st.integers(-1, size)] * dimensions), max_size=8))
    cubes = product(range(size), repeat=dimensions)
    covered = sum(any(all(p > c for p, c in zip(point, cube, strict=True)) for point in points) for cube in cubes)
    assert volume(points, (0,) * dimensions) == covered


@pytest.mark.parametrize(("dimensions", "size"), [(2, 300), (3, 200), (4, 60), (5, 30)])
def test_it_agrees_with_random_darts(dimensions: int, size: int) -> None:
    rng = np.random.default_rng(dimensions)
    rows = np.abs(rng.normal(size=(size, dimensions)))
    points = rows / np.linalg.norm(rows, axis=1)[:, None]
    hit = np.zeros(20_000, dtype=bool)
    darts = rng.random((len(hit), dimensions))
    for point in points:
        hit |= (point >= darts).all(axis=1)
    error = np.sqrt(hit.mean() * (1 - hit.mean()) / len(hit))
    assert hypervolume(points, np.zeros(dimensions)) == pytest.approx(hit.mean(), abs=4 * error)


def test_a_shift_of_everything_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    points = rng.random((20, 3))
    assert hypervolume(points - 7.0, np.full(3, -7.0)) == pytest.approx(hypervolume(points, np.zeros(3)))
