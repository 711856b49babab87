"""pyribs' GridArchive as an oracle: the same stream gives the same elites and figures."""

import warnings

import numpy as np
import pytest
from archive_makers import Story

from evolve.types import Axis

AXES = (Axis("first", -1.0, 1.0, 12), Axis("second", 0.0, 5.0, 7))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_deterministic_island_is_pyribs_grid_archive(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archives = pytest.importorskip("ribs.archives")
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(-1.3, 1.3, 1500), rng.uniform(-1.0, 6.0, 1500)])
    # Quarters make ties: in both archives the earlier program keeps its place.
    fitnesses = np.round(rng.normal(size=1500) * 4) / 4
    oracle = archives.GridArchive(
        solution_dim=1,
        dims=[axis.bins for axis in AXES],
        ranges=[(axis.low, axis.high) for axis in AXES],
        qd_score_offset=0.0,
        epsilon=0.0,
        dtype=np.float64,
    )
    story = Story(axes=AXES)
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
    assert story.archive.coverage == pytest.approx(oracle.stats.coverage)
    assert story.archive.qd_score == pytest.approx(oracle.stats.qd_score)
    assert story.archive.best.fitness == pytest.approx(oracle.stats.obj_max)


def index_of(story: Story, point: np.ndarray) -> int:
    return story.archive.index_of({"first": float(point[0]), "second": float(point[1])})


def arrive(story: Story, number: int, fitness: float, point: np.ndarray) -> str:
    from_axes = {"first": float(point[0]), "second": float(point[1])}
    return story.propose_at(number, fitness, from_axes).name


def held_by(story: Story) -> dict[int, int]:
    """The number of the program in each occupied cell."""
    return {elite.cell: elite.record - 1 for elite in story.archive.elites(0)}
