"""The other parents of a crossover, and inspirations."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from evolve.archive import Archive, ArchiveSettings, Elite
from evolve.protocols import View
from evolve.strategies import sample_in_proportion, sample_partners
from evolve.types import Axis, Evaluation, Origin, Program, Record


def archive(places: Sequence[tuple[int, float, float]], capacity: int = 1) -> Archive:
    """Two islands with a program for each (island, fitness, x); x names the cell, from 0 to 9."""
    settings = ArchiveSettings(islands=2, capacity=capacity, migrate_every=0)
    made = Archive([Axis("x", 0.0, 10.0, 10)], settings, deterministic=True, certifies=False)
    for number, (island, fitness, x) in enumerate(places, 1):
        program = Program({"a.py": f"x = {number}"})
        evaluation = Evaluation.ok(fitness, descriptors={"x": x})
        made.settle(Record(number, Origin("proposal", number, island=island), program.id, evaluation))
    return made


def best(made: Archive, island: int = 0) -> Elite:
    found = made.best_elite(island)
    assert found is not None
    return found


def view_of(made: Archive) -> View:
    return cast(View, SimpleNamespace(archive=made))


ROW = [(0, float(x), x + 0.5) for x in range(10)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_partners_differ_from_the_parent_and_from_one_another(count: int) -> None:
    made = archive(ROW)
    for seed in range(50):
        found = sample_partners(made, best(made), count, np.random.default_rng(seed))
        assert len({best(made).program, *(elite.program for elite in found)}) == 1 + count


def test_partners_come_from_other_cells_where_there_are_some() -> None:
    """Three programs share the parent's cell, and the last of four stands in another: by its rank alone it would be drawn every seventh time."""
    made = archive([(0, 9.0, 1.5), (0, 8.0, 1.5), (0, 7.0, 1.5), (0, 1.0, 5.5)], capacity=4)
    cells = [sample_partners(made, best(made), 1, np.random.default_rng(seed))[0].cell for seed in range(60)]
    assert cells.count(5) > 18


def test_where_an_island_has_one_program_the_best_of_another_comes() -> None:
    made = archive([(0, 1.0, 0.5), (1, 2.0, 3.5), (1, 3.0, 4.5)])
    (found,) = sample_partners(made, best(made), 1, np.random.default_rng(0))
    assert (found.island, found.fitness) == (1, 3.0)


def test_there_is_no_partner_where_there_is_one_program_alone() -> None:
    made = archive([(0, 1.0, 0.5)])
    assert sample_partners(made, best(made), 1, np.random.default_rng(0)) == []


def test_nobody_is_drawn_where_nobody_is_wanted() -> None:
    made, rng = archive(ROW), np.random.default_rng(0)
    assert sample_partners(made, best(made), 0, rng) == []
    assert rng.random() == np.random.default_rng(0).random()


def test_elites_are_drawn_in_proportion_to_weights() -> None:
    elites = archive(ROW).elites(0)
    weights = [3.0 if elite.fitness == 9.0 else 1.0 if elite.fitness == 0.0 else 0.0 for elite in elites]
    drawn = [elite.fitness for elite in sample_in_proportion(elites, weights, 4000, np.random.default_rng(0))]
    assert set(drawn) == {9.0, 0.0}
    assert drawn.count(9.0) == pytest.approx(3000, rel=0.05)
    assert sample_in_proportion([], [], 2, np.random.default_rng(0)) == []
