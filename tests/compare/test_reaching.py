"""When values were reached."""

from dataclasses import replace

import numpy as np

from evolve.compare.arms import Group
from evolve.compare.reaching import Target, reached, targets_of
from evolve.types import Fitness
from tests.compare.runs import FITNESS, failed, run

TARGET = Target(5.0, "asked for")


def found(*courses, end: float = 100.0, fitness: Fitness = FITNESS, level: float = 0.95):
    """One arm and the target 5."""
    group = Group(
        "a", tuple(replace(one, circumstances=replace(one.circumstances, fitness=fitness)) for one in courses)
    )
    return reached(group, TARGET, end, "programs", np.random.default_rng(0), level)


def test_the_middle_campaign_is_told():
    """The first program that is as good counts, not a later one."""
    one = found(run(0, (20, 5.0), (30, 9.0)), run(1, (40, 6.0)), run(2, (10, 4.0), (70, 5.0)))
    assert (one.reached, one.campaigns, one.median, one.low, one.high) == (3, 3, 40.0, 20.0, 70.0)


def test_what_never_came_to_it_takes_longer_than_was_given():
    """Of four the larger one of the middle two is not known, so that all that is known is that it is more."""
    one = found(run(0, (20, 5.0)), run(1, (40, 6.0)), run(2, (10, 4.0)), failed(3))
    assert (one.reached, one.median, one.low, one.high) == (2, None, 20.0, None)


def test_limits_are_those_of_the_level_that_is_asked_for():
    """A lower one gives narrower limits."""
    courses = [run(seed, (10 * (seed + 1), 5.0)) for seed in range(9)]
    narrow, wide = found(*courses, level=0.5), found(*courses)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_what_came_after_the_end_did_not_come():
    """All have the same budget."""
    assert found(run(0, (60, 5.0)), end=50.0).reached == 0


def test_a_fitness_to_minimise_is_reached_from_above():
    """5 is reached by 4.9."""
    one = found(run(0, (0, 9.0), (30, 4.9)), fitness=Fitness("excess", "min", 3))
    assert (one.reached, one.median) == (1, 30.0)


def test_targets_are_what_is_asked_for_what_is_known_and_what_campaigns_came_to():
    """An anchor that nobody came to is none; each value once."""
    targets = targets_of([1.0, 2.0, 3.0, 4.0], [(2.5, "Somebody"), (9.0, "Else")], [7.0], FITNESS)
    assert targets == (
        Target(2.5, "Somebody"),
        Target(3.0, "half of all campaigns came to it"),
        Target(4.0, "a tenth of all campaigns came to it"),
        Target(7.0, "asked for"),
    )


def test_without_a_value_there_is_no_target():
    """All failed."""
    assert targets_of([-np.inf, -np.inf], [(2.5, "Somebody")], [], FITNESS) == ()
