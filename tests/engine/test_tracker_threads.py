"""A tracker has a thread and a queue: what it does not take, nobody waits for, and all of it is counted."""

import asyncio
import logging
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.engine.trackers import TrackerThread, printing_aside
from evolve.types import TrackedEnd, TrackedRecord, TrackedRun
from tests.tracked import END, RECORD, a_run


class Slow:
    """Takes a record when it may."""

    def __init__(self) -> None:
        self.taken: list[object] = []
        self.began, self.may = threading.Event(), threading.Event()

    def campaign_begun(self, run: TrackedRun) -> None:
        self.taken.append("begun")

    def record_settled(self, record: TrackedRecord) -> None:
        self.began.set()
        self.may.wait()
        self.taken.append(record.record)

    def campaign_ended(self, end: TrackedEnd) -> None:
        self.taken.append("ended")


def test_what_is_too_much_for_a_slow_tracker_is_dropped_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Said once; the rest comes in order, each once, and then the end, however full the queue is."""
    slow = Slow()
    tracking = TrackerThread("slow", slow, behind=3)
    tracking.begin(a_run(tmp_path))
    tracking.record(replace(RECORD, record=1))
    assert slow.began.wait(60.0)
    with caplog.at_level(logging.WARNING, "evolve"):
        for number in range(2, 8):
            tracking.record(replace(RECORD, record=number))
    tracking.end(END)
    slow.may.set()
    assert tracking.wait(60.0)
    assert slow.taken == ["begun", 1, 2, 3, 4, "ended"]
    assert tracking.describe() == "slow: 4 records, 3 records dropped while 3 waited for it"
    assert caplog.messages == [
        "tracker 'slow' is slow: 3 records wait for it. What settles until it has caught up is not told it; the log has all"
    ]


def test_nothing_waits_for_a_tracker_that_has_failed(tmp_path: Path) -> None:
    """What it printed does not matter, and it is told neither what waited nor the end."""
    slow = Slow()
    slow.campaign_begun = lambda run: 1 / 0  # type: ignore[assignment, return-value]
    tracking = TrackerThread("bad", slow)
    tracking.begin(a_run(tmp_path))
    assert tracking.wait(60.0)
    tracking.record(RECORD)
    tracking.end(END)
    tracking.give_up()
    assert slow.taken == []
    assert tracking.describe() == (
        "bad: 0 records, then it failed: plugin 'bad' raised ZeroDivisionError: division by zero. Do: mend the plugin, or do without it"
    )


def test_the_end_itself_may_hang(tmp_path: Path) -> None:
    """All records were taken, and that is said."""
    hangs, may, one = threading.Event(), threading.Event(), Slow()
    one.may.set()
    one.campaign_ended = lambda end: (hangs.set(), may.wait())  # type: ignore[assignment, return-value]
    tracking = TrackerThread("late", one)
    tracking.begin(a_run(tmp_path))
    tracking.record(RECORD)
    tracking.end(END)
    assert hangs.wait(60.0)
    assert not tracking.wait(0.0)
    tracking.give_up()
    assert tracking.describe() == "late: 1 record, and it has not taken the end of the run in time"
    may.set()
    assert tracking.wait(60.0)


@pytest.mark.parametrize("failure", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit])
def test_a_tracker_that_wants_to_end_more_than_itself_has_failed(tmp_path: Path, failure: type[BaseException]) -> None:
    """What it calls may end so, and that is told as any other failure."""

    def end(run: TrackedRun) -> None:
        raise failure

    one = Slow()
    one.campaign_begun = end  # type: ignore[method-assign]
    tracking = TrackerThread("bad", one)
    tracking.begin(a_run(tmp_path))
    assert tracking.wait(60.0)
    assert tracking.describe() == f"bad: 0 records, then it failed: {failure.__name__}"


def test_what_a_tracker_prints_after_nobody_waits_for_it_is_not_on_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last record of `--json` comes then."""
    may, one = threading.Event(), Slow()
    one.campaign_begun = lambda run: (may.wait(), print("late"))  # type: ignore[assignment, return-value]
    tracking = TrackerThread("late", one)
    with printing_aside():
        tracking.begin(a_run(tmp_path))
        tracking.end(END)
    print("a record")
    may.set()
    assert tracking.wait(60.0)
    assert capsys.readouterr() == ("a record\n", "late\n")
