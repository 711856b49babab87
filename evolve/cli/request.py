"""From the words of `evolve run` to what is run: settings and a task that are known to fit, before anything is made.

Invariant: no process is started and no file written here; whatever is wrong with the command is found here."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import evolve.task
from evolve.campaign import Campaign
from evolve.campaign import file as campaign_file
from evolve.campaign.campaign import confirmed_best
from evolve.campaign.fitting import budget_of, check_deterministic, try_settings, with_resource
from evolve.campaign.retuning import retuned
from evolve.campaign.spending import check_priced, check_spendable
from evolve.campaign.workspace import new_path
from evolve.cli.layers import Layers
from evolve.cli.models import checked, file_values, members, place_models
from evolve.config import Settings, validated, with_templates
from evolve.engine.isolation import WantedLevel, wanted_level
from evolve.plugins import Plugins
from evolve.stop import Budget
from evolve.types import ConfigError, Task, TaskError

_WORTHWHILE = 1.0
"""Seconds; what is left of a budget in time after its run ended is less, and starting the judges takes as long."""


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
class Plan:
    """What will run, and how well isolated a person wants it. `changes` are the settings in which it differs from the campaign's earlier runs; `layers` tell where those of a new
    campaign come from."""

    settings: Settings
    task: Task
    plugins: Plugins
    name: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    layers: Layers = field(default_factory=lambda: Layers({}))
    wish: WantedLevel = field(default_factory=WantedLevel)


def new_plan(request: Request, plugins: Plugins, home: Path) -> Plan:
    """A new campaign; raises `ConfigError` or `TaskError`."""
    layers = _layers(request, plugins)
    if "task" not in layers.words and "task" not in layers.file:
        raise ConfigError("there is no TASK. Do: name one (evolve task list), or go on with a campaign (--continue)")
    if request.name:
        new_path(home, "", request.name)
    if request.file is not None:
        with _said_in(request.file):
            _planned(layers.of_file(), plugins)
    settings, task = _planned(layers, plugins)
    written = layers.source("sandbox")
    said = None if written in ("", layers.name) else settings.sandbox.value
    return Plan(settings, task, plugins, request.name, layers=layers, wish=wanted_level(said, settings.sandbox))


def _planned(layers: Layers, plugins: Plugins) -> tuple[Settings, Task]:
    """Settings and a task that fit."""
    settings = with_templates(layers.settings())
    task = evolve.task.load(settings.task, settings.parameters)
    settings = with_resource(settings, task, plugins)
    try_settings(settings, task, plugins)
    checked(settings.models.members, plugins)
    check_deterministic(settings, budget_of(settings, task))
    return settings, task


@contextmanager
def _said_in(file: str) -> Iterator[None]:
    """Names the file in what is wrong with it."""
    try:
        yield
    except (ConfigError, TaskError) as error:
        raise type(error)(f"{file}: {error}") from error


def _layers(request: Request, plugins: Plugins) -> Layers:
    if request.settings is not None:
        values = campaign_file.values({"schema": campaign_file.VERSION, **request.settings}, Path.cwd())
        return Layers(_words(request, plugins), (), place_models(values, Path.cwd(), plugins), "settings")
    file = {} if request.file is None else file_values(Path(request.file), plugins)
    return Layers(_words(request, plugins), request.assignments, file, request.file or "")


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
    """The words of `--model` as settings."""
    found = members(request.models, plugins)
    return {"members": [member.model_dump(mode="json", exclude_unset=True) for member in found]} if found else None


def continued_plan(request: Request, campaign: Campaign) -> Plan:
    """More of a campaign, with what was given anew; raises `ConfigError` or `TaskError`."""
    _refuse_what_is_fixed(request, campaign)
    task = _same_task(request, campaign)
    given: dict[str, Any] = {
        "budget": list(request.budget) or None,
        "judges": request.judges,
        "sandbox": request.sandbox,
        "models": _other_models(request, campaign),
        "trackers": _other_trackers(request, campaign),
    }
    changes = {key: value for key, value in given.items() if value is not None}
    old = validated({**campaign.settings.model_dump(mode="json"), **changes})
    if request.assignments:
        changes |= retuned(campaign.name, old, request.assignments, task, campaign.plugins, running=False)
    settings = validated({**campaign.settings.model_dump(mode="json"), **changes})
    budget = budget_of(settings, task) if "budget" in changes else campaign.budget
    check_priced(budget, settings.models.members, campaign.plugins.model_kind)
    check_spendable(budget, settings.models.members)
    checked(settings.models.members, campaign.plugins)
    check_deterministic(settings, budget)
    _check_something_is_left(budget, campaign)
    wish = wanted_level(request.sandbox or changes.get("sandbox"), campaign.settings.sandbox)
    return Plan(settings, task, campaign.plugins, campaign.name, changes, wish=wish)


def _other_trackers(request: Request, campaign: Campaign) -> dict[str, Any] | None:
    """Those that are named now; they keep the settings that the campaign has for them."""
    if not request.trackers:
        return None
    own = campaign.settings.trackers.settings
    return {"names": list(request.trackers), "settings": {name: own[name] for name in request.trackers if name in own}}


def _other_models(request: Request, campaign: Campaign) -> dict[str, Any] | None:
    """The models of a campaign that has some, with other members: at another address, or at other prices."""
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
    if budget.spent(progress, confirmed_best(campaign), now) or (left is not None and left < _WORTHWHILE):
        raise ConfigError(
            f"the budget of campaign {campaign.name!r} is spent, {budget}: {progress.programs:,} programs in "
            f"{progress.seconds:.0f} s. Do: give a larger one; --budget is the campaign's total over all its runs"
        )


def _refuse_what_is_fixed(request: Request, campaign: Campaign) -> None:
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
            f"Do: change --budget, --judges, --sandbox, --model or what evolve campaign config {campaign.name} says may change, or run a new campaign"
        )


def _same_task(request: Request, campaign: Campaign) -> Task:
    """The campaign's task as it is now; one that was moved and renamed is the same task where its files are the same."""
    found = place_of_task(campaign, request.task)
    task = _loaded(found, campaign)
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


def _loaded(found: Path, campaign: Campaign) -> Task | None:
    """The task that was found; None for one of another name that does not even have the campaign's parameters."""
    try:
        return evolve.task.load(found, campaign.settings.parameters)
    except TaskError:
        if evolve.task.name_of(found) == campaign.task.name:
            raise
        return None


def place_of_task(campaign: Campaign, reference: str | None) -> Path:
    """Where a campaign's task is said to be, or was; raises `TaskError`."""
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
