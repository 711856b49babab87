"""Tests and probabilities that only ask which value is the larger."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve_compare.ranks import holm, midranks, rank_sum, signed_rank


def test_equal_values_share_a_rank():
    """From 1, in the order in which they were given."""
    assert midranks([3.0, 1.0, 3.0, -math.inf]) == [3.5, 2.0, 3.5, 1.0]


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0], 2 / 32),
        ([1.0, 2.0, 3.0, 4.0, 5.0, math.inf], 2 / 64),
        # Of the 8 choices of signs for the ranks 1, 2, 3 the sums 4 and 6 are as far from zero as 4, on both sides.
        ([-1.0, 2.0, 3.0], 4 / 8),
        ([0.0, 0.0], 1.0),
        ([5.0, 0.0, 0.0], 1.0),
        ([], 1.0),
    ],
)
def test_paired_differences_are_tested_exactly(differences, expected):
    """A difference of zero tells nothing."""
    assert signed_rank(differences) == expected


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_all_signs_of_the_ranks_are_counted(differences):
    nonzero = [one for one in differences if one]
    ranks = midranks([abs(one) for one in nonzero])
    observed = abs(sum(math.copysign(rank, one) for rank, one in zip(ranks, nonzero, strict=True)))
    sums = [
        sum(sign * rank for sign, rank in zip(signs, ranks, strict=True))
        for signs in itertools.product((1, -1), repeat=len(ranks))
    ]
    assert signed_rank(differences) == sum(abs(one) >= observed for one in sums) / len(sums)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], 2 / 70),
        ([1.0, 3.0], [2.0, 4.0], 4 / 6),
        ([1.0, 1.0], [1.0, 1.0, 1.0], 1.0),
        ([-math.inf], [0.0, 0.0, 0.0], 1 / 4),
    ],
)
def test_unpaired_values_are_tested_exactly(first, second, expected):
    """Equal values included."""
    assert rank_sum(first, second) == pytest.approx(expected)


def test_a_test_of_unpaired_values_is_symmetric():
    """Whoever is named first."""
    first, second = [1.0, 2.0, 2.0, 9.0], [2.0, 3.0, 4.0]
    assert rank_sum(first, second) == rank_sum(second, first)


def test_both_sides_have_values():
    """An empty one is an error."""
    with pytest.raises(ValueError, match="of each side"):
        rank_sum([], [1.0])


def test_several_tests_raise_each_others_probabilities():
    """By Holm's steps: three times the least, twice the next, never less than the one before, and at most 1."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.6, 0.5]) == (1.0, 1.0)
    assert holm([]) == ()
