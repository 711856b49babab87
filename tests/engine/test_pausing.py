"""A run that is paused, goes on, ends meanwhile, or is given other settings."""

import itertools
import os
import signal
import threading
import time

import pytest
from loop_fakes import FakeExecutor, Seen, cut
from model_fakes import FakeModel, members, with_operators
from test_steering import answers

from evolve.campaign.inbox import Add, Configure, Hint, Inbox, Request, RunControl
from evolve.engine import run
from evolve.types import Paused, Replied, SettingsChanged, Settled

ME = os.getpid()
NUMBERS = itertools.count(1)


def put(campaign, *wishes):
    """Puts wishes into the inbox, under names that no others have."""
    ids = []
    for wish in wishes:
        number = next(NUMBERS)
        Inbox(campaign.log.path).put(Request(f"{number:08x}", wish), float(number))
        ids.append(f"{number:08x}")
    return ids


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """An engine that looks into its inbox at every turn."""
    monkeypatch.setattr("evolve.engine.steering.INTERVAL", 0.0)
    monkeypatch.setattr("evolve.engine.loop.INTERVAL", 0.005)


class Steering(Seen):
    """Pauses after some records, does something when the run rests, and looks at what settles meanwhile."""

    def __init__(self, *then, when=5):
        super().__init__()
        self.then, self.when, self.ids, self.rested = then, when, [], 0
        self.seconds, self.at_rest = [], []

    def settled(self, campaign, event):
        super().settled(campaign, event)
        if len(self.events) == self.when:
            self.ids += put(campaign, RunControl("pause", ME))

    def turned(self, campaign):
        super().turned(campaign)
        if not campaign.state.paused:
            return
        self.rested += 1
        if self.rested > 20:
            self.seconds.append(campaign.seconds)
            self.at_rest.append(len(self.events))
        if self.rested == 60:
            for wish in self.then:
                wish(campaign) if callable(wish) else put(campaign, wish)


def paused(campaign):
    return [event.paused for event in (stamped.event for stamped in campaign.log.events(only=Paused))]


@pytest.mark.parametrize("hold", [0, 2])
def test_nothing_is_started_while_a_run_is_paused(bench, hold):
    """It stays alive, its seconds do not count, and then it goes on to its end."""
    watch = Steering(RunControl("unpause", ME))
    with bench.create() as campaign:
        assert bench.run(campaign, FakeExecutor(hold=hold), watch).reason == "budget"
        assert paused(campaign) == [True, False]
        assert len(set(watch.at_rest)) == 1
        assert len(set(watch.seconds)) == 1
        assert (campaign.state.progress.programs, campaign.state.steps, campaign.state.paused) == (30, {}, False)
        jobs = [event.record.origin for event in (one.event for one in campaign.log.events(only=Settled))]
        assert len({(origin.step, origin.index) for origin in jobs}) == len(jobs)
    with bench.open(readonly=True) as again:
        assert again.state.difference is None


def test_a_deterministic_run_that_is_paused_comes_out_as_another(bench):
    """What was called back is started again."""
    with bench.create(deterministic=True, name="a") as plain:
        bench.run(plain)
        digest = plain.digest()
    with bench.create(deterministic=True, name="b") as other:
        bench.run(other, watch=Steering(RunControl("unpause", ME)))
        assert paused(other) == [True, False]
        assert other.digest() == digest


@pytest.mark.parametrize(
    ("wish", "reason"),
    [(RunControl("stop", ME), "stopped"), (lambda campaign: os.kill(ME, signal.SIGINT), "interrupted")],
)
def test_a_paused_run_ends_when_it_is_told_to(bench, wish, reason):
    """And the next run goes on, unpaused."""
    with bench.create() as campaign:
        assert bench.run(campaign, FakeExecutor(hold=2), Steering(wish)).reason == reason
        assert campaign.state.paused
    with bench.open() as again:
        assert again.state.paused
        assert bench.run(again).reason == "budget"
        assert paused(again) == [True, False]
        assert (again.state.progress.programs, again.state.steps) == (30, {})


def test_a_moment_that_ends_a_campaign_ends_it_while_it_is_paused(bench):
    """What is started then is nothing, not even a measurement of the best."""
    with bench.create() as campaign:
        watch = Steering(Configure(("budget=['0.001s', '40programs']",)))
        assert bench.run(campaign, watch=watch).reason == "budget"
        assert len(campaign.state.history) == watch.at_rest[-1]


@pytest.mark.integration
def test_seconds_are_not_eaten_by_a_pause(bench):
    """The budget has as much left as before."""
    with bench.create(budget=["60s", "30programs"]) as campaign:
        begun = time.monotonic()
        waits = Steering(lambda _: time.sleep(1.1), RunControl("unpause", ME))
        assert bench.run(campaign, watch=waits).reason == "budget"
        assert campaign.state.progress.programs == 30
        assert campaign.seconds < time.monotonic() - begun - 1.0


