"""Facts about the non-dominated points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.front import BLOCK, Front


def covers(front: dict[int, tuple[float, ...]], one: int, other: int) -> bool:
    no_smaller = all(mine >= yours for mine, yours in zip(front[one], front[other], strict=True))
    return no_smaller and (front[one] != front[other] or one < other)


def brute(points: dict[int, tuple[float, ...]]) -> list[int]:
    return [one for one in sorted(points) if not any(covers(points, other, one) for other in points)]


@given(st.integers(1, 3), st.data())
@settings(max_examples=100, deadline=None)
def test_the_members_are_those_that_nobody_covers_in_whatever_order_they_come(
    dimensions: int, data: st.DataObject
) -> None:
    """Small numbers, so that many points are equal."""
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 4).map(float)] * dimensions), max_size=25))
    points = dict(enumerate(rows))
    front = Front(dimensions)
    for program in data.draw(st.permutations(range(len(rows)))):
        member = front.offer(program, points[program])
        assert member == program or covers(points, member, program)
    assert list(front) == brute(points)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_front_of_many_blocks_is_what_brute_force_finds(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    rows = np.abs(rng.normal(size=(12 * BLOCK, dimensions)))
    rows = rows / np.linalg.norm(rows, axis=1)[:, None] * rng.uniform(0.97, 1.0, (len(rows), 1))
    points = {number: tuple(row) for number, row in enumerate(rows.tolist())}
    front = Front(dimensions)
    for program, point in points.items():
        front.offer(program, point)
    left = brute(points)
    assert list(front) == left
    assert len(left) > 2 * BLOCK
    for program in left[::2]:
        assert front.remove(program).tolist() == list(points[program])
    assert list(front) == left[1::2]
    assert len(front) == len(left[1::2])


def test_of_equal_points_the_earlier_program_stays_also_when_it_comes_later() -> None:
    front = Front(2)
    assert [front.offer(7, [1.0, 2.0]), front.offer(9, [1.0, 2.0]), front.offer(3, [1.0, 2.0])] == [7, 7, 3]
    assert list(front) == [3]
    assert (3 in front, 7 in front) == (True, False)
