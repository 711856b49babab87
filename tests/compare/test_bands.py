"""Bands, and how much of the way was gone."""

import math

import numpy as np
import pytest

from evolve.compare.arms import Group
from evolve.compare.bands import Scale, area, area_interval, band, places, scale
from evolve.types import Fitness
from tests.compare.runs import CIRCUMSTANCES, FITNESS, arm, failed, run


def made(*courses, fitness: Fitness = FITNESS):
    """A band of one arm at 0, 50 and 100 programs."""
    at = np.array([0.0, 50.0, 100.0])
    return band(Group("a", courses), at, "programs", fitness, np.random.default_rng(0), 0.95)


def test_a_band_is_the_middle_with_its_limits():
    """Four campaigns: the mean of the second and the third, between the least and the largest."""
    found = made(*arm("a", [1.0, 2.0, 4.0, 9.0]).courses)
    assert found.places == (0.0, 50.0, 100.0)
    assert found.middle == (0.0, 3.0, 3.0)
    assert (found.low[0], found.high[0]) == (0.0, 0.0)
    assert (found.low[2], found.high[2]) == (1.0, 9.0)


def test_of_a_fitness_to_minimise_the_low_limit_is_below():
    """As the user reads it."""
    courses = [run(seed, (0, 9.0), (50, value)) for seed, value in enumerate((1.0, 2.0, 4.0, 8.0))]
    found = made(*courses, fitness=Fitness("excess", "min", 3))
    assert found.middle == (9.0, 3.0, 3.0)
    assert (found.low[2], found.high[2]) == (1.0, 8.0)


def test_one_campaign_has_a_line_and_no_band():
    """There is nothing to draw from."""
    found = made(run(0, (50, 3.0)))
    assert found.low == found.middle == found.high == (0.0, 3.0, 3.0)


def test_where_most_have_no_value_there_is_no_band():
    """Three of four campaigns failed."""
    assert made(run(0, (50, 3.0)), failed(1), failed(2), failed(3)).places == ()


def test_a_band_has_a_place_wherever_something_changes():
    """From the beginning to the end, and none after it; of very many some."""
    at = places([run(0, (33, 1.0), (70, 2.0)), run(1, (200, 3.0))], 100.0, "programs").tolist()
    assert (at[0], at[-1]) == (0.0, 100.0)
    assert {33.0, 70.0} <= set(at)
    assert len(places([run(0, *((place, float(place)) for place in range(1000)))], 1000.0, "programs")) <= 160


def test_the_scale_goes_from_the_seed_to_the_best_that_is_known():
    """An anchor, or what a campaign here has found where that is better."""
    courses = [run(0, (50, 3.0)), run(1, (50, 4.0))]
    assert scale(courses, [3.0, 4.0], FITNESS) == Scale(0.0, 20.0)
    assert scale(courses, [3.0, 25.0], FITNESS) == Scale(0.0, 25.0)


@pytest.mark.parametrize("seed_value", [None, 30.0])
def test_without_a_seed_that_counts_or_anything_better_there_is_no_scale(seed_value):
    """The seed program misses a constraint, or nobody knows better."""
    assert scale([run(0, (50, 3.0), seed_value=seed_value)], [3.0], FITNESS) is None
    assert CIRCUMSTANCES.anchors[0][0] == 20.0


def test_the_area_is_the_average_share_of_the_way():
    """Half of the way from program 50 to 80 and three quarters from then on, of 100: (30 * 0.5 + 20 * 0.75) / 100."""
    one = run(0, (0, -3.0), (50, 10.0), (80, 15.0))
    assert area(one, 100.0, "programs", FITNESS, Scale(0.0, 20.0)) == pytest.approx(0.3)
    assert area(failed(0), 100.0, "programs", FITNESS, Scale(0.0, 20.0)) == 0.0
    assert area(one, 0.0, "programs", FITNESS, Scale(0.0, 20.0)) == 0.0


def test_the_area_of_an_arm_has_an_interval_where_it_has_two_campaigns():
    """One has none."""
    assert area_interval([0.3], np.random.default_rng(0), 0.95) is None
    found = area_interval([0.2, 0.4], np.random.default_rng(0), 0.95)
    assert found is not None
    assert math.isclose(found.estimate, 0.3)
