"""Opening a campaign: a log, the task and settings that its first event holds, and the fold over all the others.

Invariant: a campaign is what its log says; the task's folder is needed to judge, never to replay."""

import gc
import hashlib
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import evolve
from evolve.archive import Archive
from evolve.campaign.clock import Clock
from evolve.campaign.ensemble import Ensemble
from evolve.campaign.essence import essence
from evolve.campaign.fitting import archive_of, budget_of, dated, operators_of, try_settings, with_resource
from evolve.campaign.history import Past, Reader
from evolve.campaign.refusals import NOTHING_NEW
from evolve.campaign.spending import ended_by_calls
from evolve.campaign.state import State
from evolve.campaign.workspace import existing_path, new_path, secret_for
from evolve.config import Settings, restore_settings, with_templates
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
_CHANGE_NO_STATE = frozenset(
    {"budget", "confirm", "judges", "lessons", "novelty", "operators", "outage", "prompts", "sandbox", "trackers"}
)
"""Settings that the fold does not depend on, as far as `retuning` lets them change: those who follow a log need not begin anew where one of them does."""


def stream(seed: int, step: int, purpose: str) -> np.random.Generator:
    """The random stream of one purpose of one step. No state of it is ever saved."""
    key: Any = _Key(hashlib.sha256(f"{seed}/{step}/{purpose}".encode()).digest())
    return np.random.Generator(np.random.Philox(key))


