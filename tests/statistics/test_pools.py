"""Facts about pooled measurements."""

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.statistics import PRIOR_DEGREES, Pool, error_of_difference, noise_floor, pool_values

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


@given(numbers)
@settings(max_examples=100, deadline=None)
def test_a_pool_has_the_mean_and_spread_of_its_values(values: list[float]) -> None:
    pool = pool_values(values)
    assert pool.count == len(values)
    assert pool.mean == pytest.approx(statistics.fmean(values), abs=1e-6)
    assert pool.squares == pytest.approx(statistics.pvariance(values) * len(values), rel=1e-6, abs=1e-3)


@given(numbers, numbers)
@settings(max_examples=100, deadline=None)
def test_merged_pools_equal_the_pool_of_all_values(first: list[float], second: list[float]) -> None:
    merged, whole = pool_values(first).merge(pool_values(second)), pool_values(first + second)
    assert merged.count == whole.count
    assert merged.mean == pytest.approx(whole.mean, abs=1e-6)
    assert merged.squares == pytest.approx(whole.squares, rel=1e-6, abs=1e-3)


def test_an_empty_pool_changes_nothing() -> None:
    assert Pool().merge(Pool()) == Pool()
    assert pool_values([1.0, 3.0]).merge(Pool()) == pool_values([1.0, 3.0])
    assert Pool().merge(pool_values([1.0, 3.0])) == pool_values([1.0, 3.0])


@pytest.mark.parametrize(
    ("values", "noise", "expected"),
    [
        ([], 0.1, None),
        ([1.0], None, None),
        ([1.0], 0.0, 0.0),
        ([1.0], 0.2, 0.2),
        ([1.0, 3.0], None, 1.0),
        ([1.0, 1.0], 0.2, 0.2 * math.sqrt(PRIOR_DEGREES / (PRIOR_DEGREES + 1) / 2)),
    ],
)
def test_the_standard_error_needs_noise_or_two_values(
    values: list[float], noise: float | None, expected: float | None
) -> None:
    assert pool_values(values).standard_error(noise) == (None if expected is None else pytest.approx(expected))


def test_two_values_that_agree_by_luck_are_no_proof_of_precision() -> None:
    error = pool_values([1.0, 1.0]).standard_error(0.5)
    assert error is not None
    assert error > 0.3


def test_errors_that_came_with_the_values_count() -> None:
    assert Pool().add(1.0, 0.3).standard_error(None) == pytest.approx(0.3)
    assert Pool().add(1.0, 0.3).standard_error(0.5) == pytest.approx(0.5)


def test_the_noise_floor_is_the_standard_deviation_of_one_measurement() -> None:
    assert noise_floor([1.0, 2.0, 4.0]) == pytest.approx(statistics.stdev([1.0, 2.0, 4.0]))


def test_one_measurement_gives_no_noise_floor() -> None:
    with pytest.raises(ValueError, match="at least two measurements of one program, got 1"):
        noise_floor([1.0])


def test_errors_of_two_means_add_in_squares() -> None:
    assert error_of_difference(3.0, 4.0) == 5.0
