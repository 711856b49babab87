"""One arm against another."""

import math

import numpy as np
import pytest

from evolve_compare.significance import (
    FinalValues,
    compare_with_baseline,
    enough_seeds,
    smallest_probability,
    subtract_pairs,
)


def values(name: str, *found: float, seeds: tuple[int, ...] | None = None) -> FinalValues:
    """An arm."""
    return FinalValues(name, seeds or tuple(range(len(found))), found)


def duel(first: FinalValues, second: FinalValues):
    """A single one."""
    return compare_with_baseline([first, second], second, np.random.default_rng(0), 0.95)[0]


def test_equal_seeds_make_pairs_in_whatever_order_they_come():
    """By the seed, not by the place."""
    found = subtract_pairs(values("a", 1.0, 2.0, seeds=(5, 3)), values("b", 10.0, 20.0, seeds=(3, 5)))
    assert found == [2.0 - 10.0, 1.0 - 20.0]


@pytest.mark.parametrize("seeds", [(0, 1, 2), (0, 2), (0, 0)])
def test_other_seeds_make_no_pairs(seeds):
    """Also where a seed comes twice."""
    assert subtract_pairs(values("a", 1.0, 2.0), values("b", *([1.0] * len(seeds)), seeds=seeds)) == []


def test_a_clear_difference_is_found():
    """Ten seeds, each of them better."""
    found = duel(
        values("a", *(10.0 + seed for seed in range(10))), values("b", *(1.0 + seed / 2 for seed in range(10)))
    )
    assert (found.verdict, found.paired, found.count) == ("better", True, 10)
    assert found.probability == found.corrected == 2 / 1024
    # The differences are 9, 9.5, ... 13.5, and the mean of their half in the middle is 11.25.
    assert found.difference is not None
    assert found.difference.estimate == pytest.approx(11.25)
    assert 9.0 < found.difference.low < 11.25 < found.difference.high < 13.5


def test_the_other_way_round_it_is_worse():
    """As clearly."""
    first, second = values("a", *map(float, range(8))), values("b", *(seed + 5.0 for seed in range(8)))
    assert duel(first, second).verdict == "worse"


def test_without_a_common_seed_all_meet_all():
    """The test is of ranks, and the difference that of both middles."""
    first = values("a", *(10.0 + seed for seed in range(6)), seeds=(10, 11, 12, 13, 14, 15))
    found = duel(first, values("b", *map(float, range(6))))
    assert (found.paired, found.verdict, found.probability) == (False, "better", 2 / 924)
    assert found.difference is not None
    assert found.difference.estimate == pytest.approx(10.0)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_few_seeds_conclude_nothing_however_far_apart_the_arms_are(count):
    """Six are the least of one comparison: 2 of 32 is more than one in twenty."""
    found = duel(values("a", *([100.0] * count)), values("b", *([0.0] * count)))
    assert (found.verdict, found.enough) == ("too few", 6)


def test_one_campaign_each_has_no_interval():
    """It is shown, and concludes nothing."""
    found = duel(values("a", 2.0), values("b", 1.0))
    assert (found.difference, found.verdict) == (None, "too few")


def test_equal_arms_are_equal():
    """All campaigns of both ended with one value."""
    found = duel(values("a", *([3.0] * 8)), values("b", *([3.0] * 8)))
    assert (found.verdict, found.probability) == ("equal", 1.0)


def test_a_difference_within_the_noise_is_none():
    noise = np.random.default_rng(1)
    found = duel(values("a", *noise.normal(size=10)), values("b", *noise.normal(size=10)))
    assert found.verdict == "no difference"
    assert found.difference is not None
    assert found.difference.low < 0.0 < found.difference.high


def test_more_comparisons_ask_for_more():
    """What is found of one alone is not found among many."""
    better = [float(seed + 1) for seed in range(6)]
    arms = [values("a", *better), *(values(f"o{place}", *([0.0, -1.0] * 3)) for place in range(4))]
    base = values("z", *([0.0] * 6))
    alone = compare_with_baseline([arms[0], base], base, np.random.default_rng(0), 0.95)[0]
    among = compare_with_baseline([*arms, base], base, np.random.default_rng(0), 0.95)[0]
    assert (alone.verdict, among.verdict) == ("better", "too few")
    assert (alone.probability, among.probability, among.corrected) == (1 / 32, 1 / 32, 5 / 32)
    assert enough_seeds(True, 1, 0.05) == 6
    assert enough_seeds(True, 3, 0.05) == 7
    assert enough_seeds(False, 1, 0.05) == 4


def test_the_least_probability_is_that_of_all_on_one_side():
    """Paired by signs, unpaired by choices."""
    assert smallest_probability(True, (10, 10)) == 2 / 1024
    assert smallest_probability(False, (4, 4)) == 2 / 70


def test_failed_campaigns_are_worse_than_all_others():
    """Four of eight that failed make the difference infinite, and are seen by the test."""
    found = duel(values("a", *([-math.inf] * 8)), values("b", *map(float, range(8))))
    assert found.verdict == "worse"
    assert found.difference is not None
    assert found.difference.estimate == -math.inf


@pytest.mark.slow
def test_equal_distributions_give_a_difference_in_one_of_twenty_comparisons_at_most():
    """Of all arms of a comparison together: four against a baseline, ten seeds."""
    rng, wrong = np.random.default_rng(7), 0
    for _ in range(300):
        arms = [values(name, *rng.exponential(size=10)) for name in "abcde"]
        found = compare_with_baseline(arms, arms[0], rng, 0.95)
        wrong += any(one.verdict in ("better", "worse") for one in found)
    assert wrong / 300 <= 0.07