class _Key(np.random.bit_generator.ISeedSequence):
    """The key of a stream, so that numpy does not ask the system for chance first, as it does where the key is its argument."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray[Any, Any]:
        """Its first words."""
        return np.frombuffer(self._key, dtype, n_words)


@dataclass(frozen=True)
class CampaignView:
    """What a strategy sees; implements `protocols.View`."""

    state: State
    operators: Sequence[str]
    budget_used: float
    timed: bool
    traits: Callable[[str], Traits]

    @property
    def task(self) -> Task:
        """The campaign's task."""
        return self.state.task

    @property
    def archive(self) -> Archive:
        """The folded archive."""
        return self.state.archive

    @property
    def history(self) -> Past:
        """All that has settled."""
        return self.state.history

    @property
    def lessons(self) -> Sequence[Lesson]:
        """What operators and persons wrote."""
        return self.state.lessons

    @property
    def progress(self) -> Progress:
        """What was spent, up to the last event; in a deterministic campaign without the seconds, which no two runs share."""
        return self.state.progress if self.timed else replace(self.state.progress, seconds=0.0)

    @property
    def pending(self) -> Sequence[Asked]:
        """Steps that were asked and have not settled."""
        return [step.asked for step in self.state.steps.values()]


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
        """Nothing is folded yet."""
        self.settings = _after(opened.settings, changes)
        strategy = self.settings.strategy
        try:
            self.operator_names = operators_of(self.settings, self.plugins)
            self.strategy: Strategy = self.plugins.strategy(strategy.name, strategy.settings, self.operator_names)
        except ConfigError:
            # To read a campaign needs none of the packages that it ran with; to go on with it needs them all.
            if not self.log.readonly:
                raise
            wanted = self.settings.operators.names
            self.operator_names = tuple(name for name in wanted if name in self.plugins.operators)
            self.strategy = _MissingStrategy()
        self.ensemble = Ensemble(self.settings.models)
        self.state = State(
            self.first_task,
            lambda version: archive_of(version, self.settings),
            Reader(self.log),
            self._tell,
            seeds=self.settings.confirm.seeds,
            carry=self.settings.carry,
        )
        self.events = 0
        """How many events the state has taken."""

    @classmethod
    def create(
        cls, settings: Settings, task: Task, plugins: Plugins, home: Path, name: str | None = None
    ) -> "Campaign":
        """A new campaign with its log; raises `ConfigError` for a name that is taken, and before anything is written."""
        versions = {"evolve": evolve.__version__, "python": platform.python_version(), "numpy": np.__version__}
        definition = canonical(encode(task))
        now = time.time()
        settings = dated(with_resource(with_templates(settings), task, plugins), now)
        path = new_path(home, task.name, name)
        name, values = text_id(definition), settings.model_dump(mode="json")
        try_settings(settings, task, plugins)
        secret = secret_for(home, task.name)
        opened = Opened(path.stem, settings.task, task.version, name, values, versions, secret=secret)
        log = begin(path, opened, {name: definition}, now)
        # The task as the log has it: what it maps is in another order there, and a prompt must be the same in every run.
        return cls(log, opened, Reader(log).task(opened.definition), plugins).replayed()

    @classmethod
    def open(cls, name: str | None, plugins: Plugins, home: Path, *, readonly: bool = True) -> "Campaign":
        """An existing campaign, replayed; `name` may be None (the one written last) or the path of a log."""
        with ExitStack() as failing:
            log = failing.enter_context(Log.open(existing_path(home, name), readonly=readonly))
            opened = opened_of(log)
            until = log.count()
            campaign = cls(log, opened, Reader(log).task(opened.definition), plugins, _changes(log, 0, until))
            campaign.replayed(until)
            failing.pop_all()
        return campaign

    def replayed(self, until: int | None = None) -> "Campaign":
        """Folds the log, up to event `until` or to its end; returns itself."""
        self._fold(self.log.count() if until is None else until)
        return self

    def follow(self) -> int:
        """Folds what was appended to the log since, by whoever writes it, and says how many events that were; the campaign is then the same
        as one that was opened now. Main thread; for a campaign that is open for reading."""
        before, until = self.events, self.log.count()
        if until == before:
            return 0
        changes = _changes(self.log, before, until)
        if all(change.changes.keys() <= _CHANGE_NO_STATE for change in changes):
            self.settings = _changed(self.settings, changes)
        else:
            self._begin(opened_of(self.log), _changes(self.log, 0, until))
        self._fold(until)
        return until - before

    def _fold(self, until: int) -> None:
        """Takes the events after those that the state has taken, up to number `until`. What it makes stays, so looking for garbage meanwhile would find
        none."""
        active, events = self.state.seconds, islice(self.log.events(self.events), until - self.events)
        gc.disable()
        try:
            while batch := list(islice(events, _BATCH)):
                for stamped in batch:
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
        """The task, in the version that programs are judged by now."""
        return self.state.task

    @property
    def seconds(self) -> float:
        """How long the campaign has run, over all its runs; where it is open for reading, as the log says."""
        return self.state.seconds if self.log.readonly else self.clock.seconds

    @property
    def progress(self) -> Progress:
        """What was spent until now, the seconds that just passed included: what a budget is held against."""
        return self.state.progress_at(self.seconds)

    @property
    def budget(self) -> Budget:
        """The campaign's budget; repeated ones end it together with the first that is spent."""
        return budget_of(self.settings, self.task, self._budgeted)

    def operator(self, name: str) -> Operator:
        """A fresh operator with its settings."""
        return self.plugins.operator(name, self.settings.operators.settings.get(name, {}))

    @property
    def usable_operators(self) -> tuple[str, ...]:
        """Those of its operators that may propose now. Where nobody named them, some are only for tasks that are judged quickly, or in
        some language. The seed's judging, which is in the log, decides that; where two runs must agree seconds decide nothing."""
        if self.settings.operators.names:
            return self.operator_names
        seconds = None if self.settings.deterministic else self.state.seed_seconds
        return self.plugins.usable(self.operator_names, self.task.seed, seconds)

    def askable(self, *, models: bool) -> tuple[str, ...]:
        """Those of its usable operators that the next step may ask; none where nothing new is to be expected, so that the campaign is exhausted. `models`: one
        answers. Answers that are never any good end a campaign where they spend nothing of its budget."""
        refusals, names = self.state.refusals, self.usable_operators
        heard = refusals.heard >= NOTHING_NEW and not ended_by_calls(self.budget, self.settings.models.members)
        if not models or heard:
            names = tuple(name for name in names if not self.traits(name).needs_model)
        awake = tuple(name for name in names if not refusals.rests(name, self.state.last_step + 1))
        if refusals.unheard >= NOTHING_NEW or any(self.traits(name).takes_one_elite for name in awake):
            return awake
        return names

    def view(self, budget_used: float, operators: Sequence[str] | None = None) -> CampaignView:
        """What the strategy is shown now; it may use these operators, without them all that are usable."""
        usable = self.usable_operators if operators is None else operators
        return CampaignView(self.state, usable, budget_used, not self.settings.deterministic, self.traits)

    def traits(self, operator: str) -> Traits:
        """What an operator needs of its selection."""
        return self.plugins.operators[operator].entry.traits

    def record(self, event: Event, at: float | None = None) -> None:
        """Appends an event that the state has taken, which happened now or at `at`. Inside a transaction; main thread."""
        active = self.seconds
        self.events = self.log.append(event, at=time.time() if at is None else at, active=active)
        self.state.seconds = active

    def write(self, event: Event) -> None:
        """Takes and appends an event that is no settled record."""
        self.state.absorb(event)
        self.record(event)

    def change(self, changes: Mapping[str, Any]) -> None:
        """Later settings of the same campaign, by top-level key: see `retuning`."""
        with self.log.transaction():
            self.retune(changes)

    def retune(self, changes: Mapping[str, Any], request: str = "") -> None:
        """The same inside a transaction; `request` names the person's request, where there was one."""
        now = time.time()
        if "budget" in changes:
            changes = {**changes, "budget": [exact(text, now) for text in changes["budget"]]}
            self._budgeted = now
        event = SettingsChanged(changes, request)
        self.state.absorb(event)
        self.record(event, at=now)
        self.settings = _changed(self.settings, [event])
        if "models" in changes:
            self.ensemble = self._ensemble()

    def _ensemble(self) -> Ensemble:
        """The models as they are now, which learn from the log what it tells of them."""
        found = self.ensemble.with_settings(self.settings.models)
        if found is None:
            found = Ensemble(self.settings.models)
            for stamped in self.log.events() if found.learns else ():
                found.tell(stamped.event)
        return found

    def digest(self) -> str:
        """The hash of all events without their circumstances: equal for two `--deterministic` campaigns with one seed that each
        ran in one piece."""
        total = hashlib.sha256()
        for stamped in islice(self.log.events(), self.events):
            kept = essence(stamped.event)
            if kept is not None:
                total.update(canonical(encode(kept)).encode())
        return total.hexdigest()

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


