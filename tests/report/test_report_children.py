"""Children of a program."""

from pathlib import Path

import pytest

from evolve import report
from evolve.types import Outcome, StoreError
from tests.written import Written


def family(home: Path) -> Written:
    """1 has the children 2, 3, 4 (a crash) and 5 (screened); 2 has 6 and 7; 7 has 8, the best."""
    written = Written(home)
    written.seed(5.0)
    written.proposal(6.0)
    written.proposal(4.0)
    written.failure(Outcome.CRASHED, "no")
    written.failure(Outcome.SCREENED, "duplicate")
    written.proposal(3.0, parents=(2,))
    written.proposal(6.5, parents=(2, 3))
    written.proposal(9.0, parents=(7,))
    return written


def test_children_are_the_proposals_that_had_it_as_a_parent(tmp_path: Path) -> None:
    """First parents or others; some of them, where a limit is given."""
    with family(tmp_path).campaign as campaign:
        assert [line.id for line in report.children(campaign, 1)] == [2, 3, 4, 5]
        assert [line.id for line in report.children(campaign, 3)] == [7]
        assert [line.id for line in report.children(campaign, 1, 2)] == [2, 3]
        assert report.children(campaign, 5) == ()
        assert report.offspring(campaign, 1) == report.OffspringCounts(4, failed=1, screened=1)
        assert report.offspring(campaign, 5) == report.OffspringCounts(0, 0, 0)
        with pytest.raises(StoreError, match="no record 9"):
            report.children(campaign, 9)


def test_children_of_a_later_judging_are_the_programs(tmp_path: Path) -> None:
    """Strategies name the record that evaluated a program last."""
    written = family(tmp_path)
    written.again(2, 6.0)
    written.proposal(6.2, parents=(9,))
    with written.campaign as campaign:
        assert [line.id for line in report.children(campaign, 2)] == [6, 7, 10]
        assert [line.id for line in report.children(campaign, 9)] == [6, 7, 10]
        assert [step.record for step in report.lineage(campaign, 10)] == [1, 9, 10]
