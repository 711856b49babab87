"""Trackers are told of what is durable, can change nothing, and are switched off when they fail."""

import asyncio
import logging
import threading
from types import SimpleNamespace

import pytest
from loop_fakes import FakeExecutor, Seen

from evolve.config import TrackersSection, settings_from
from evolve.engine import run
from evolve.engine.trackers import TrackerThread, make_trackers, track
from evolve.plugins import load
from evolve.types import ConfigError
from tests.tracked import END, RECORD, a_run


class Remembering:
    """Remembers what it is told, and fails at a record."""

    def __init__(self, fails_at=0, error=None):
        self.runs, self.records, self.ends = [], [], []
        self.fails_at, self.error = fails_at, error

    def campaign_begun(self, run):
        self.runs.append(run)

    def record_settled(self, record):
        self.records.append(record)
        if record.record == self.fails_at:
            raise self.error

    def campaign_ended(self, end):
        self.ends.append(end)


def played(campaign, *trackers, patience=60.0):
    """Runs a campaign with these trackers; returns what the engine keeps of each."""
    kept = [TrackerThread(f"t{number}", tracker) for number, tracker in enumerate(trackers)]
    with track(campaign, Seen(), kept, patience) as told:
        told.reason = run(campaign, FakeExecutor(), told).reason
    return kept


def test_a_tracker_is_told_of_a_run_each_record_and_the_end(bench):
    """In the user's direction, with what is the best, and with the numbers of the log."""
    one = Remembering()
    with bench.create(budget=["9programs"]) as campaign:
        (kept,) = played(campaign, one)
        count = len(campaign.state.history)
        assert [record.record for record in one.records] == list(range(1, count + 1))
        assert (one.runs[0].campaign, one.runs[0].records, one.runs[0].direction) == ("one_number", 0, "max")
        last, best = one.records[-1], campaign.state.archive.best
        assert (last.programs, last.best.record) == (9, best.record)
        assert last.best.fitness == campaign.task.fitness.shown(best.estimate.mean)
        assert [(end.reason, end.records) for end in one.ends] == [("budget", count)]
        assert (kept.describe(), kept.failure) == (f"t0: {count} records", "")


def test_a_campaign_that_goes_on_goes_on_in_its_tracker(bench):
    """With the next number."""
    one, two = Remembering(), Remembering()
    with bench.create(budget=["5programs"]) as campaign:
        played(campaign, one)
    with bench.open() as again:
        again.change({"budget": ["9programs"]})
        played(again, two)
    assert (two.runs[0].records, two.records[0].record) == (len(one.records), len(one.records) + 1)


@pytest.mark.parametrize("error", [ValueError("no disk"), SystemExit("no disk"), ConfigError("no disk. Try: x")])
def test_a_tracker_that_fails_is_told_nothing_more(bench, caplog, error):
    """One line says so; the campaign and the other tracker go on."""
    bad, good = Remembering(3, error), Remembering()
    with bench.create(budget=["9programs"]) as campaign, caplog.at_level(logging.WARNING, "evolve"):
        kept = played(campaign, bad, good)
        assert campaign.state.progress.programs == 9
    assert (len(bad.records), bad.ends, len(good.ends)) == (3, [], 1)
    assert (kept[0].records, "no disk" in kept[0].describe()) == (2, True)
    assert ["is told nothing more in this run" in line for line in caplog.messages] == [True]


class Hanging(Remembering):
    """Takes nothing after a record until it may."""

    def __init__(self, after):
        super().__init__()
        self.after, self.hangs, self.may = after, threading.Event(), threading.Event()

    def record_settled(self, record):
        super().record_settled(record)
        if record.record > self.after:
            self.hangs.set()
            self.may.wait()


def test_a_tracker_that_hangs_stops_no_campaign(bench, caplog):
    """The run ends as ever, the other tracker is told of all, and the one that hung says so."""
    bad, good = Hanging(after=2), Remembering()
    kept = [TrackerThread("good", good), TrackerThread("bad", bad)]
    with bench.create(budget=["9programs"]) as campaign, caplog.at_level(logging.WARNING, "evolve"):
        with track(campaign, Seen(), kept, 0.5) as told:
            told.reason = run(campaign, FakeExecutor(), told).reason
            assert bad.hangs.wait(60.0)
        count = len(campaign.state.history)
        assert (told.reason, campaign.state.progress.programs) == ("budget", 9)
    assert [one.describe() for one in kept] == [
        f"good: {count} records",
        "bad: 2 records, and it has not taken the end of the run in time",
    ]
    assert caplog.messages == [
        "tracker 'bad' is told nothing more: it has not taken all in time. The log has all",
    ]
    bad.may.set()
    kept[1].wait(60.0)
    assert (len(bad.records), bad.ends) == (3, [])


