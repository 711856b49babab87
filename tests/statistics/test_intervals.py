"""Facts about intervals of medians."""

import itertools
import math
import statistics
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from evolve.statistics import Interval, combine, log_ratios, median_interval, zero_floor

samples = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=24)
levels = st.sampled_from([0.5, 0.8, 0.95, 0.99, 0.9999])


def normal(rng: Generator, count: int) -> list[float]:
    """The usual noise."""
    return rng.standard_normal(count).tolist()


def spiked(rng: Generator, count: int) -> list[float]:
    """One time in ten is thirty times as far off: another process ran."""
    return (rng.standard_normal(count) * np.where(rng.random(count) < 0.1, 30.0, 1.0)).tolist()


def long_tailed(rng: Generator, count: int) -> list[float]:
    """Student's t with two degrees of freedom, which has no variance."""
    return rng.standard_t(2, count).tolist()


def test_a_log_ratio_is_positive_where_the_candidate_is_faster() -> None:
    assert log_ratios([2.0, 1.0, 1.0], [1.0, 2.0, 1.0]) == [math.log(2), -math.log(2), 0.0]


@pytest.mark.parametrize(
    ("baseline", "candidate", "complaint"),
    [
        ([1.0], [1.0, 2.0], "pairs have two sides, got 1 and 2 times"),
        ([1.0], [0.0], "positive and finite, got 0.0"),
        ([-1.0], [1.0], "got -1.0"),
        ([math.nan], [1.0], "got nan"),
        ([1.0], [math.inf], "got inf"),
    ],
)
def test_impossible_times_are_errors(baseline: list[float], candidate: list[float], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        log_ratios(baseline, candidate)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan], [1.0, math.inf]])
def test_an_interval_needs_two_finite_values(values: list[float]) -> None:
    with pytest.raises(ValueError, match="at least two finite values"):
        median_interval(values)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_a_level_is_a_probability(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        median_interval([1.0, 2.0], level)


@given(samples, levels)
@settings(max_examples=100, deadline=None)
def test_an_interval_contains_its_estimate_which_is_the_median(values: list[float], level: float) -> None:
    found = median_interval(values, level)
    assert found.estimate == pytest.approx(statistics.median(values))
    assert found.low <= found.estimate <= found.high
    assert (found.count, found.level) == (len(values), level)


@given(samples, levels, st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_of_the_values_makes_no_difference(values: list[float], level: float, random: object) -> None:
    mixed = list(values)
    random.shuffle(mixed)
    assert median_interval(mixed, level) == median_interval(values, level)


@given(samples, levels)
@settings(max_examples=50, deadline=None)
def test_where_the_sides_change_places_the_interval_is_turned_over(values: list[float], level: float) -> None:
    found, turned = median_interval(values, level), median_interval([-value for value in values], level)
    assert (turned.low, turned.high) == (pytest.approx(-found.high, abs=1e-9), pytest.approx(-found.low, abs=1e-9))


@given(samples)
@settings(max_examples=50, deadline=None)
def test_more_certainty_takes_more_room(values: list[float]) -> None:
    narrow, wide = median_interval(values, 0.8), median_interval(values, 0.95)
    assert wide.high - wide.low >= narrow.high - narrow.low - 1e-9


def test_ten_values_have_the_interpolated_limits_of_the_paper() -> None:
    """From rank 2 (1 - 22/1024) towards rank 3 (1 - 112/1024)."""
    excess = (1002 / 1024 - 0.95) / (90 / 1024)
    share = 8 * excess / (2 + 6 * excess)
    found = median_interval([float(value) for value in range(1, 11)])
    assert (found.low, found.high) == (pytest.approx(2 + share), pytest.approx(9 - share))


def test_five_values_have_the_limits_of_students_t() -> None:
    """Between the smallest and the largest of five the median lies in 94 % of cases, which is not enough."""
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    half = 2.776445105 * math.sqrt(2.5 / 5)
    found = median_interval(values)
    assert (found.low, found.high) == (pytest.approx(3 - half), pytest.approx(3 + half))


@pytest.mark.parametrize("values", [[0.0, 1.0, 2.0], [3.0, 1.0, 4.0, 1.5, 9.0]])
def test_the_standard_error_is_that_of_all_bootstraps(values: list[float]) -> None:
    medians = [statistics.median(drawn) for drawn in itertools.product(values, repeat=len(values))]
    assert median_interval(values).standard_error == pytest.approx(statistics.pstdev(medians))


@pytest.mark.parametrize("count", [40, 500])
def test_the_standard_error_of_many_values_is_that_of_the_theory(count: int) -> None:
    """The square root of pi / 2n, for a normal distribution."""
    rng = np.random.default_rng(count)
    errors = [median_interval(normal(rng, count)).standard_error for _ in range(200)]
    assert statistics.median(errors) == pytest.approx(math.sqrt(math.pi / 2 / count), rel=0.15)


@pytest.mark.parametrize("noise", [normal, spiked, long_tailed])
@pytest.mark.parametrize("count", [2, 4, 7, 10, 40])
def test_an_interval_contains_the_truth_as_often_as_it_says(
    noise: Callable[[Generator, int], list[float]], count: int
) -> None:
    rng = np.random.default_rng(count)
    found = [median_interval(noise(rng, count)) for _ in range(1000)]
    assert sum(one.low <= 0.0 <= one.high for one in found) >= 930


def test_equal_values_leave_no_doubt() -> None:
    assert median_interval([0.25] * 7) == Interval(0.25, 0.25, 0.25, 7, 0.0)


def test_values_may_be_an_array_of_any_precision() -> None:
    """What is found is plain floats all the same, which every report can hold."""
    found = median_interval(np.array([0.5, 0.25, 1.0], dtype=np.float32))
    assert found == median_interval([0.5, 0.25, 1.0])
    assert {type(one) for one in (found.estimate, found.low, found.high, found.standard_error)} == {float}


def test_a_combined_interval_is_that_of_the_one_that_there_is() -> None:
    one = median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    found = combine([one])
    assert (found.estimate, found.standard_error, found.count) == (one.estimate, one.standard_error, one.count)


def test_intervals_count_by_their_values_and_not_by_their_luck() -> None:
    lucky, many = Interval(1.0, 1.0, 1.0, 4, 0.0), Interval(0.0, -0.1, 0.1, 36, 0.05)
    assert combine([lucky, many]).estimate == pytest.approx(0.1)


def test_intervals_that_agree_are_surer_together() -> None:
    one = Interval(1.0, 0.9, 1.1, 10, 0.05)
    found = combine([one] * 4)
    assert (found.count, found.standard_error) == (40, pytest.approx(0.025))


def test_runs_that_disagree_more_than_their_errors_explain_make_a_larger_error() -> None:
    first, second = Interval(1.0, 0.99, 1.01, 10, 0.005), Interval(1.5, 1.49, 1.51, 10, 0.005)
    assert combine([first, second]).standard_error > 0.1


def test_nothing_cannot_be_combined() -> None:
    with pytest.raises(ValueError, match="no intervals"):
        combine([])


def test_a_combined_interval_contains_the_truth_where_each_run_is_off_by_its_own() -> None:
    rng, held = np.random.default_rng(5), 0
    for _ in range(500):
        runs = [rng.normal(0, 0.5) + rng.standard_normal(10) for _ in range(6)]
        found = combine([median_interval(run.tolist()) for run in runs])
        held += found.low <= 0.0 <= found.high
    assert held >= 0.9 * 500


def test_the_floor_is_above_the_median_of_one_more_run_of_the_same_program() -> None:
    rng, above = np.random.default_rng(6), 0
    for _ in range(500):
        *runs, last = (normal(rng, 10) for _ in range(6))
        above += abs(statistics.median(last)) <= zero_floor([statistics.median(run) for run in runs])
    assert 0.92 * 500 <= above <= 0.98 * 500


def test_a_bias_between_the_sides_is_part_of_the_floor() -> None:
    assert zero_floor([0.02, 0.02]) > 0.02


def test_one_run_gives_no_floor() -> None:
    with pytest.raises(ValueError, match="at least two runs of a program against itself, got 1"):
        zero_floor([0.1])
