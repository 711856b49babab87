"""Settled records: lines, lineages, relatives, and everything that a score rests on."""

from pathlib import Path

import pytest

from evolve import report, wording
from evolve.cli.record import format_record
from evolve.report.records import OffspringCounts, measurements
from evolve.types import ConfigError, Outcome, Ruled
from tests.written import Written, aimed, aiming_task, number_task, short_campaign


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
    with pytest.raises(
        ConfigError, match=f"no record {number}: it has 1 to 6. Try: `evolve program list number --all`"
    ):
        report.settled(campaign, number)


def test_an_empty_campaign_says_that_it_has_no_records(tmp_path):
    """Not `1 to 0`."""
    with Written(tmp_path).campaign as campaign, pytest.raises(ConfigError, match="it has none yet"):
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
        assert [line.id for line in measurements(campaign, 1)] == [3]
        assert measurements(campaign, 2) == ()
        line = measurements(campaign, 1)[0]
        assert (line.about, line.why, line.certified) == (1, "certify", True)


def test_a_screened_record_was_never_measured(campaign):
    """It has no program to be evaluated again."""
    assert measurements(campaign, 5) == ()


def test_a_success_with_its_texts_and_children(tmp_path: Path) -> None:
    """Artifacts are told by their sizes."""
    with short_campaign(tmp_path) as campaign:
        shown = report.whole(campaign, 2)
    assert (shown.record.id, shown.feedback, dict(shown.metrics), dict(shown.artifacts)) == (
        2,
        "",
        {"distance": 0.5},
        {"numbers": 5},
    )
    assert shown.files == {"seed.py": "def value():\n    return 6.0\n"}
    assert (shown.offspring, shown.ruling, shown.certificate) == (OffspringCounts(1, 0, 0), None, "")


def test_a_failure_has_its_feedback_and_no_estimate(tmp_path: Path) -> None:
    """And no program where none was evaluated."""
    with short_campaign(tmp_path) as campaign:
        crash, screened = report.whole(campaign, 4), report.whole(campaign, 5)
        with pytest.raises(ConfigError, match="no record 7"):
            report.whole(campaign, 7)
    assert (crash.feedback, crash.estimate, crash.record.outcome) == ("it divided by zero", None, "crashed")
    assert (screened.files, screened.record.program) == ({}, None)


def test_what_was_measured_again_is_told_with_the_certificate(tmp_path: Path) -> None:
    """The latest that proves the value."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    written.certificate(2, 6.0)
    with written.campaign as campaign:
        shown = report.whole(campaign, 2)
    assert (shown.certificate, [line.id for line in shown.judged_again]) == ("number/3", [3])


def test_a_noisy_elite_has_an_estimate_with_its_isolation_and_trust(tmp_path: Path) -> None:
    """What all judgings say together."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.again(1, 6.0)
    with written.campaign as campaign:
        estimate = report.whole(campaign, 1).estimate
    assert estimate is not None
    assert (estimate.fitness, estimate.measurements, estimate.isolation, estimate.trust) == (
        5.5,
        2,
        "reduced",
        "witnessed",
    )


def test_a_quarantined_program_says_by_whom_and_why(tmp_path: Path) -> None:
    """And which constraints are missed."""
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1.0, 10.0))
    cheat = written.proposal(9.0, **aimed(1.0, 10.0, 300.0))
    written.failure(Outcome.WRONG, "no")
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Ruled("quarantine", cheat.record.program, "person", "it cheats"))
        shown = report.whole(campaign, 2)
    assert (shown.ruling.by, shown.ruling.why) == ("person", "it cheats")
    assert [(one.metric, one.violation) for one in shown.missed] == [("memory", 0.5)]


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
        assert report.whole(campaign, 1).offspring == OffspringCounts(4, failed=1, screened=1)
        assert report.whole(campaign, 5).offspring == OffspringCounts(0, 0, 0)
        with pytest.raises(ConfigError, match="no record 9"):
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


def test_a_screened_record_rests_on_no_evaluation(tmp_path: Path) -> None:
    with short_campaign(tmp_path) as campaign:
        lines = [report.record_line(campaign, campaign.log.settled(number)) for number in (4, 5)]
        told = dict(format_record(campaign, report.whole(campaign, 5)))
    assert [wording.evidence(line) for line in lines] == [("witnessed", "reduced"), ("-", "-")]
    assert "took" not in told
    assert "isolation" not in told
