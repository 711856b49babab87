"""Failures of one kind together."""

from pathlib import Path

import pytest

from evolve import report
from evolve.report import failing
from evolve.types import Outcome
from tests.written import Written


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
    monkeypatch.setattr(failing, "LOOKED_AT", 2)
    with failed(tmp_path).campaign as campaign:
        assert [(one.outcome, one.count) for one in report.failures(campaign)] == [("wrong", 1), ("crashed", 1)]


def test_many_that_were_screened_hide_none_that_were_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind has its last ones."""
    monkeypatch.setattr(failing, "LOOKED_AT", 2)
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
