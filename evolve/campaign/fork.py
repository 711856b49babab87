"""A new campaign from the records of an old one, under other settings, without an evaluation.

Invariant: records, step numbers, rulings, lessons, replies and machines are the old log's; what the archive did with each record is decided
anew, as it would have been under the new settings, so that the new log replays to what it says. The old log is only read."""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from evolve.campaign.campaign import Campaign
from evolve.campaign.descriptors import Descriptors
from evolve.campaign.fitting import archive_of, axes_of, dated, operators_of, try_settings, with_resource
from evolve.campaign.state import State
from evolve.campaign.workspace import new_path
from evolve.config import Settings, settings_from, with_templates
from evolve.log import copy
from evolve.plugins import guarded
from evolve.types import (
    Asked,
    ConfigError,
    Event,
    Import,
    MachineMeasured,
    Measure,
    Opened,
    Paused,
    Propose,
    Rearranged,
    Record,
    SettingsChanged,
    Settled,
    Stamped,
)

_FIXED = ("task", "parameters")
"""Settings that decide scores: other ones need other evaluations."""


def fork(old: Campaign, settings: Settings, home: Path, name: str | None = None) -> Path:
    """Makes the fork and returns the path of its log; raises `ConfigError` before anything is made. `old` may be running."""
    settings = dated(with_resource(with_templates(settings), old.task, old.plugins), time.time())
    try_settings(settings, old.task, old.plugins)
    _check_axes(old, settings)
    path = new_path(home, old.name, name)
    events = list(islice(old.log.events(), old.events))
    machines = sum(isinstance(stamped.event, MachineMeasured) for stamped in events)
    refold = Refold(old, settings, path.stem, _finished(stamped.event for stamped in events), machines)
    copy(old.log.path, path, refold.events(events)).close()
    return path


def forked_settings(old: Campaign, values: Mapping[str, Any], assignments: Iterable[str]) -> Settings:
    """The old campaign's settings with some changed: `values` by top-level key, then `a.b=c` each. Another strategy begins with its own
    settings, and so do its operators. Raises `ConfigError`."""
    tree = old.settings.model_dump(mode="json") | dict(values)
    written = list(assignments)
    for assignment in written:
        key = assignment.partition("=")[0].strip()
        if key.partition(".")[0] in _FIXED:
            raise ConfigError(
                f"a fork judges nothing, so it keeps the task and its parameters, got {assignment!r}. "
                "Do: run a new campaign, evolve run TASK --set task.KEY=VALUE"
            )
    settings = settings_from(tree, written)
    if settings.strategy.name != old.settings.strategy.name:
        tree["strategy"] = {"name": settings.strategy.name}
        tree["operators"] = {}
        settings = settings_from(tree, written)
    return settings


def _finished(events: Iterable[Event]) -> set[int]:
    """The steps of which every child has settled."""
    settled: Counter[int] = Counter()
    finished = set()
    for event in events:
        if isinstance(event, Settled):
            origin = event.record.origin
            settled[origin.step] += 1
            if settled[origin.step] == origin.count:
                finished.add(origin.step)
    return finished


def _check_axes(old: Campaign, settings: Settings) -> None:
    """Each axis is one that some record has a number for."""
    descriptors = Descriptors(axes_of(old.task, settings), old.task.seed)
    known: set[str] = set()
    lacking = ""
    for stamped in old.log.events(only=Settled):
        assert isinstance(stamped.event, Settled), "only such events were asked for"
        record = stamped.event.record
        if record.evaluation.fitness is None or record.program is None or record.evaluation.certified:
            continue
        evaluation = descriptors.completed(record.evaluation, partial(old.log.program, record.program))
        lacking = descriptors.missing(evaluation)
        if not lacking:
            return
        known |= evaluation.descriptors.keys() | evaluation.metrics.keys()
    if lacking:
        raise ConfigError(
            f"no record of campaign {old.name!r} has a number for the axis {lacking!r}; they have {', '.join(sorted(known)) or 'none'}. "
            "Do: name one of these in archive.axes"
        )


class Refold:
    """The events of a fork called `name`, made one by one from those of the old campaign; `finished` are the steps that are kept, `machines` counts
    the `MachineMeasured` events. The
    strategy of the fork is told each, as it will be at every replay."""

    def __init__(
        self, old: Campaign, settings: Settings, name: str, finished: Collection[int], machines: int = 0
    ) -> None:
        self._old = old
        self._settings = settings
        self._name = name
        self._finished = finished
        self._machines = machines
        names = operators_of(settings, old.plugins)
        strategy = old.plugins.strategy(settings.strategy.name, settings.strategy.settings, names)
        self._state = State(
            old.first_task,
            lambda version: archive_of(version, settings),
            old.state.reader,
            lambda event: guarded(settings.strategy.name, strategy.tell, event),
            seeds=settings.confirm.seeds,
            carry=settings.carry,
        )

    def events(self, stamped: Iterable[Stamped]) -> Iterator[Stamped]:
        """The fork's events; their numbers are still the old ones."""
        for one in stamped:
            event = self._translated(one.event)
            if event is not None:
                yield replace(one, event=event)

    def _translated(self, event: Event) -> Event | None:
        """The event as the fork has it, folded; None for one that it has not."""
        match event:
            case Settled():
                return self._state.settle(self._moved(event.record))
            case SettingsChanged() | Paused():
                return None
            case Asked() if event.step not in self._finished:
                return None
            case Rearranged():
                return self._rearranged(event)
            case Opened():
                settings = self._settings.model_dump(mode="json")
                event = replace(
                    event, name=self._name, settings=settings, forked_from=self._old.name, machines=self._machines
                )
            case Asked():
                event = replace(event, action=self._on_its_island(event.action))
        self._state.absorb(event)
        return event

    def _moved(self, record: Record) -> Record:
        """The record on an island that there is, with a number for each axis that can be had."""
        state, origin, program = self._state, record.origin, record.program
        origin = replace(origin, island=self._island(origin.island))
        if program is None:
            return replace(record, origin=origin)
        descriptors = Descriptors(state.archive.axes, state.task.seed)
        evaluation = descriptors.completed(record.evaluation, lambda: state.reader.program(program))
        return replace(record, origin=origin, evaluation=evaluation)

    def _on_its_island(self, action: Propose | Measure | Import) -> Propose | Measure | Import:
        match action:
            case Propose(selection=selection):
                return Propose(replace(selection, island=self._island(selection.island)))
            case Import():
                return replace(action, island=self._island(action.island))
        return action

    def _island(self, number: int) -> int:
        return number % self._settings.archive.islands

    def _rearranged(self, event: Rearranged) -> Rearranged | None:
        """An arrangement is its strategy's; another strategy makes its own, and one of programs that have no place is none."""
        same = self._settings.strategy.name == self._old.settings.strategy.name
        if not same or event.island >= self._settings.archive.islands:
            return None
        try:
            self._state.absorb(event)
        except ValueError:
            return None
        return event
