"""Campaign: a log, the task and settings that its first event holds, and the fold over all the others.

A campaign is what its log says; the task's folder is needed to evaluate programs, never to replay."""

import gc
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from evolve.archive import Archive
from evolve.campaign.digest import digest
from evolve.campaign.folds import NOTHING_NEW, Ensemble
from evolve.campaign.history import Past, Reader
from evolve.campaign.settings import (
    are_operators_named,
    budget_of,
    calls_end_budget,
    complete_settings,
    operators_of,
    try_settings,
    versions_of,
)
from evolve.campaign.state import NOT_FOLDED, State
from evolve.campaign.workspace import existing_path, new_path, secret_for
from evolve.config import Settings, restore_settings
from evolve.log import Log, begin
from evolve.plugins import Plugins, guarded
from evolve.protocols import Operator, Strategy, View
from evolve.stop import Budget, exact
from evolve.types import (
    Asked,
    ConfigError,
    Event,
    Lesson,
    Opened,
    Progress,
    SettingsChanged,
    Stamped,
    StoreError,
    Task,
    TaskChanged,
    Traits,
    Wait,
    canonical,
    text_id,
)
from evolve.types.codec import encode

# Events are read so many at a time: to read and to fold them in turn is a fifth slower, for each finds the other's code in the processor's cache.
_BATCH = 1_000


