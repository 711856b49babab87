"""Plans of runs: settings and a task that are known to fit, from the words of `evolve run`, before anything is made.

Settings of a new campaign come from a campaign file, then from the words of the command line, then from `--set`; the later wins.
No process is started and no file written here; whatever is wrong with the command is found here."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import evolve.task
from evolve.assignments import parse_assignment
from evolve.campaign import Campaign
from evolve.campaign import file as campaign_file
from evolve.campaign.campaign import best_confirmed
from evolve.campaign.fitting import budget_of, check_deterministic, try_settings, with_resource
from evolve.campaign.retuning import retune
from evolve.campaign.spending import check_priced, check_spendable
from evolve.campaign.workspace import new_path
from evolve.cli.model_specs import check_models, parse_models, place_models, read_campaign_file
from evolve.config import Settings, settings_from, validate_settings, with_templates
from evolve.engine.isolation import WantedLevel, wanted_level
from evolve.plugins import Plugins
from evolve.stop import Budget
from evolve.types import ConfigError, Scalar, Task, TaskError

COMMAND_LINE = "command line"
_LEAST_SECONDS = 1.0
"""Seconds of a budget that are worth a run: starting the workers takes as long."""


@dataclass(frozen=True, slots=True)
class Request:
    """The command line. `resume` is None for a new campaign, a name for that one, empty for the one written last; `file` is a campaign
    file, `settings` are such a file's values, as Python gives them."""

    task: str | None
    resume: str | None
    name: str | None
    budget: tuple[str, ...]
    seed: int | None
    strategy: str | None
    judges: int | None
    assignments: tuple[str, ...]
    deterministic: bool
    file: str | None = None
    sandbox: str | None = None
    models: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    trackers: tuple[str, ...] = ()
    settings: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Layers:
    """Settings of a new campaign by their source: the campaign file `name`, the words of the command line, and `--set`; values are nested
    in the shape of `Settings`."""

    words: Mapping[str, Any]
    assignments: tuple[str, ...] = ()
    file: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def settings(self) -> Settings:
        """Returns the settings of all layers together; raises `ConfigError`."""
        return settings_from(self._merge(), self.assignments)

    def of_file(self) -> "Layers":
        """Returns the file's layer alone, on the task that is meant."""
        return Layers({key: value for key, value in self.words.items() if key == "task"}, (), self.file, self.name)

    def source(self, key: str) -> str:
        """Returns where the value of a dotted key comes from; empty for a default."""
        for assignment in reversed(self.assignments):
            path, _ = parse_assignment(assignment)
            if key == ".".join(["parameters", *path[1:]] if path[0] == "task" else path):
                return f"--set {assignment}"
        for name, values in ((COMMAND_LINE, self.words), (self.name, self.file)):
            if _has_key(values, key.split(".")):
                return name
        return ""

    def _merge(self) -> dict[str, Any]:
        # Another strategy takes nothing of the settings of the file's.
        tree = {**self.file, **self.words}
        theirs, ours = self.file.get("strategy", {}), self.words.get("strategy")
        if ours is not None and ours["name"] == theirs.get("name", Settings.model_fields["strategy"].default.name):
            tree["strategy"] = {**theirs, **ours}
        if "trackers" in self.words:
            tree["trackers"] = _trackers(
                self.words["trackers"]["names"], self.file.get("trackers", {}).get("settings", {})
            )
        if "models" in self.words:
            tree["models"] = {**self.file.get("models", {}), **self.words["models"]}
        return tree


def _has_key(values: Any, path: list[str]) -> bool:
    return not path or (isinstance(values, Mapping) and path[0] in values and _has_key(values[path[0]], path[1:]))


