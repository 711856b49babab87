"""Records as lines, measurements of one, and lineages."""

import pytest

from evolve import report
from evolve.types import StoreError
from tests.written import Written, number_task, short_campaign


@pytest.fixture
def campaign(tmp_path):
    """Six records."""
    with short_campaign(tmp_path) as campaign:
        yield campaign


def test_records_come_fittest_first_and_failures_last(campaign):
    """Failures have no number that could be sorted as 0."""
    assert [line.id for line in report.page(campaign, report.Wanted()).lines] == [6, 2, 1, 3, 4, 5]
    assert [line.id for line in report.page(campaign, report.Wanted(), limit=2).lines] == [6, 2]


def test_a_line_says_where_a_record_comes_from_and_what_its_score_rests_on(campaign):
    """Isolation and trust stand beside the fitness."""
    line = report.record_line(campaign, campaign.log.settled(6))
    assert (line.name, line.kind, line.operator, line.parents) == ("number/6", "proposal", "tune_literals", (2,))
    assert (line.outcome, line.fitness, line.isolation, line.trust) == ("ok", 6.5, "reduced", "witnessed")
    assert line.insertion in ("NEW", "IMPROVED")


def test_a_failure_has_no_fitness(campaign):
    """It has an outcome."""
    line = report.record_line(campaign, campaign.log.settled(4))
    assert (line.outcome, line.fitness, line.insertion) == ("crashed", None, "NOT_ADDED")


@pytest.mark.parametrize("number", [0, 7])
def test_a_record_that_there_is_not_is_an_error_with_the_range(campaign, number):
    """What, got, do this."""
    with pytest.raises(StoreError, match=f"no record {number}: it has 1 to 6. Try: `evolve program list number --all`"):
        report.settled(campaign, number)


def test_an_empty_campaign_says_that_it_has_no_records(tmp_path):
    """Not `1 to 0`."""
    with Written(tmp_path).campaign as campaign, pytest.raises(StoreError, match="it has none yet"):
        report.settled(campaign, 1)


def test_a_lineage_begins_with_the_seed_and_tells_each_change(campaign):
    """Fitness of a step minus that of its first parent."""
    steps = report.lineage(campaign, 6)
    assert [(step.record, step.change) for step in steps] == [(1, None), (2, 1.0), (6, 0.5)]
    assert [step.operator for step in steps] == ["", "tune_literals", "tune_literals"]


def test_a_failure_in_a_lineage_changes_nothing_that_could_be_counted(campaign):
    """Its change is None."""
    assert (report.lineage(campaign, 4)[-1].outcome, report.lineage(campaign, 4)[-1].change) == ("crashed", None)


def test_the_lineage_of_a_measurement_is_that_of_what_it_measures(tmp_path):
    """It made nothing."""
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed()
    written.certificate(1, 5.0)
    with written.campaign as campaign:
        assert [step.record for step in report.lineage(campaign, 2)] == [1]


def test_measurements_are_the_later_records_of_the_same_program(tmp_path):
    """Whatever they were asked for."""
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed()
    written.proposal(6.0)
    written.certificate(1, 5.0)
    with written.campaign as campaign:
        assert [line.id for line in report.measurements(campaign, 1)] == [3]
        assert report.measurements(campaign, 2) == ()
        line = report.measurements(campaign, 1)[0]
        assert (line.about, line.why, line.certified) == (1, "certify", True)


def test_a_screened_record_was_never_measured(campaign):
    """It has no program to be evaluated again."""
    assert report.measurements(campaign, 5) == ()
