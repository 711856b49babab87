"""Facts about one island's cells and ranking."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.contests import Island

ranks = st.tuples(st.sampled_from([0.0, 0.5]), st.sampled_from([-2.0, -1.5, -1.0, 0.0]))
places = st.lists(st.tuples(st.integers(0, 3), ranks), max_size=25)


@given(places, st.data())
@settings(max_examples=100, deadline=None)
def test_cells_and_ranking_stay_sorted_with_the_earlier_first_among_equals(
    held: list[tuple[int, tuple[float, float]]], data: st.DataObject
) -> None:
    island = Island()
    for program in data.draw(st.permutations(range(len(held)))):
        island.put(program, *held[program])
    gone = data.draw(st.sets(st.sampled_from(range(len(held))))) if held else set()
    for program in gone:
        island.take(program, held[program][0])
    left = sorted((rank, program) for program, (_, rank) in enumerate(held) if program not in gone)
    assert island.ranking == left
    assert island.best() == (left[0][1] if left else None)
    for cell in range(4):
        assert island.cells.get(cell, []) == [entry for entry in left if held[entry[1]][0] == cell]
    assert [program for program in range(len(held)) if program in island] == sorted(program for _, program in left)


def test_the_weakest_of_a_cell_is_its_last() -> None:
    island = Island()
    for program, value in enumerate((1.0, 3.0, 2.0)):
        island.put(program, 0, (0.0, -value))
    assert island.weakest(0) == 0


def test_a_cleared_island_forgets_all_but_its_count() -> None:
    island = Island()
    island.join(3, 0)
    island.put(3, 0, (0.0, -1.0))
    island.waiting[0] = 4
    island.settled = 9
    island.clear(since=5)
    assert island.state() == {"cells": [], "waiting": [], "members": [], "settled": 9, "since": 5}
    assert island.best() is None