def opened_of(log: Log) -> Opened:
    """The first event of a campaign's log; raises `StoreError` where it has none."""
    first = next(iter(log.events()), None)
    if first is None or not isinstance(first.event, Opened):
        raise StoreError(f"{log.path} holds no campaign: it has no first event. Do: remove it, and run again")
    return first.event


def task_of(log: Log) -> Task:
    """The version of the task that a log's programs are judged by now, without a replay."""
    definition = opened_of(log).definition
    for stamped in log.events(only=TaskChanged):
        assert isinstance(stamped.event, TaskChanged), "only such events were asked for"
        definition = stamped.event.definition
    return Reader(log).task(definition)


def settings_of(log: Log) -> Settings:
    """The settings that a campaign has now, without a replay."""
    return _after(opened_of(log).settings, _changes(log, 0, log.count()))


def _changes(log: Log, after: int, until: int) -> list[SettingsChanged]:
    """What changed the settings later than event `after`, up to event `until`."""
    stamped = log.events(after, only=SettingsChanged)
    return [one.event for one in stamped if isinstance(one.event, SettingsChanged) and one.number <= until]


def _changed(settings: Settings, changes: Sequence[SettingsChanged]) -> Settings:
    """The settings after events that change them."""
    return _after(settings.model_dump(mode="json"), changes) if changes else settings


def _after(values: Mapping[str, Any], changes: Sequence[SettingsChanged]) -> Settings:
    for change in changes:
        values = {**values, **change.changes}
    return restore_settings(values)


def _sets_budget(event: Event) -> bool:
    return isinstance(event, Opened) or (isinstance(event, SettingsChanged) and "budget" in event.changes)


def confirmed_best(campaign: Campaign) -> float | None:
    """The best program's fitness (larger is better) as far as it is confirmed: the mean of the measurements that a noisy task's
    best got after it won, None before the first; a certified or a deterministic value as it is. What is claimed is never confirmed."""
    best = campaign.state.archive.best
    if best is None or best.reported is None:
        return None
    is_claimed = best.program in campaign.state.claimed and not best.estimate.certified
    return None if is_claimed else best.reported.mean
