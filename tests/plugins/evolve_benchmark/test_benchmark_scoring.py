"""Facts about scores, their means and their standard error."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evolve_benchmark.scoring import mean, score, standard_error, suite_mean


def test_a_score_is_how_many_times_as_good_as_the_reference():
    """Whichever values are better, and exactly where both are exact."""
    assert score(Fraction(3), Fraction(4), "larger") == Fraction(3, 4)
    assert score(Fraction(3), Fraction(4), "smaller") == Fraction(4, 3)
    assert score(0.5, Fraction(2), "larger") == 0.25


def test_the_means_of_two_numbers():
    """Of fractions, the arithmetic and the harmonic one are fractions."""
    scores = [Fraction(1), Fraction(4)]
    assert mean("arithmetic", scores) == Fraction(5, 2)
    assert mean("harmonic", scores) == Fraction(8, 5)
    assert mean("geometric", scores) == pytest.approx(2.0)


@pytest.mark.parametrize(("how", "most"), [("harmonic", 1.02), ("geometric", 2.0), ("arithmetic", 2e6)])
def test_how_far_one_huge_score_of_fifty_lifts_a_mean(how, most):
    """The harmonic mean hardly moves; the arithmetic one is worthless without `at_most`."""
    lifted = mean(how, [1.0] * 49 + [1e8])
    assert most / 2 < lifted < most * 1.01


def test_every_kind_of_a_suite_weighs_the_same():
    """However many instances it has."""
    assert suite_mean("arithmetic", [[1.0] * 9, [3.0]]) == 2.0


@pytest.mark.parametrize("how", ["arithmetic", "geometric", "harmonic"])
def test_the_standard_error_is_the_spread_of_the_mean(how):
    """Of scores that are drawn again and again, in two kinds of different size and spread."""
    rng = np.random.default_rng(1)
    draws = [[np.exp(rng.normal(0, 0.1, 40)).tolist(), np.exp(rng.normal(0.3, 0.3, 15)).tolist()] for _ in range(300)]
    spread = np.std([float(suite_mean(how, kinds)) for kinds in draws])
    told = np.mean([standard_error(how, kinds) for kinds in draws])
    assert told == pytest.approx(spread, rel=0.15)


def test_of_equal_weights_the_standard_error_is_the_usual_one():
    """Standard deviation over the root of the count."""
    scores = [1.0, 2.0, 4.0]
    assert standard_error("arithmetic", [scores]) == pytest.approx(np.std(scores, ddof=1) / math.sqrt(3))


def test_one_instance_of_a_kind_has_no_standard_error():
    """Nothing tells how far another one would lie."""
    assert standard_error("harmonic", [[1.0, 2.0], [1.0]]) is None
