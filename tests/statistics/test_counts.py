"""Exact limits of a share, and the exact test of disagreements."""

import pytest

from evolve.statistics import clopper_pearson, mcnemar
from evolve.statistics.beta import binomial_at_most


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


def test_an_interval_is_the_published_one() -> None:
    """Agresti and Coull's and many other texts' tables have 81 of 263."""
    found = clopper_pearson(81, 263)
    assert (found.low, found.high) == pytest.approx((0.2527, 0.3676), abs=5e-5)


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
    ("first", "second", "expected"),
    [(0, 0, 1.0), (5, 5, 1.0), (1, 9, 22 / 1024), (9, 1, 22 / 1024), (0, 6, 2 / 64), (8, 1, 20 / 512)],
)
def test_disagreements_are_counted_like_throws_of_a_coin(first: int, second: int, expected: float) -> None:
    assert mcnemar(first, second) == pytest.approx(expected)


def test_thousands_of_rows_neither_overflow_nor_underflow() -> None:
    assert mcnemar(3000, 3000) == pytest.approx(1.0)
    found = clopper_pearson(9990, 10000)
    assert 0.998 < found.low < 0.999 < found.high < 0.9996


def test_a_negative_count_of_disagreements_is_an_error() -> None:
    with pytest.raises(ValueError, match="not negative, got -1 and 3"):
        mcnemar(-1, 3)
