"""A new campaign from the records of an old one, under other settings, without an evaluation.

Records, step numbers, rulings, lessons, replies and machines are the old log's; what the archive did with each record is decided anew, as it
would have been under the new settings, so that the new log replays to what it says. The old log is only read."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from evolve.campaign.campaign import Campaign
from evolve.campaign.descriptors import Descriptors
from evolve.campaign.settings import complete_settings, operators_of, try_settings, versions_of
from evolve.campaign.state import State
from evolve.campaign.workspace import new_path
from evolve.config import Settings, settings_from
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
    Record,
    SettingsChanged,
    Settled,
    Stamped,
)

_FIXED = ("task", "parameters")
"""Settings that decide scores: other ones need other evaluations."""


def fork(old: Campaign, settings: Settings, home: Path, name: str | None = None) -> Path:
    """Makes the fork and returns the path of its log; raises `ConfigError`, and then nothing is made. `old` may be running."""
    settings = complete_settings(settings, old.task, old.plugins, time.time())
    try_settings(settings, old.task, old.plugins)
    path = new_path(home, old.name, name)
    copy(old.log.path, path, _Refold(old, settings, path.stem).events()).close()
    return path


def settings_of_fork(old: Campaign, values: Mapping[str, Any], assignments: Iterable[str]) -> Settings:
    """Returns the old campaign's settings with some changed: `values` by top-level key, then `a.b=c` each. Another strategy begins with its own
    settings, and so do its operators. Raises `ConfigError`."""
    tree = old.settings.model_dump(mode="json") | dict(values)
    written = list(assignments)
    for assignment in written:
        key = assignment.partition("=")[0].strip()
        if key.partition(".")[0] in _FIXED:
            raise ConfigError(
                f"a fork evaluates nothing, so it keeps the task and its parameters, got {assignment!r}. "
                "Try: run a new campaign, evolve run TASK --set task.KEY=VALUE"
            )
    settings = settings_from(tree, written)
    if settings.strategy.name != old.settings.strategy.name:
        tree["strategy"] = {"name": settings.strategy.name}
        tree["operators"] = {}
        settings = settings_from(tree, written)
    return settings


class _Refold:
    """The events of a fork called `name`, made one by one from those of the old campaign. The strategy of the fork is told each, as it will be at
    every replay."""

    def __init__(self, old: Campaign, settings: Settings, name: str) -> None:
        self._old = old
        self._settings = settings
        self._name = name
        names = operators_of(settings, old.plugins)
        strategy = old.plugins.strategy(settings.strategy.name, settings.strategy.settings, names)
        self._state = State(
            old.first_task,
            settings,
            old.state.reader,
            lambda event: guarded(settings.strategy.name, strategy.tell, event),
        )

    def events(self) -> Iterator[Stamped]:
        """Yields the fork's events; their numbers are still the old ones. Raises `ConfigError` where no record has a place in the new archive."""
        for stamped in islice(self._old.log.events(), self._old.events):
            event = self._translate(stamped.event)
            if event is not None:
                yield replace(stamped, event=event)
        if self._old.state.archive.elites() and not self._state.archive.elites():
            names = ", ".join(axis.name for axis in self._state.archive.grid.axes)
            raise ConfigError(
                f"no record of campaign {self._old.name!r} has a number for each of the axes {names}. "
                "Try: name others in archive.axes; the evaluator's descriptors and metrics can be axes"
            )

    def _translate(self, event: Event) -> Event | None:
        """Returns the event as the fork has it, folded; None for one that it has not."""
        match event:
            case Settled():
                return self._state.settle(self._move(event.record))
            case SettingsChanged() | Paused():
                return None
            case Asked() if event.step in self._old.state.steps:
                # A step that was under way is the old campaign's: the fork asks for its own.
                return None
            case Opened():
                event = replace(
                    event,
                    name=self._name,
                    settings=self._settings.model_dump(mode="json"),
                    versions=versions_of(self._settings, self._old.task, self._old.plugins),
                    forked_from=self._old.name,
                    machines=sum(1 for stamped in self._old.log.events(only=MachineMeasured)),
                )
            case Asked():
                event = replace(event, action=self._on_its_island(event.action))
        self._state.absorb(event)
        return event

    def _move(self, record: Record) -> Record:
        """Returns the record on an island that there is, with a number for each axis that can be had."""
        state, origin, program = self._state, record.origin, record.program
        # Fewer islands share what more of them had; none of their programs is lost.
        origin = replace(origin, island=self._island(origin.island))
        if program is None:
            return replace(record, origin=origin)
        descriptors = Descriptors(state.archive.grid.axes, state.task.seed)
        evaluation = descriptors.complete(record.evaluation, lambda: state.reader.program(program))
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
