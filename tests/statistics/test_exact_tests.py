"""Facts about tests of few observations."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.statistics import clopper_pearson, mcnemar, sign_flip, tie
from evolve.statistics.beta import binomial_at_most

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Eighths of an inch between cross- and self-fertilised maize; Fisher counted all signs of it (The Design of Experiments, section 21)."""


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 10, 0.0, 1 - 0.025**0.1),
        (10, 10, 0.025**0.1, 1.0),
        (5, 10, 0.1870860284, 0.8129139716),
        (1, 1, 0.025, 1.0),
    ],
)
def test_exact_limits_of_a_share(successes: int, trials: int, low: float, high: float) -> None:
    found = clopper_pearson(successes, trials)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))
    assert (found.estimate, found.count) == (successes / trials, trials)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.987])
def test_exact_limits_hold_for_every_share(share: float) -> None:
    """Summed over all that can happen in 40 trials."""
    within = 0.0
    for successes in range(41):
        found = clopper_pearson(successes, 40)
        chance = binomial_at_most(successes, 40, share) - binomial_at_most(successes - 1, 40, share)
        within += chance * (found.low <= share <= found.high)
    assert within >= 0.95


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5), (0, 0)])
def test_counts_that_cannot_be_are_errors(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="between 0 and the number of trials"):
        clopper_pearson(successes, trials)


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(0, 0, 1.0), (5, 5, 1.0), (1, 9, 22 / 1024), (9, 1, 22 / 1024), (0, 6, 2 / 64)]
)
def test_disagreements_are_counted_like_throws_of_a_coin(first: int, second: int, expected: float) -> None:
    assert mcnemar(first, second) == pytest.approx(expected)


def test_a_negative_count_of_disagreements_is_an_error() -> None:
    with pytest.raises(ValueError, match="not negative, got -1 and 3"):
        mcnemar(-1, 3)


def test_fishers_count_of_darwins_maize() -> None:
    """863 of 32,768 arrangements of signs reach the sum of 314, and as many reach minus that."""
    assert sign_flip(DARWIN) == 2 * 863 / 32768


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=10))
@settings(max_examples=100, deadline=None)
def test_all_signs_are_counted(differences: list[int]) -> None:
    least = abs(sum(differences))
    sums = [
        sum(sign * one for sign, one in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    assert sign_flip(differences) == sum(abs(one) >= least for one in sums) / len(sums)


def test_drawn_signs_come_near_to_all_of_them() -> None:
    """The same evidence with two more differences that say nothing."""
    drawn = sign_flip([*DARWIN, 0, 0])
    assert drawn == pytest.approx(2 * 863 / 32768, abs=0.006)
    assert drawn == sign_flip([*DARWIN, 0, 0])


def test_drawn_signs_never_prove_the_impossible() -> None:
    assert sign_flip([1.0] * 200) == 1 / 20_001


def test_a_permutation_test_errs_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    found = [sign_flip(rng.standard_t(2, 8).tolist()) for _ in range(400)]
    assert 20 <= sum(one <= 0.1 for one in found) <= 60


@pytest.mark.parametrize("differences", [[], [math.nan], [1.0, math.inf]])
def test_no_test_of_nothing(differences: list[float]) -> None:
    for function in (sign_flip, tie):
        with pytest.raises(ValueError, match="finite differences, got"):
            function(differences)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([5.0], True),  # one says nothing of the noise
        ([0.0, 0.0, 0.0], True),
        ([0.1, 0.1, 0.1], False),
        ([1.0, 3.0], False),  # exactly 2 standard errors are not below
        ([-1.0, 1.0, 0.5, 0.2], True),
        ([1.0, 1.2, 0.9, 1.1], False),
        ([-1.0, -1.2, -0.9, -1.1], False),
    ],
)
def test_a_difference_below_two_standard_errors_is_a_tie(differences: list[float], expected: bool) -> None:
    assert tie(differences) is expected
