"""pyribs' archives as an oracle: the same stream gives the same elites and figures."""

import warnings
from typing import Any

import numpy as np
import pytest
from archive_makers import Story

from evolve.archive.cells import UNITS, make_centroids
from evolve.types import Axis

AXES = (Axis("first", -1.0, 1.0, 12), Axis("second", 0.0, 5.0, 7))


def ribs_archives() -> Any:
    """pyribs, which only the environment of all tests has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("ribs.archives")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_deterministic_island_is_pyribs_grid_archive(seed: int) -> None:
    oracle = ribs_archives().GridArchive(
        solution_dim=1,
        dims=[axis.bins for axis in AXES],
        ranges=[(axis.low, axis.high) for axis in AXES],
        qd_score_offset=0.0,
        epsilon=0.0,
        dtype=np.float64,
    )
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(-1.3, 1.3, 1500), rng.uniform(-1.0, 6.0, 1500)])
    compare(Story(axes=AXES), oracle, points, rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_regions_around_centroids_are_those_of_pyribs_cvt_archive(seed: int) -> None:
    """With our centroids, in a unit box, at points that both count exactly."""
    box = (Axis("first", 0.0, 1.0, 1), Axis("second", 0.0, 1.0, 1))
    oracle = ribs_archives().CVTArchive(
        solution_dim=1,
        ranges=[(axis.low, axis.high) for axis in box],
        qd_score_offset=0.0,
        dtype=np.float64,
        centroids=make_centroids(2, 200) / UNITS,
    )
    rng = np.random.default_rng(seed)
    compare(Story(axes=box, cells="cvt", centroids=200), oracle, rng.integers(0, UNITS, (1500, 2)) / UNITS, rng)


def compare(story: Story, oracle: Any, points: np.ndarray, rng: np.random.Generator) -> None:
    """Both get the same stream of programs. Quarters make ties: in both archives the earlier program keeps its place."""
    fitnesses = np.round(rng.normal(size=1500) * 4) / 4
    expected = {0: "NOT_ADDED", 1: "IMPROVED", 2: "NEW"}
    for number, (point, fitness) in enumerate(zip(points, fitnesses, strict=True)):
        found = oracle.add_single([float(number)], float(fitness), point)
        assert index_of(story, point) == int(oracle.index_of_single(point))
        assert arrive(story, number, float(fitness), point) == expected[int(found["status"])]
    assert held_by(story) == {
        int(cell): int(solution[0])
        for cell, solution in zip(oracle.data("index"), oracle.data("solution"), strict=True)
    }
    assert story.archive.stats().elites == oracle.stats.num_elites
    assert story.archive.stats().coverage == pytest.approx(oracle.stats.coverage)
    assert story.archive.stats().qd_score == pytest.approx(oracle.stats.qd_score)
    assert story.archive.best.fitness == pytest.approx(oracle.stats.obj_max)


def index_of(story: Story, point: np.ndarray) -> int:
    return story.archive.grid.cell(point.tolist())


def arrive(story: Story, number: int, fitness: float, point: np.ndarray) -> str:
    from_axes = {"first": float(point[0]), "second": float(point[1])}
    return story.propose_at(number, fitness, from_axes).name


def held_by(story: Story) -> dict[int, int]:
    """The number of the program in each occupied cell."""
    return {elite.cell: elite.record - 1 for elite in story.archive.elites(0)}
