"""Trackers: what looks on while a campaign runs and tells somebody else, chosen by the campaign's settings.

Invariant: a tracker is told of a record when it is durable, on a thread of its own, and can change and delay nothing; one that fails is told nothing
more in this run, with one warning. A campaign without trackers does nothing for them."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from evolve.campaign import Campaign
from evolve.config import TrackersSection
from evolve.engine.ending import Ending
from evolve.engine.loop import Watch
from evolve.engine.tracker import Tracking, printing_aside
from evolve.plugins import Plugins
from evolve.types import Settled, TrackedBest, TrackedEnd, TrackedRecord, TrackedRun

_log = logging.getLogger(__name__)

PATIENCE = 30.0
"""Seconds that the end of a run waits for all its trackers together; an interrupt ends that, too."""
SILENT = 2.0
"""Seconds of that which need no word."""


def trackers_of(settings: TrackersSection, plugins: Plugins) -> tuple[Tracking, ...]:
    """The trackers that the settings name; raises `ConfigError` or `PluginError` where one cannot be had. Nothing begins."""
    return tuple(Tracking(name, plugins.tracker(name, settings.settings.get(name, {}))) for name in settings.names)


class TrackingWatch:
    """Tells trackers, and another watch first; implements `loop.Watch`."""

    def __init__(self, then: Watch, trackers: Sequence[Tracking]) -> None:
        self._then = then
        self._trackers = trackers

    def begin(self, campaign: Campaign) -> None:
        """A run begins."""
        for tracking in self._trackers:
            tracking.begin(_run(campaign))

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """A record has settled and is durable."""
        self._then.settled(campaign, event)
        record = _record(campaign, event)
        for tracking in self._trackers:
            tracking.record(record)

    def turned(self, campaign: Campaign) -> None:
        """Leaves it to the other watch."""
        self._then.turned(campaign)

    def end(self, campaign: Campaign, ending: Ending | None) -> None:
        """The run has ended; without an ending, by an error."""
        progress = campaign.state.progress
        reason = ending.reason if ending else ""
        end = TrackedEnd(campaign.name, reason, progress.records, progress.programs, _best(campaign))
        for tracking in self._trackers:
            tracking.end(end)


@dataclass(slots=True)
class Told:
    """The watch of a run, and how the run ended, where it did not by an error."""

    watch: Watch
    ending: Ending | None = None


@contextmanager
def tracked(
    campaign: Campaign, watch: Watch, trackers: Sequence[Tracking], patience: float = PATIENCE
) -> Iterator[Told]:
    """The watch that tells trackers too, from the beginning of a run to its end, after which it waits for them at most `patience` seconds; without
    any, the same watch."""
    if not trackers:
        yield Told(watch)
        return
    telling = TrackingWatch(watch, trackers)
    told = Told(telling)
    with printing_aside():
        telling.begin(campaign)
        try:
            yield told
        finally:
            telling.end(campaign, told.ending)
            campaign.clock.rest()
            _wait(trackers, patience)
            campaign.clock.wake()


def _wait(trackers: Sequence[Tracking], seconds: float) -> None:
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