def test_other_requests_are_done_meanwhile(bench):
    """A hint is written, a program that a person adds is evaluated."""
    mine = {"seed.py": "def value():\n    return 6.9\n"}

    def asks(campaign):
        put(campaign, Hint("x"), Add(mine), RunControl("unpause", ME))

    with bench.create() as campaign:
        bench.run(campaign, watch=Steering(asks))
        assert [lesson.text for lesson in campaign.state.lessons] == ["x"]
        assert campaign.state.progress.programs == 30


@pytest.mark.parametrize(
    ("wish", "accepted", "told"),
    [
        (RunControl("pause", 1), False, "the run that was to pause (process 1) has ended"),
        (
            RunControl("unpause", 1),
            False,
            "the run that was to go on (process 1) has ended. Try: evolve run --continue",
        ),
        (RunControl("unpause", ME), True, "it is not paused"),
        (Configure(("seed=2",)), False, "cannot change in a campaign that has begun"),
        (Configure(("workers=2",)), True, "that is what it has already"),
    ],
)
def test_what_is_asked_in_vain_is_told_so(bench, wish, accepted, told):
    """And changes nothing."""
    with bench.create() as campaign:
        ids = put(campaign, wish)
        bench.run(campaign)
        (answer,) = answers(campaign, ids)
        assert (answer.accepted, told in answer.told) == (accepted, True)
        assert (paused(campaign), list(campaign.log.events(only=SettingsChanged))) == ([], [])


class Retuning(Seen):
    """Asks for other settings after some records."""

    def __init__(self, *assignments):
        super().__init__()
        self.assignments, self.ids = assignments, []

    def settled(self, campaign, event):
        super().settled(campaign, event)
        if len(self.events) == 5:
            self.ids = put(campaign, Configure(self.assignments))


def test_settings_change_while_a_campaign_runs(bench):
    """Budget and workers hold from then on; a replay is the same."""
    watch, executor = Retuning("budget=['20programs']", "workers=3"), FakeExecutor()
    with bench.create() as campaign:
        assert bench.run(campaign, executor, watch).reason == "budget"
        assert (campaign.state.progress.programs, executor.slots) == (20, 3)
        assert answers(campaign, watch.ids)[0].told.startswith("changed: budget=")
        (change,) = [stamped.event for stamped in campaign.log.events(only=SettingsChanged)]
        assert (sorted(change.changes), change.request) == (["budget", "workers"], watch.ids[0])
    with bench.open(readonly=True) as again:
        assert (again.state.difference, again.settings.workers, str(again.budget)) == (None, 3, "20programs")
        assert set(watch.ids) == set(again.state.requests)


def test_calls_in_flight_are_answered_and_their_programs_wait(bench):
    """What was paid for is in the log; it is evaluated when the run goes on, without another call."""
    with_operators(bench)
    hold, seen = threading.Event(), []
    fake = FakeModel(hold=hold)

    class Waiting(Steering):
        def turned(self, campaign):
            super().turned(campaign)
            if self.rested == 80 and not seen:
                seen.append((len(fake.prompts), len(list(campaign.log.events(only=Replied))), len(self.events)))
                put(campaign, RunControl("unpause", ME))

    models = {"members": [{"name": "fast", "kind": "fake", "concurrency": 2}]}
    with bench.create(models=models, operators={"names": ["writes"]}, budget=["4programs"]) as campaign:
        watch = Waiting(lambda _: hold.set(), when=1)
        run(campaign, FakeExecutor(), watch, members(campaign, fake))
        assert seen == [(2, 2, 1)]
        assert (campaign.state.progress.programs, campaign.state.progress.calls) == (4, len(fake.prompts))


def test_a_paused_and_retuned_run_that_is_killed_after_any_event_goes_on(bench):
    """The request that is still there is done once; what was evaluated is not evaluated again, and the log replays."""
    # More than the steps that may be open when the budget falls, however many records settle in one turn.
    settings = Configure(("budget=['16programs']", "workers=3"))
    with bench.create() as campaign:
        watch = Steering(settings, RunControl("unpause", ME))
        bench.run(campaign, FakeExecutor(hold=2), watch)
        count, path = campaign.log.count(), campaign.log.path
        (change,) = [stamped.event for stamped in campaign.log.events(only=SettingsChanged)]
    for number in range(2, count + 1):
        log = cut(path, number)
        Inbox(log).put(Request(change.request, settings), 1.0)
        with bench.open(log.stem) as again:
            assert bench.run(again).reason == "budget"
            assert (again.state.progress.programs, again.state.steps, again.state.paused) == (16, {}, False)
            assert len(list(again.log.events(only=SettingsChanged))) == 1
            settled = [stamped.event.record.origin for stamped in again.log.events(only=Settled)]
            assert len({(origin.step, origin.index) for origin in settled}) == len(settled)
            digest = again.digest()
        with bench.open(log.stem, readonly=True) as replayed:
            assert (replayed.state.difference, replayed.digest()) == (None, digest)