def test_the_wait_for_a_tracker_that_never_began_has_an_end(bench):
    """It hangs in `campaign_begun`."""
    may, bad = threading.Event(), Remembering()
    bad.campaign_begun = lambda _: may.wait()
    with bench.create(budget=["3programs"]) as campaign:
        (kept,) = played(campaign, bad, patience=0.01)
    assert kept.describe() == "t0: 0 records, and it has not taken the end of the run in time"
    may.set()


def test_the_wait_for_trackers_is_no_time_of_the_campaign(bench, monkeypatch):
    """Its seconds, and so its programs per second, are those of the search."""
    now = [1000.0]
    monkeypatch.setattr("evolve.campaign.campaign.time", SimpleNamespace(monotonic=lambda: now[0], time=lambda: now[0]))

    class Late(TrackerThread):
        def wait(self, seconds):
            now[0] += 30.0
            super().wait(60.0)

    with bench.create() as campaign:
        before = campaign.seconds
        with track(campaign, Seen(), [Late("t0", Remembering())], 60.0):
            pass
        assert campaign.seconds == before


def test_a_tracker_is_called_on_a_thread_of_its_own(bench):
    """One that hangs does not keep the engine from ending: its thread is a daemon."""
    threads = []
    one = Remembering()
    one.record_settled = lambda record: threads.append(threading.current_thread())
    with bench.create(budget=["3programs"]) as campaign:
        played(campaign, one)
    assert ({thread.name for thread in threads}, all(thread.daemon for thread in threads)) == (
        {"evolve-tracker-t0"},
        True,
    )


def test_an_error_that_ends_a_run_is_told(bench):
    """With no reason."""
    one = Remembering()

    class Broken(Seen):
        def turned(self, campaign):
            raise KeyboardInterrupt

    with (
        bench.create() as campaign,
        pytest.raises(KeyboardInterrupt),
        track(campaign, Broken(), [TrackerThread("t", one)]) as told,
    ):
        run(campaign, FakeExecutor(), told)
    assert [end.reason for end in one.ends] == [""]


def test_without_trackers_the_other_watch_sees_everything(bench):
    """And no thread begins."""
    watch = Seen()
    with bench.create() as campaign, track(campaign, watch, ()) as told:
        run(campaign, FakeExecutor(), told)
    assert (len(watch.events), watch.turns > 0) == (31, True)


def test_the_settings_name_the_trackers():
    """With their own settings; what there is not is an error before anything begins."""
    section = TrackersSection(names=("jsonl",), settings={"jsonl": {"file": "x.jsonl"}})
    assert [tracking.name for tracking in make_trackers(section, load())] == ["jsonl"]
    with pytest.raises(ConfigError, match=r"no tracker is called 'jsnl'. Did you mean 'jsonl'\? Try: "):
        make_trackers(TrackersSection(names=("jsnl",)), load())
    with pytest.raises(ConfigError, match="'jsonl' has no setting 'fil'"):
        make_trackers(TrackersSection(names=("jsonl",), settings={"jsonl": {"fil": "x"}}), load())
    with pytest.raises(ConfigError, match="settings for tracker 'wandb', which this campaign does not use"):
        settings_from({"task": "x"}, ["trackers.settings.wandb.mode=online"])


class Slow(Remembering):
    """Takes the end of a run when it may."""

    def __init__(self):
        super().__init__()
        self.hangs, self.may = threading.Event(), threading.Event()

    def campaign_ended(self, end):
        self.hangs.set()
        self.may.wait()


def test_the_end_itself_may_hang(tmp_path):
    """All records were taken, and that is said."""
    one = Slow()
    tracking = TrackerThread("late", one)
    tracking.begin(a_run(tmp_path))
    tracking.record(RECORD)
    tracking.end(END)
    assert one.hangs.wait(60.0)
    tracking.wait(0.0)
    assert tracking.describe() == "late: 1 record, and it has not taken the end of the run in time"
    one.may.set()


@pytest.mark.parametrize("failure", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit])
def test_a_tracker_that_wants_to_end_more_than_itself_has_failed(tmp_path, failure):
    """It is told neither what waits nor the end."""

    def end(run):
        raise failure

    one = Remembering()
    one.campaign_begun = end
    tracking = TrackerThread("bad", one)
    tracking.begin(a_run(tmp_path))
    tracking.record(RECORD)
    tracking.end(END)
    tracking.wait(60.0)
    assert (one.records, one.ends) == ([], [])
    assert tracking.describe() == f"bad: 0 records, then it failed: {failure.__name__}"
