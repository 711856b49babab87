"""The bootstrap of few values."""

import math

import numpy as np
import pytest

from evolve_compare.bootstrap import bootstrap, bootstrap_difference, draw_places, interquartile_mean, limits, tail


def middle(*values: float) -> float:
    """The interquartile mean."""
    return float(interquartile_mean(np.array(values)))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((7.0,), 7.0),
        ((1.0, 3.0), 2.0),
        ((0.0, 1.0, 10.0), (0 + 4 * 1 + 10) / 6),
        ((9.0, 2.0, 4.0, -5.0), 3.0),
        (tuple(range(8)), 3.5),
        # Of ten the half in the middle is the third's half, the fourth to the seventh, and the eighth's half.
        ((0, 0, 2, 3, 4, 5, 6, 7, 90, 90), (0.5 * 2 + 3 + 4 + 5 + 6 + 0.5 * 7) / 5),
    ],
)
def test_the_middle_is_the_mean_of_the_half_in_the_middle(values, expected):
    """In whatever order the values come."""
    assert middle(*values) == pytest.approx(expected, abs=1e-15)


def test_what_failed_moves_the_middle_only_when_it_is_in_it():
    """Two of ten do not, and three make it fail as well; as many above as below cancel."""
    assert middle(-math.inf, -math.inf, *range(8)) == pytest.approx((0.5 * 0 + 1 + 2 + 3 + 4 + 0.5 * 5) / 5)
    assert middle(-math.inf, -math.inf, -math.inf, *range(7)) == -math.inf
    assert middle(-math.inf, math.inf) == 0.0
    with pytest.raises(ValueError, match="no mean of no values"):
        middle()


def test_equal_values_have_an_interval_without_width():
    """There is nothing to draw from."""
    found = bootstrap([2.0] * 5, np.random.default_rng(0))
    assert (found.estimate, found.low, found.high, found.count, found.standard_error) == (2.0, 2.0, 2.0, 5, 0.0)


def test_equal_generators_give_equal_intervals():
    """And the estimate is in it."""
    values = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0]
    first, second = (bootstrap(values, np.random.default_rng(3)) for _ in range(2))
    assert first == second
    assert first.low < first.estimate == middle(*values) < first.high


def test_an_infinite_value_makes_a_limit_infinite_and_never_nan():
    """Of three values one of which failed."""
    found = bootstrap([-math.inf, 1.0, 2.0], np.random.default_rng(0))
    assert (found.low, found.high, found.standard_error) == (-math.inf, 2.0, math.inf)


def test_two_arms_that_failed_alike_do_not_differ():
    """Their difference is 0, not NaN."""
    found = bootstrap_difference([-math.inf] * 3, [-math.inf] * 3, np.random.default_rng(0))
    assert (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)


def test_a_difference_is_that_of_both_middles():
    """The smaller side counts."""
    found = bootstrap_difference([5.0, 6.0, 7.0, 8.0], [1.0, 2.0], np.random.default_rng(0))
    assert found.estimate == 5.0
    assert found.count == 2
    assert 3.0 <= found.low <= 5.0 <= found.high <= 7.0


def test_limits_are_order_statistics_of_the_draws():
    """Of 1,000 draws from ten values the ninth from each end, for their share outside is 0.0085."""
    assert tail(10) == pytest.approx(0.00855, abs=5e-5)
    assert limits(np.arange(1000.0), 10) == (8.0, 991.0)


@pytest.mark.parametrize("values", [[1.0], [], [1.0, math.nan]])
def test_an_interval_needs_two_numbers(values):
    """One value says nothing about its own spread."""
    with pytest.raises(ValueError, match="needs at least two numbers"):
        bootstrap(values, np.random.default_rng(0))


def test_a_level_is_a_share():
    """Between 0 and 1."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        tail(5, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["exponential", "normal", "student"])
@pytest.mark.parametrize("count", [5, 10, 20])
def test_intervals_enclose_the_truth_about_as_often_as_they_say(shape, count):
    """In 90 to 98 of 100 cases, whether values are symmetric, skewed or have long tails."""
    rng = np.random.default_rng(count)
    draw = {
        "exponential": lambda size: rng.exponential(size=size),
        "normal": lambda size: rng.normal(size=size),
        "student": lambda size: rng.standard_t(3, size=size),
    }[shape]
    truth = float(interquartile_mean(draw(1_000_001)))
    hits = 0
    for _ in range(1_500):
        values = draw(count)
        low, high = limits(np.sort(interquartile_mean(values[draw_places(count, rng, 1_000)])), count)
        hits += low <= truth <= high
    assert 0.9 <= hits / 1_500 <= 0.985
