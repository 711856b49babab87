"""Trackers: each is told of a campaign on a thread of its own, so that a slow or broken one delays and changes nothing.

A record is told when it is durable, in order and once; what a tracker is not told is counted. Only `_wait` waits for trackers, and has a deadline."""

import logging
import sys
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import Any, TextIO, cast

from evolve.campaign import Campaign
from evolve.config import TrackersSection
from evolve.engine.loop import Ending, Watch
from evolve.plugins import Plugins, guarded
from evolve.protocols import Tracker
from evolve.types import EvolveError, Settled, TrackedBest, TrackedEnd, TrackedRecord, TrackedRun

_log = logging.getLogger(__name__)

BEHIND = 10_000
"""Records that may wait for a tracker; while so many do, what settles is dropped."""
_THREAD = "evolve-tracker-"


class TrackerThread:
    """A tracker by its name. Main thread, but for `_serve`, which alone calls the tracker, and counts the `records` that it took."""

    def __init__(self, name: str, tracker: Tracker, behind: int = BEHIND) -> None:
        self.name = name
        self.tracker = tracker
        self.records = 0
        self.dropped = 0
        self.failure = ""
        self._behind = behind
        self._given = 0
        self._given_up = ""
        self._calls: SimpleQueue[tuple[Callable[[], None], int] | None] = SimpleQueue()
        # A daemon: one that hangs must not keep the engine from ending.
        self._thread = threading.Thread(target=self._serve, name=f"{_THREAD}{name}", daemon=True)

    def begin(self, run: TrackedRun) -> None:
        """Tells trackers that a run begins."""
        self._thread.start()
        self._calls.put((partial(self.tracker.campaign_begun, run), 0))

    def record(self, record: TrackedRecord) -> None:
        """It is to be told of this record, unless too many wait or it has failed."""
        if self.failure:
            return
        if self._calls.qsize() < self._behind:
            self._given += 1
            self._calls.put((partial(self.tracker.record_settled, record), 1))
            return
        self.dropped += 1
        if self.dropped == 1:
            _log.warning(
                "tracker %r is slow: %s records wait for it. What settles until it has caught up is not told it; the log has all",
                self.name,
                f"{self._behind:,}",
            )

    def end(self, end: TrackedEnd) -> None:
        """The run has ended; nothing more comes."""
        self._calls.put((partial(self.tracker.campaign_ended, end), 0))
        self._calls.put(None)

    def wait(self, seconds: float) -> bool:
        """Whether it has taken all, or failed, within so many seconds."""
        self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()

    def give_up(self) -> None:
        """Where it has not taken all by now, it is told nothing more."""
        if self._thread.is_alive():
            left = self._given - self.records
            self._given_up = (
                f"and it has not taken {f'{_counted(left)} and ' if left else ''}the end of the run in time"
            )
            _log.warning("tracker %r is told nothing more: it has not taken all in time. The log has all", self.name)

    def describe(self) -> str:
        """What became of it, in a line."""
        dropped = f"{_counted(self.dropped)} dropped while {self._behind:,} waited for it"
        failed = f"then it failed: {self.failure}"
        parts = (_counted(self.records), self.dropped and dropped, self.failure and failed, self._given_up)
        return f"{self.name}: {', '.join(part for part in parts if part)}"

    def _serve(self) -> None:
        while (item := self._calls.get()) is not None and not self._given_up:
            call, records = item
            try:
                guarded(self.name, call)
            except (EvolveError, SystemExit, KeyboardInterrupt, GeneratorExit, CancelledError) as error:
                self.failure = str(error) or type(error).__name__
                _log.warning("tracker %r is told nothing more in this run: %s", self.name, self.failure)
                return
            self.records += records


def _counted(records: int) -> str:
    return f"{records:,} record{'' if records == 1 else 's'}"