def stream(seed: int, step: int, purpose: str) -> np.random.Generator:
    """Returns the random stream of one purpose of one step. No state of it is ever saved."""
    digest = hashlib.sha256(f"{seed}/{step}/{purpose}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


class Clock:
    """Seconds that a campaign has run, over all its runs; `active` before this one. No second passes while it rests. Main thread."""

    def __init__(self, active: float = 0.0) -> None:
        self._started = time.monotonic() - active
        self._resting_since: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds until now, or until the campaign rests."""
        now = time.monotonic() if self._resting_since is None else self._resting_since
        return now - self._started

    def rest(self) -> None:
        """Stops the clock: the campaign is paused, and nothing is under way. Again, if it rests already."""
        if self._resting_since is None:
            self._resting_since = time.monotonic()

    def wake(self) -> None:
        """Lets the clock go on, if it rests."""
        if self._resting_since is not None:
            self._started += time.monotonic() - self._resting_since
            self._resting_since = None


@dataclass(frozen=True, slots=True)
class CampaignView:
    """A campaign as its strategy sees it; implements `protocols.View`."""

    task: Task
    archive: Archive
    history: Past
    lessons: Sequence[Lesson]
    progress: Progress
    pending: Sequence[Asked]
    operators: Sequence[str]
    models: Sequence[str]
    budget_used: float
    traits: Callable[[str], Traits]


Observer = Callable[["Campaign", Stamped], None]
"""Observer of a replay."""


class Campaign:
    """An open campaign. `create` and `open` make one; only `record` writes to its log."""

    def __init__(
        self, log: Log, opened: Opened, task: Task, plugins: Plugins, changes: Sequence[SettingsChanged] = ()
    ) -> None:
        self.log = log
        self.name = opened.name
        self.forked_from = opened.forked_from
        self.secret = opened.secret
        self.first_task = task
        """The version of the task that the campaign began with."""
        self.plugins = plugins
        self._begin(opened, changes)
        self._budgeted = time.time()
        self.clock = Clock()

    def _begin(self, opened: Opened, changes: Sequence[SettingsChanged]) -> None:
        """Makes an empty state: nothing is folded yet."""
        self.settings = apply_changes(opened.settings, changes)
        strategy = self.settings.strategy
        try:
            self.operator_names = operators_of(self.settings, self.plugins)
            self._are_operators_named = are_operators_named(self.settings, self.plugins)
            self.strategy: Strategy = self.plugins.strategy(strategy.name, strategy.settings, self.operator_names)
        except ConfigError:
            # To read a campaign needs none of the packages that it ran with; to go on with it needs them all.
            if not self.log.readonly:
                raise
            wanted = self.settings.operators.names
            self.operator_names = tuple(name for name in wanted if name in self.plugins.operators)
            self._are_operators_named = True
            self.strategy = _MissingStrategy()
        self.ensemble = Ensemble(self.settings.models)
        self.state = State(self.first_task, self.settings, Reader(self.log), self._tell)
        self.events = 0
        """Number of events that the state has taken."""

    @classmethod
    def create(
        cls, settings: Settings, task: Task, plugins: Plugins, home: Path, name: str | None = None
    ) -> "Campaign":
        """Makes a new campaign with its log; raises `ConfigError` for a name that is taken, and before anything is written."""
        definition = canonical(encode(task))
        now = time.time()
        settings = complete_settings(settings, task, plugins, now)
        path = new_path(home, task.name, name)
        name, values = text_id(definition), settings.model_dump(mode="json")
        try_settings(settings, task, plugins)
        secret = secret_for(home, task.name)
        opened = Opened(
            path.stem, settings.task, task.version, name, values, versions_of(settings, task, plugins), secret=secret
        )
        log = begin(path, opened, {name: definition}, now)
        # The task as the log has it: what it maps is in another order there, and a prompt must be the same in every run.
        return cls(log, opened, Reader(log).task(opened.definition), plugins).replay()

    @classmethod
    def open(
        cls,
        name: str | None,
        plugins: Plugins,
        home: Path,
        *,
        readonly: bool = True,
        before: Observer | None = None,
    ) -> "Campaign":
        """Opens an existing campaign and replays it; `name` may be None (the one written last) or the path of a log. `before` is told each event
        right before the state takes it."""
        # A log that cannot be replayed must not stay locked.
        with ExitStack() as failing:
            log = failing.enter_context(Log.open(existing_path(home, name), readonly=readonly))
            opened = first_event(log)
            until = log.count()
            campaign = cls(log, opened, Reader(log).task(opened.definition), plugins, _changes(log, 0, until))
            campaign.replay(until, before)
            failing.pop_all()
        return campaign

    def replay(self, until: int | None = None, before: Observer | None = None) -> "Campaign":
        """Folds the log, up to event `until` or to its end; returns itself. `before` is told each event right before the state takes it."""
        self._fold(self.log.count() if until is None else until, before)
        return self

    def follow(self) -> int:
        """Folds what was appended to the log since, by whoever writes it, and says how many events that were; the campaign is then the same
        as one that was opened now. Main thread; for a campaign that is open for reading."""
        before, until = self.events, self.log.count()
        if until == before:
            return 0
        changes = _changes(self.log, before, until)
        if all(change.changes.keys() <= NOT_FOLDED for change in changes):
            self.settings = apply_changes(self.settings.model_dump(mode="json"), changes)
        else:
            # What the fold makes of earlier events, too, depends on the other settings.
            self._begin(first_event(self.log), _changes(self.log, 0, until))
        self._fold(until)
        return until - before

    def _fold(self, until: int, before: Observer | None = None) -> None:
        """Takes the events after those that the state has taken, up to number `until`."""
        active, events = self.state.seconds, islice(self.log.events(self.events), until - self.events)
        # All that a fold makes stays: looking for garbage meanwhile would find none.
        gc.disable()
        try:
            while batch := list(islice(events, _BATCH)):
                for stamped in batch:
                    if before is not None:
                        before(self, stamped)
                    self.state.replay(stamped.event)
                    self.state.seconds = active = stamped.active
                    if _sets_budget(stamped.event):
                        self._budgeted = stamped.at
                self.events = batch[-1].number
        finally:
            gc.enable()
        self.clock = Clock(active)

    @property
    def task(self) -> Task:
        """The task, in the version that programs are evaluated by now."""
        return self.state.task

    @property
    def seconds(self) -> float:
        """Seconds that the campaign has run, over all its runs; where it is open for reading, as the log says."""
        return self.state.seconds if self.log.readonly else self.clock.seconds

    @property
    def progress(self) -> Progress:
        """Progress until now, the seconds that just passed included; a budget is compared with it."""
        return self.state.progress_at(self.seconds)

    @property
    def budget(self) -> Budget:
        """The campaign's budget; repeated ones end it together with the first that is spent."""
        return budget_of(self.settings, self.task, self._budgeted)

    def operator(self, name: str) -> Operator:
        """Returns a fresh operator with its settings."""
        return self.plugins.operator(name, self.settings.operators.settings.get(name, {}))

    @property
    def usable_operators(self) -> tuple[str, ...]:
        """Operators that may propose now. Where nobody named them, some are only for tasks that are evaluated quickly, or in
        some language. The seed's evaluation, which is in the log, decides that; where two runs must agree seconds decide nothing."""
        if self._are_operators_named:
            return self.operator_names
        seconds = None if self.settings.deterministic else self.state.seed_seconds
        return self.plugins.usable(self.operator_names, self.task.seed, seconds)

    def askable(self, *, models: bool) -> tuple[str, ...]:
        """Returns the usable operators that the next step may ask; none where nothing new is to be expected, so that the campaign is exhausted. `models`: one
        answers. Answers that are never any good end a campaign where they spend nothing of its budget."""
        refusals, names = self.state.refusals, self.usable_operators
        heard = refusals.heard >= NOTHING_NEW and not calls_end_budget(self.budget, self.settings.models.members)
        if not models or heard:
            names = tuple(name for name in names if not self.traits(name).needs_model)
        awake = tuple(name for name in names if not refusals.rests(name, self.state.last_step + 1))
        if refusals.unheard >= NOTHING_NEW or any(self.traits(name).takes_one_elite for name in awake):
            return awake
        return names

    def view(
        self, budget_used: float, operators: Sequence[str] | None = None, models: Sequence[str] = ()
    ) -> CampaignView:
        """Returns what the strategy sees now; it may use these operators, without them all that are usable, and name these models."""
        state, progress = self.state, self.state.progress
        return CampaignView(
            task=state.task,
            archive=state.archive,
            history=state.history,
            lessons=state.lessons,
            # No two runs share their seconds, and two deterministic ones must agree.
            progress=replace(progress, seconds=0.0) if self.settings.deterministic else progress,
            pending=[step.asked for step in state.steps.values()],
            operators=self.usable_operators if operators is None else operators,
            models=models,
            budget_used=budget_used,
            traits=self.traits,
        )

    def traits(self, operator: str) -> Traits:
        """Returns the needs of an operator."""
        return self.plugins.operators[operator].entry.traits

    def append(self, event: Event, at: float | None = None) -> None:
        """Appends an event that the state has taken, which happened now or at `at`. Inside a transaction; main thread."""
        active = self.seconds
        self.events = self.log.append(event, at=time.time() if at is None else at, active=active)
        self.state.seconds = active

    def write(self, event: Event) -> None:
        """Takes and appends an event that is no settled record."""
        self.state.absorb(event)
        self.append(event)

    def change(self, changes: Mapping[str, Any]) -> None:
        """Changes settings of the campaign, by top-level key: see `retuning`."""
        with self.log.transaction():
            self.retune(changes)

    def retune(self, changes: Mapping[str, Any], request: str = "") -> None:
        """Changes settings inside a transaction; `request` names the person's request, where there was one."""
        now = time.time()
        if "budget" in changes:
            # A time of the day means the next one from now, also when the log is replayed on another day.
            changes = {**changes, "budget": [exact(text, now) for text in changes["budget"]]}
            self._budgeted = now
        event = SettingsChanged(changes, request)
        self.state.absorb(event)
        self.append(event, at=now)
        self.settings = apply_changes(self.settings.model_dump(mode="json"), [event])
        if "models" in changes:
            # Other arms learn from the whole log, as they will whenever the campaign is opened.
            self.ensemble = Ensemble(self.settings.models)
            for stamped in self.log.events():
                self.ensemble.tell(stamped.event)

    def digest(self) -> str:
        """Returns the hash of all events that the state has taken, without their circumstances."""
        return digest(stamped.event for stamped in islice(self.log.events(), self.events))

    def close(self) -> None:
        """Closes the log."""
        self.log.close()

    def __enter__(self) -> "Campaign":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tell(self, event: Event) -> None:
        self.ensemble.tell(event)
        guarded(self.settings.strategy.name, self.strategy.tell, event)


class _MissingStrategy:
    """Stands in for a strategy whose package is not installed, in a campaign that is only read."""

    def ask(self, view: View, rng: np.random.Generator) -> Wait:
        """Waits."""
        return Wait()

    def tell(self, event: Event) -> None:
        """Learns nothing."""


def first_event(log: Log) -> Opened:
    """Returns the first event of a campaign's log; raises `StoreError` where it has none."""
    first = next(iter(log.events()), None)
    if first is None or not isinstance(first.event, Opened):
        raise StoreError(f"{log.path} holds no campaign: it has no first event. Try: remove it, and run again")
    return first.event


def task_of(log: Log) -> Task:
    """Returns the version of the task that a log's programs are evaluated by now, without a replay."""
    definition = first_event(log).definition
    for stamped in log.events(only=TaskChanged):
        assert isinstance(stamped.event, TaskChanged), "only such events were asked for"
        definition = stamped.event.definition
    return Reader(log).task(definition)


def settings_of(log: Log) -> Settings:
    """Returns the settings that a campaign has now, without a replay."""
    return apply_changes(first_event(log).settings, _changes(log, 0, log.count()))


def _changes(log: Log, after: int, until: int) -> list[SettingsChanged]:
    """Returns the changes of settings later than event `after`, up to event `until`."""
    stamped = log.events(after, only=SettingsChanged)
    return [one.event for one in stamped if isinstance(one.event, SettingsChanged) and one.number <= until]


def apply_changes(values: Mapping[str, Any], changes: Sequence[SettingsChanged]) -> Settings:
    """Returns stored settings as they are after these changes."""
    for change in changes:
        values = {**values, **change.changes}
    return restore_settings(values)


def _sets_budget(event: Event) -> bool:
    return isinstance(event, Opened) or (isinstance(event, SettingsChanged) and "budget" in event.changes)


def best_confirmed(campaign: Campaign) -> float | None:
    """Returns the best program's fitness (larger is better) as far as it is confirmed: the mean of the measurements that a noisy task's
    best got after it won, None before the first; a certified or a deterministic value as it is. What is claimed is never confirmed."""
    best = campaign.state.archive.best
    if best is None or best.reported is None:
        return None
    is_claimed = best.program in campaign.state.claimed and not best.estimate.certified
    return None if is_claimed else best.reported.mean
