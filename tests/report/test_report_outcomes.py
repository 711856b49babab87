"""Outcomes, yields of operators and models, and failures of one kind together."""

from pathlib import Path

import pytest

from evolve import report
from evolve.report import outcomes
from evolve.types import Outcome
from tests.written import Written, short_campaign


def test_a_tally_counts_outcomes_and_what_operators_brought(tmp_path):
    """A screened proposal was not evaluated; an improvement is better than each parent."""
    with short_campaign(tmp_path) as campaign:
        tally = report.tally(campaign)
    assert tally.outcomes == {"ok": 4, "screened": 1, "crashed": 1}
    assert (report.Yield("tune_literals", proposals=5, evaluated=4, improved=2),) == tally.operators
    assert tally.operators[0].share == 0.5


def test_an_operator_that_brought_nothing_has_a_share_of_zero():
    """Without a division by zero."""
    assert report.Yield("idle", 3, 0, 0).share == 0.0


def test_a_fresh_campaign_has_an_empty_tally(tmp_path):
    """No outcome, no operator."""
    with Written(tmp_path).campaign as campaign:
        assert report.tally(campaign) == report.Tally({}, (), (), 0)


def test_a_tally_counts_what_models_brought(tmp_path):
    """By whatever operator; what was made without one is nobody's."""
    written = Written(tmp_path)
    written.seed()
    written.proposal(6.0, operator="diff", model="small")
    written.proposal(5.5, operator="rewrite", model="small")
    written.proposal(4.0, operator="diff", model="large")
    written.proposal(7.0)
    with written.campaign as campaign:
        tally = report.tally(campaign)
    assert tally.models == (report.Yield("small", 2, 2, 2), report.Yield("large", 1, 1, 0))
    assert [line.name for line in tally.operators] == ["diff", "rewrite", "tune_literals"]
    assert report.Yield("idle", 3, 0, 0).share == 0.0


def test_a_reflection_is_counted_by_itself(tmp_path):
    """It is no failure of its operator, of its model, or of screening."""
    written = Written(tmp_path)
    written.seed()
    written.proposal(6.0, operator="diff", model="small")
    written.reflection("small", "Sort first.", "Keep it short.")
    with written.campaign as campaign:
        tally, page = report.tally(campaign), report.overview(campaign)
    assert tally.outcomes == {"ok": 2}
    assert tally.models == (report.Yield("small", 1, 1, 1),)
    assert [line.name for line in tally.operators] == ["diff"]
    assert (page.notes, page.screened, report.lessons_learnt(campaign)) == (1, 0, 2)


def failed(home: Path) -> Written:
    """Three overlaps, a timeout with the same words, an empty feedback, a screened one."""
    written = Written(home)
    written.seed(5.0)
    written.failure(Outcome.WRONG, "\ncircle 3 overlaps 14 by 0.5e-3\ndetails")
    written.failure(Outcome.WRONG, "circle 1 overlaps 2 by 1")
    written.failure(Outcome.TIMED_OUT, "circle 1 overlaps 2 by 1")
    written.failure(Outcome.CRASHED, "")
    written.failure(Outcome.SCREENED, "duplicate")
    written.failure(Outcome.WRONG, "circle 5 overlaps 6 by -2,000.5")
    return written


def test_failures_are_grouped_by_outcome_and_first_line_whatever_the_numbers(tmp_path: Path) -> None:
    """The newest message and the newest examples first; the most frequent class first."""
    with failed(tmp_path).campaign as campaign:
        assert report.failures(campaign) == (
            report.FailureClass("wrong", "circle 5 overlaps 6 by -2,000.5", 3, (7, 3, 2)),
            report.FailureClass("crashed", "", 1, (5,)),
            report.FailureClass("timed_out", "circle 1 overlaps 2 by 1", 1, (4,)),
        )
        assert report.failures(campaign, screened=True)[1] == report.FailureClass("screened", "duplicate", 1, (6,))


def test_only_the_last_ones_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are."""
    monkeypatch.setattr(outcomes, "LOOKED_AT", 2)
    with failed(tmp_path).campaign as campaign:
        assert [(one.outcome, one.count) for one in report.failures(campaign)] == [("wrong", 1), ("crashed", 1)]


def test_many_that_were_screened_hide_none_that_were_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind has its last ones."""
    monkeypatch.setattr(outcomes, "LOOKED_AT", 2)
    written = failed(tmp_path)
    for _ in range(3):
        written.failure(Outcome.SCREENED, "duplicate")
    with written.campaign as campaign:
        assert [(one.outcome, one.count) for one in report.failures(campaign, screened=True)] == [
            ("screened", 2),
            ("wrong", 1),
            ("crashed", 1),
        ]


def test_what_an_earlier_version_of_the_task_has_judged_is_left_out(tmp_path: Path) -> None:
    """It may be no failure any more."""
    with failed(tmp_path).campaign as campaign:
        campaign.state.columns.since = 6
        assert [one.examples for one in report.failures(campaign)] == [(7,)]


@pytest.mark.parametrize(
    ("feedback", "message"),
    [
        (
            'Traceback (most recent call last):\n  File "seed.py", line 8\n    f(x)\n    ^^^^\nValueError: no 7\n',
            "ValueError: no 7",
        ),
        (
            "Traceback (most recent call last):\n  f(x)\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\n  g(x)\nTypeError: two\nlines",
            "TypeError: two",
        ),
        ("Traceback (most recent call last):\n  cut", "Traceback (most recent call last):"),
    ],
)
def test_of_a_traceback_the_error_tells(tmp_path: Path, feedback: str, message: str) -> None:
    written = Written(tmp_path)
    written.seed(5.0)
    written.failure(Outcome.CRASHED, feedback)
    with written.campaign as campaign:
        assert [found.message for found in report.failures(campaign)] == [message]
