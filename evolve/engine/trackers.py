"""Trackers: each is told of a campaign on a thread of its own, so that a slow or broken one delays and changes nothing.

A record is told when it is durable, in order and once. Only the end of a run waits for trackers, and that has a deadline."""

import logging
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import Protocol

from evolve.campaign import Campaign
from evolve.config import TrackersSection
from evolve.plugins import Plugins, guarded
from evolve.protocols import Tracker
from evolve.types import EvolveError, Settled, TrackedBest, TrackedEnd, TrackedRecord, TrackedRun

_log = logging.getLogger(__name__)

PATIENCE_SECONDS = 30.0
"""Time that the end of a run waits for all its trackers together; an interrupt ends that, too."""


class TrackerThread:
    """A tracker and the thread that alone calls it; `records` counts those that it took. All methods belong to the main thread."""

    def __init__(self, name: str, tracker: Tracker) -> None:
        self.name = name
        self.tracker = tracker
        self.records = 0
        self.failure = ""
        self._given_up = False
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # A daemon: one that hangs must not keep the engine from ending.
        self._thread = threading.Thread(target=self._serve, name=f"evolve-tracker-{name}", daemon=True)

    def begin(self, run: TrackedRun) -> None:
        """Starts the thread, and tells of the run."""
        self._calls.put(partial(self.tracker.campaign_begun, run))
        self._thread.start()

    def record(self, record: TrackedRecord) -> None:
        """Tells of a record."""
        self._calls.put(partial(self._take, record))

    def end(self, end: TrackedEnd) -> None:
        """Tells that the run has ended; nothing more comes."""
        self._calls.put(partial(self.tracker.campaign_ended, end))
        self._calls.put(None)

    def wait(self, seconds: float) -> None:
        """Waits at most so long until the tracker has taken all, or failed; then it is told nothing more."""
        self._thread.join(max(0.0, seconds))
        if self._thread.is_alive():
            self._given_up = True
            _log.warning("tracker %r is told nothing more: it has not taken all in time. The log has all", self.name)

    def describe(self) -> str:
        """Returns in a line how many records the tracker took, and how it failed."""
        line = f"{self.name}: {self.records:,} record{'' if self.records == 1 else 's'}"
        if self.failure:
            return f"{line}, then it failed: {self.failure}"
        return f"{line}, and it has not taken the end of the run in time" if self._given_up else line

    def _take(self, record: TrackedRecord) -> None:
        self.tracker.record_settled(record)
        self.records += 1

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None and not self._given_up:
            try:
                guarded(self.name, call)
            except (EvolveError, SystemExit, KeyboardInterrupt, GeneratorExit, CancelledError) as error:
                self.failure = str(error) or type(error).__name__
                _log.warning("tracker %r is told nothing more in this run: %s", self.name, self.failure)
                return


def make_trackers(settings: TrackersSection, plugins: Plugins) -> tuple[TrackerThread, ...]:
    """Returns the trackers that the settings name; starts nothing. Raises `ConfigError` or `PluginError`."""
    return tuple(TrackerThread(name, plugins.tracker(name, settings.settings.get(name, {}))) for name in settings.names)


class Watch(Protocol):
    """Observes a campaign while it runs. Called on the main thread, which it must not delay."""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Takes a record that is durable."""

    def turned(self, campaign: Campaign) -> None:
        """Follows each turn of the loop."""


class Unwatched:
    """A watch that does nothing."""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Does nothing."""

    def turned(self, campaign: Campaign) -> None:
        """Does nothing."""


class TrackingWatch:
    """Tells trackers, after another watch; implements `Watch`. `reason` is why the run ended; empty: by an error."""

    def __init__(self, then: Watch, trackers: Sequence[TrackerThread]) -> None:
        self._then = then
        self._trackers = trackers
        self.reason = ""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Tells trackers of a durable record."""
        self._then.settled(campaign, event)
        for tracking in self._trackers:
            tracking.record(_describe_record(campaign, event))

    def turned(self, campaign: Campaign) -> None:
        """Passes the turn on; trackers are told of records alone."""
        self._then.turned(campaign)


@contextmanager
def track(
    campaign: Campaign, watch: Watch, trackers: Sequence[TrackerThread], patience: float = PATIENCE_SECONDS
) -> Iterator[TrackingWatch]:
    """Gives a watch that tells trackers after `watch`, from the beginning of a run to its end, and then waits at most `patience` seconds for them."""
    tracking = TrackingWatch(watch, trackers)
    for tracker in trackers:
        tracker.begin(_describe_run(campaign))
    try:
        yield tracking
    finally:
        progress = campaign.state.progress
        end = TrackedEnd(campaign.name, tracking.reason, progress.records, progress.programs, _describe_best(campaign))
        for tracker in trackers:
            tracker.end(end)
        # Waiting for trackers is no time that the campaign ran.
        campaign.clock.rest()
        _wait(trackers, time.monotonic() + patience)
        campaign.clock.wake()


def _wait(trackers: Sequence[TrackerThread], deadline: float) -> None:
    try:
        for tracker in trackers:
            tracker.wait(deadline - time.monotonic())
    except KeyboardInterrupt:
        _log.warning("no longer waiting for trackers")


def _describe_run(campaign: Campaign) -> TrackedRun:
    task = campaign.task
    return TrackedRun(
        campaign=campaign.name,
        task=task.name,
        task_version=task.version,
        fitness=task.fitness.name,
        direction=task.fitness.direction,
        log=str(campaign.log.path.absolute()),
        records=len(campaign.state.columns.programs),
        settings=campaign.settings.model_dump(mode="json"),
    )


def _describe_best(campaign: Campaign) -> TrackedBest | None:
    best = campaign.state.archive.best
    if best is None:
        return None
    estimate = best.reported or best.estimate
    return TrackedBest(
        record=best.record,
        fitness=campaign.task.fitness.shown(estimate.mean),
        standard_error=estimate.standard_error,
        certified=best.estimate.certified,
        confirmed=best.reported is not None,
        claimed=best.program in campaign.state.claimed,
    )


def _describe_record(campaign: Campaign, event: Settled) -> TrackedRecord:
    record, progress, shown = event.record, campaign.state.progress, campaign.task.fitness.shown
    origin, evaluation = record.origin, record.evaluation
    return TrackedRecord(
        campaign=campaign.name,
        record=record.id,
        at=time.time(),
        kind=origin.kind,
        operator=origin.operator,
        model=origin.model,
        parents=origin.parents,
        program=record.program,
        outcome=evaluation.outcome.value,
        fitness=None if evaluation.fitness is None else shown(evaluation.fitness),
        standard_error=evaluation.standard_error,
        violation=evaluation.violation,
        certified=evaluation.certified,
        trust=evaluation.trust,
        isolation=evaluation.isolation,
        insertion=event.placement.insertion.name,
        island=event.placement.island,
        seconds=evaluation.seconds,
        best=_describe_best(campaign),
        records=progress.records,
        programs=progress.programs,
        active_seconds=campaign.state.seconds,
        calls=progress.calls,
        tokens=progress.tokens,
        money=progress.money,
        gpu_seconds=progress.gpu_seconds,
    )