class _Aside:
    """Standard output while trackers run: stdout is for records, so what a tracker's thread prints goes to stderr."""

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout

    def __getattr__(self, name: str) -> Any:
        is_theirs = threading.current_thread().name.startswith(_THREAD)
        return getattr(sys.stderr if is_theirs else self._stdout, name)


@contextmanager
def printing_aside() -> Iterator[None]:
    """What trackers print goes to stderr meanwhile; and for good, where one is at work after that."""
    before = sys.stdout
    sys.stdout = cast(TextIO, _Aside(before))
    try:
        yield
    finally:
        if not any(thread.name.startswith(_THREAD) for thread in threading.enumerate()):
            sys.stdout = before


PATIENCE = 30.0
"""Seconds that the end of a run waits for all its trackers together; an interrupt ends that, too."""
SILENT = 2.0
"""Seconds of that which need no word."""


def make_trackers(settings: TrackersSection, plugins: Plugins) -> tuple[TrackerThread, ...]:
    """The trackers that the settings name; raises `ConfigError` or `PluginError` where one cannot be had. Nothing begins."""
    return tuple(TrackerThread(name, plugins.tracker(name, settings.settings.get(name, {}))) for name in settings.names)


class TrackingWatch:
    """Tells trackers, after another watch; implements `loop.Watch`. `ending` is how the run ended; None: by an error."""

    def __init__(self, then: Watch, trackers: Sequence[TrackerThread]) -> None:
        self._then = then
        self._trackers = trackers
        self.ending: Ending | None = None

    def begin(self, campaign: Campaign) -> None:
        """Tells trackers that a run begins."""
        for tracking in self._trackers:
            tracking.begin(_run(campaign))

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Tells trackers of a durable record."""
        self._then.settled(campaign, event)
        if not self._trackers:
            return
        record = _record(campaign, event)
        for tracking in self._trackers:
            tracking.record(record)

    def turned(self, campaign: Campaign) -> None:
        """Is for the other watch alone."""
        self._then.turned(campaign)

    def end(self, campaign: Campaign) -> None:
        """Tells trackers that the run has ended."""
        progress = campaign.state.progress
        reason = self.ending.reason if self.ending else ""
        end = TrackedEnd(campaign.name, reason, progress.records, progress.programs, _best(campaign))
        for tracking in self._trackers:
            tracking.end(end)


@contextmanager
def track(
    campaign: Campaign, watch: Watch, trackers: Sequence[TrackerThread], patience: float = PATIENCE
) -> Iterator[TrackingWatch]:
    """Gives a watch that tells trackers after `watch`, from the beginning of a run to its end, and then waits at most `patience` seconds for them."""
    tracking = TrackingWatch(watch, trackers)
    if not trackers:
        yield tracking
        return
    with printing_aside():
        tracking.begin(campaign)
        try:
            yield tracking
        finally:
            tracking.end(campaign)
            # Waiting for trackers is no time that the campaign ran.
            campaign.clock.rest()
            _wait(trackers, patience)
            campaign.clock.wake()


def _wait(trackers: Sequence[TrackerThread], seconds: float) -> None:
    """Until all have taken what they were told, but no longer."""
    begun = time.monotonic()
    try:
        for until in (min(SILENT, seconds), seconds):
            late = [one.name for one in trackers if not one.wait(begun + until - time.monotonic())]
            if late and until < seconds:
                _log.warning("waiting up to %g seconds for what trackers are yet to take: %s", seconds, ", ".join(late))
    except KeyboardInterrupt:
        _log.warning("no longer waiting for trackers")
    for tracking in trackers:
        tracking.give_up()


def _run(campaign: Campaign) -> TrackedRun:
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


def _best(campaign: Campaign) -> TrackedBest | None:
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


def _record(campaign: Campaign, event: Settled) -> TrackedRecord:
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
        best=_best(campaign),
        records=progress.records,
        programs=progress.programs,
        active_seconds=campaign.state.seconds,
        calls=progress.calls,
        tokens=progress.tokens,
        money=progress.money,
        gpu_seconds=progress.gpu_seconds,
    )