def _trackers(names: Iterable[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the table of the trackers that are named, with those of their settings that are known."""
    return {"names": list(names), "settings": {name: settings[name] for name in names if name in settings}}


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings, task and plugins of a run. `changes` are the settings in which it differs from the campaign's earlier runs; `layers` tell the sources of a
    new campaign's settings."""

    settings: Settings
    task: Task
    plugins: Plugins
    name: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    layers: Layers = field(default_factory=lambda: Layers({}))
    wanted: WantedLevel = field(default_factory=WantedLevel)


def new_plan(request: Request, plugins: Plugins, home: Path) -> Plan:
    """Returns the plan of a new campaign; raises `ConfigError` or `TaskError`."""
    layers = _layers(request, plugins)
    if "task" not in layers.words and "task" not in layers.file:
        raise ConfigError("there is no TASK. Do: name one (evolve task list), or go on with a campaign (--continue)")
    name = request.name
    if name:
        new_path(home, "", name)
    if request.file is not None:
        with _name_file(request.file):
            _fit(layers.of_file(), plugins)
    settings, task = _fit(layers, plugins)
    if name is None and request.task and Path(request.task).is_file() and task.one_file:
        # A person who names the file looks for its name, where the task's may be that of its folder.
        name = new_path(home, Path(request.task).stem, None).stem
    source = layers.source("sandbox")
    sandbox = None if source in ("", layers.name) else settings.sandbox.value
    return Plan(settings, task, plugins, name, layers=layers, wanted=wanted_level(sandbox, settings.sandbox))


def _layers(request: Request, plugins: Plugins) -> Layers:
    words = _words(request, plugins)
    if request.settings is not None:
        values = campaign_file.values({"schema": campaign_file.VERSION, **request.settings}, Path.cwd())
        return Layers(words, (), place_models(values, Path.cwd(), plugins), "settings")
    file = {} if request.file is None else read_campaign_file(Path(request.file), plugins)
    return Layers(words, request.assignments, file, request.file or "")


def _fit(layers: Layers, plugins: Plugins) -> tuple[Settings, Task]:
    """Returns settings and a task that fit."""
    settings = with_templates(layers.settings())
    task = evolve.task.load(settings.task, settings.parameters)
    settings = with_resource(settings, task, plugins)
    try_settings(settings, task, plugins)
    check_models(settings.models.members, plugins)
    check_deterministic(settings, budget_of(settings, task))
    return settings, task


@contextmanager
def _name_file(file: str) -> Iterator[None]:
    try:
        yield
    except (ConfigError, TaskError) as error:
        raise type(error)(f"{file}: {error}") from error


def _words(request: Request, plugins: Plugins) -> dict[str, Any]:
    given: dict[str, Any] = {
        "task": request.task,
        "budget": list(request.budget) or None,
        "seed": request.seed,
        "judges": request.judges,
        "deterministic": request.deterministic or None,
        "sandbox": request.sandbox,
        "strategy": None if request.strategy is None else {"name": request.strategy},
        "models": _models(request, plugins),
        "trackers": {"names": list(request.trackers)} if request.trackers else None,
    }
    return {key: value for key, value in given.items() if value is not None}


def _models(request: Request, plugins: Plugins) -> dict[str, Any] | None:
    members = parse_models(request.models, plugins)
    return {"members": [member.model_dump(mode="json", exclude_unset=True) for member in members]} if members else None


def continued_plan(request: Request, campaign: Campaign) -> Plan:
    """Returns the plan of more of a campaign, with what is given anew; raises `ConfigError` or `TaskError`."""
    _refuse_fixed(request, campaign)
    task = _same_task(request, campaign)
    own = campaign.settings.trackers.settings
    given: dict[str, Any] = {
        "budget": list(request.budget) or None,
        "judges": request.judges,
        "sandbox": request.sandbox,
        "models": _other_models(request, campaign),
        "trackers": _trackers(request.trackers, own) if request.trackers else None,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    old = validate_settings({**campaign.settings.model_dump(mode="json"), **changes})
    if request.assignments:
        changes |= retune(campaign.name, old, request.assignments, task, campaign.plugins, running=False)
    settings = validate_settings({**campaign.settings.model_dump(mode="json"), **changes})
    budget = budget_of(settings, task) if "budget" in changes else campaign.budget
    check_priced(budget, settings.models.members, campaign.plugins.model_kind)
    check_spendable(budget, settings.models.members)
    check_models(settings.models.members, campaign.plugins)
    check_deterministic(settings, budget)
    _check_something_is_left(budget, campaign)
    wanted = wanted_level(request.sandbox or changes.get("sandbox"), campaign.settings.sandbox)
    return Plan(settings, task, campaign.plugins, campaign.name, changes, wanted=wanted)


def _other_models(request: Request, campaign: Campaign) -> dict[str, Any] | None:
    """Returns the models of a campaign that has some, with other members: at another address, or at other prices."""
    found = _models(request, campaign.plugins)
    if found is None:
        return None
    if not campaign.settings.models.members:
        raise ConfigError(
            f"campaign {campaign.name!r} began without a model, and keeps its operators, got --model. Do: fork it with models, "
            f"evolve campaign fork {campaign.name} --model SPEC, or run a new campaign"
        )
    return {**campaign.settings.models.model_dump(mode="json"), **found}


def _check_something_is_left(budget: Budget, campaign: Campaign) -> None:
    now = time.time()
    progress = campaign.progress
    left = budget.seconds_left(progress, now)
    if budget.spent(progress, best_confirmed(campaign), now) or (left is not None and left < _LEAST_SECONDS):
        raise ConfigError(
            f"the budget of campaign {campaign.name!r} is spent, {budget}: {progress.programs:,} programs in "
            f"{progress.seconds:.0f} s. Do: give a larger one; --budget is the campaign's total over all its runs"
        )


def _refuse_fixed(request: Request, campaign: Campaign) -> None:
    given = {
        "--name": request.name is not None,
        "--seed": request.seed not in (None, campaign.settings.seed),
        "--strategy": request.strategy not in (None, campaign.settings.strategy.name),
        "--config": request.file is not None,
        "--deterministic": request.deterministic and not campaign.settings.deterministic,
    }
    fixed = [option for option, differs in given.items() if differs]
    if fixed:
        raise ConfigError(
            f"campaign {campaign.name!r} keeps the settings that it began with, got {', '.join(fixed)}. "
            f"Do: change --budget, --workers, --sandbox, --model or what evolve campaign config {campaign.name} says may change, or run a new campaign"
        )


def _same_task(request: Request, campaign: Campaign) -> Task:
    """Returns the campaign's task as it is now; one that was moved and renamed is the same task where its files are the same."""
    found = find_task(campaign, request.task)
    task = _load(found, campaign)
    same = task is not None and task.version == campaign.task.version
    moved = same and not Path(campaign.task.path).exists()
    if task is None or (task.name != campaign.task.name and not moved):
        name = evolve.task.name_of(found)
        raise ConfigError(
            f"campaign {campaign.name!r} is on the task {campaign.task.name!r}, got {name!r}. "
            f"Do: --continue NAME with a campaign on {name!r} (evolve campaign list), or leave --continue out"
        )
    if not same:
        raise ConfigError(
            f"the task {task.name!r} in {task.path} has changed since campaign {campaign.name!r} began, so that scores would not "
            f"compare. Do: judge its elites by the new version, evolve campaign rejudge {campaign.name}; or run a new campaign, "
            f"evolve run {request.task or found}"
        )
    return task


def _load(found: Path, campaign: Campaign) -> Task | None:
    """Loads the task at a place; returns None for one of another name that does not even have the campaign's parameters."""
    try:
        return evolve.task.load(found, campaign.settings.parameters)
    except TaskError:
        if evolve.task.name_of(found) == campaign.task.name:
            raise
        return None


def find_task(campaign: Campaign, reference: str | None) -> Path:
    """Returns where a campaign's task is by `reference`, or where it was; raises `TaskError`."""
    if reference is not None:
        return evolve.task.find(reference)
    place = Path(campaign.task.path)
    if place.exists():
        return evolve.task.find(place)
    try:
        return evolve.task.find(campaign.settings.task)
    except TaskError as error:
        raise TaskError(
            f"the folder of task {campaign.task.name!r} is gone: it was {place}. "
            f"Do: say where it is now, evolve run PATH --continue {campaign.name}"
        ) from error


def parse_parameters(assignments: Iterable[str]) -> dict[str, Scalar]:
    """Returns the task's parameters of `--set task.KEY=VALUE` where there is no campaign, the later ones winning; raises
    `ConfigError`."""
    found: dict[str, Scalar] = {}
    for assignment in assignments:
        path, value = parse_assignment(assignment)
        if path[0] != "task" or len(path) != 2:
            raise ConfigError(
                f"without a campaign only parameters of the task can be set, got {assignment!r}. Do: --set task.KEY=VALUE"
            )
        if not isinstance(value, bool | int | float | str):
            raise ConfigError(f"a parameter is a number, a text or true/false, got {assignment!r}. Do: write one")
        found[path[1]] = value
    return found
