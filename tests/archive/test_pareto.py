"""Pareto front and hypervolume."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from archive_makers import Story, make_program
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.pareto import Front, hypervolume
from evolve.types import Evaluation, Insertion, Objective, Origin

AIMS = (Objective("length"), Objective("speed"))


def aiming(kind: str = "deterministic", aims: tuple[Objective, ...] = AIMS, **more: object) -> Story:
    """A seed at (1, 1), and a program at each of four points."""
    story = Story(kind, objectives=aims, **more)
    story.seed("seed", 0.0, objectives=[1.0, 1.0])
    for name, point in {"a": (2, 5), "b": (4, 4), "c": (5, 2), "d": (3, 3)}.items():
        story.propose(name, 1.0, objectives=[float(value) for value in point])
    return story


def front(story: Story) -> list[str]:
    return [elite.program.removeprefix("program-") for elite in story.archive.front()]


def test_the_front_is_listed_by_the_first_objective_with_programs_that_hold_no_place() -> None:
    story = aiming()
    assert front(story) == ["c", "b", "a"]
    assert story.names() == ["a"]
    assert story.archive.front()[1].objectives == {"length": 4.0, "speed": 4.0}


def test_the_hypervolume_begins_at_the_seed() -> None:
    assert aiming().archive.pareto.hypervolume() == 1 * 4 + 2 * 3 + 1 * 1


def test_or_where_the_task_says_in_the_users_direction() -> None:
    aims = (Objective("length", reference=2.0), Objective("seconds", "min", reference=-3.0))
    assert aiming(aims=aims).archive.pareto.hypervolume() == 2 * 1


def test_without_objectives_there_is_no_front() -> None:
    story = Story()
    story.seed("a", 1.0)
    assert (story.archive.front(), story.archive.pareto.hypervolume()) == ([], None)


def test_before_the_seed_there_is_no_hypervolume_unless_the_task_says_where_it_begins() -> None:
    assert Story(objectives=AIMS).archive.pareto.hypervolume() is None
    assert Story(objectives=(Objective("length", reference=0.0),)).archive.pareto.hypervolume() == 0.0


def test_who_misses_a_constraint_is_not_on_the_front() -> None:
    story = aiming()
    story.propose("cheat", 9.0, objectives=[9.0, 9.0], violation=0.01)
    assert front(story) == ["c", "b", "a"]


@pytest.mark.parametrize("kind", ["deterministic", "noisy", "certifies"])
def test_a_newcomer_that_is_certified_brings_its_objectives(kind: str) -> None:
    """By the judging that it comes with; a certificate of a known program says nothing of them, and what is evaluated later counts as ever."""
    story = Story(kind, objectives=AIMS)
    story.propose("proven", 2.0, objectives=[4.0, 4.0], certified=True)
    story.propose("plain", 1.0, objectives=[5.0, 2.0])
    assert front(story) == ["plain", "proven"]
    assert story.archive.front()[1].objectives == {"length": 4.0, "speed": 4.0}
    story.measure("proven", 1.5, objectives=[3.0, 6.0])
    assert story.archive.front()[1].objectives == {"length": 3.0, "speed": 6.0}
    story.machine("elsewhere")
    assert "proven" in front(story)


def test_a_newcomer_without_objectives_has_no_place() -> None:
    """Certified or not: nobody could say where on the front it is."""
    story = aiming()
    for certified in (True, False):
        evaluation = Evaluation.ok(9.0, descriptors={"size": 0.0, "walls": 0.0})
        placement = story.settle(Origin("proposal", 9), f"bare-{certified}", replace(evaluation, certified=certified))
        assert placement.insertion is Insertion.NOT_ADDED
    assert front(story) == ["c", "b", "a"]


def test_when_a_member_is_quarantined_those_that_it_alone_covered_come_back() -> None:
    story = aiming()
    story.rule("quarantine", "b")
    assert front(story) == ["c", "d", "a"]
    story.rule("release", "b")
    assert front(story) == ["c", "b", "a"]


def test_a_member_that_fails_when_it_is_measured_again_leaves() -> None:
    story = aiming()
    story.measure("c", None)
    assert front(story) == ["b", "a"]


def test_a_noisy_member_that_measures_worse_gives_way() -> None:
    story = aiming("noisy")
    story.measure("b", 1.0, objectives=[0.0, 4.0])
    assert front(story) == ["c", "d", "a"]
    assert make_program("b") not in {elite.program for elite in story.archive.front()}
    story.measure("b", 1.0, objectives=[8.0, 5.5])
    assert front(story) == ["c", "b", "a"]
    assert story.archive.front()[1].objectives == {"length": 4.0, "speed": pytest.approx(4.5)}


def test_on_another_machine_the_front_is_that_of_what_is_known_there() -> None:
    story = aiming("noisy")
    story.machine("there")
    story.measure("c", 1.0, objectives=[0.0, 0.0])
    assert front(story) == ["b", "a"]
    story.machine("here")
    assert front(story) == ["c", "b", "a"]


def test_a_large_front_can_lose_every_member() -> None:
    story = Story(objectives=AIMS)
    angles = np.linspace(0, np.pi / 2, 150)
    for shell in (2.0, 1.0):
        for number, angle in enumerate(angles):
            point = [shell * float(np.cos(angle)), shell * float(np.sin(angle))]
            story.propose(f"{shell}/{number}", 1.0, objectives=point)
    for number in range(150):
        story.rule("quarantine", f"2.0/{number}")
    assert front(story) == [f"1.0/{number}" for number in range(150)]


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
def test_a_large_front_is_what_brute_force_finds(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    rows = np.abs(rng.normal(size=(768, dimensions)))
    rows = rows / np.linalg.norm(rows, axis=1)[:, None] * rng.uniform(0.97, 1.0, (len(rows), 1))
    points = {number: tuple(row) for number, row in enumerate(rows.tolist())}
    front = Front(dimensions)
    for program, point in points.items():
        front.offer(program, point)
    left = brute(points)
    assert list(front) == left
    assert len(left) > 128
    for program in left[::2]:
        assert front.remove(program).tolist() == list(points[program])
    assert list(front) == left[1::2]
    assert len(front) == len(left[1::2])


def test_of_equal_points_the_earlier_program_stays_also_when_it_comes_later() -> None:
    front = Front(2)
    assert [front.offer(7, [1.0, 2.0]), front.offer(9, [1.0, 2.0]), front.offer(3, [1.0, 2.0])] == [7, 7, 3]
    assert list(front) == [3]
    assert (3 in front, 7 in front) == (True, False)


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
