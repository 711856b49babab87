"""Facts about exact intervals and tests, against values that can be computed by hand."""

import math

import pytest

from evolve.statistics import clopper_pearson, mcnemar


def limits(hits: int, count: int) -> tuple[float, float]:
    """Of the exact interval."""
    interval = clopper_pearson(hits, count)
    return interval.low, interval.high


@pytest.mark.parametrize(("hits", "count"), [(0, 10), (10, 10)])
def test_the_ends_have_their_closed_form(hits: int, count: int) -> None:
    """Where nothing or everything is hit, one bound is a root."""
    low, high = limits(hits, count)
    inner = 0.025 ** (1 / count)
    assert (low, high) == pytest.approx((0.0, 1 - inner) if hits == 0 else (inner, 1.0), abs=1e-12)


def test_an_interval_is_the_published_one() -> None:
    """81 of 263: the 95 % interval in Agresti and Coull's and many other texts' tables is 0.2527 to 0.3676."""
    assert limits(81, 263) == pytest.approx((0.2527, 0.3676), abs=5e-5)


@pytest.mark.parametrize(("share", "count"), [(0.9, 40), (0.98, 60)])
def test_an_interval_holds_the_share_as_often_as_it_says(share: float, count: int) -> None:
    """Summed over all counts with their exact probabilities, at least 95 %."""
    covered = 0.0
    for hits in range(count + 1):
        low, high = limits(hits, count)
        if low <= share <= high:
            covered += math.comb(count, hits) * share**hits * (1 - share) ** (count - hits)
    assert covered >= 0.95


@pytest.mark.parametrize(("better", "worse", "p"), [(0, 0, 1.0), (5, 5, 1.0), (6, 0, 2 / 64), (8, 1, 20 / 512)])
def test_mcnemars_test_counts_the_tails_of_fair_coins(better: int, worse: int, p: float) -> None:
    """Rows on which both are right, or neither, say nothing."""
    assert mcnemar(better, worse) == pytest.approx(p, abs=1e-12)
    assert mcnemar(worse, better) == pytest.approx(p, abs=1e-12)


def test_thousands_of_rows_are_no_trouble() -> None:
    """Neither overflow nor underflow."""
    assert mcnemar(3000, 3000) == pytest.approx(1.0)
    low, high = limits(9990, 10000)
    assert 0.998 < low < 0.999 < high < 0.9996
