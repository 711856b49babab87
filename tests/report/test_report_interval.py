"""Limits of a best program's fitness."""

from dataclasses import replace

import pytest

from evolve import report
from evolve.report.best import limits
from evolve.types import Fitness
from tests.written import Written, number_task


@pytest.fixture
def best(tmp_path):
    written = Written(tmp_path, number_task(deterministic=False, fitness=Fitness("nearness")))
    written.seed(5.0)
    written.proposal(7.0, standard_error=0.1)
    with written.campaign as campaign:
        return report.best(campaign)


def test_few_measurements_make_wide_limits(best):
    """Of one, beside the prior degrees of freedom, Student's quantile is larger than the normal one."""
    found = limits(replace(best, standard_error=0.1, measurements=1))
    more = limits(replace(best, standard_error=0.1, measurements=1000))
    assert found.level == 0.95
    assert (found.low + found.high) / 2 == pytest.approx(7.0)
    assert more.high - more.low == pytest.approx(2 * 1.96 * 0.1, rel=0.01)
    assert found.high - found.low > more.high - more.low


def test_what_is_proven_or_not_known_has_none(best):
    assert limits(replace(best, standard_error=0.1, certified=True)) is None
    assert limits(replace(best, standard_error=None)) is None
