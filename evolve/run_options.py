"""Runs from the options of `evolve run` and of `evolve.run`: settings and a task that are known to fit, before anything is made.

Settings of a new campaign come from a preset, then from campaign files, from the options, and from `--set`; the later wins, key by key.
No process is started and no file written here; whatever is wrong with the options is found here."""

import functools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evolve.task
from evolve.campaign import Campaign
from evolve.campaign import file as campaign_file
from evolve.campaign.campaign import best_confirmed
from evolve.campaign.settings import budget_of, retune, try_settings, with_resource, with_templates
from evolve.campaign.workspace import new_path
from evolve.config import Settings, settings_from, validate_settings
from evolve.devices.leases import EVERYTHING, Grant
from evolve.engine import RunRequest
from evolve.engine.isolation import wanted_level
from evolve.model_specs import check_models, parse_models, place_models, read_campaign_file
from evolve.plugins import Plugins
from evolve.stop import Budget
from evolve.types import ConfigError, Task, TaskError

_LEAST_SECONDS = 1.0
"""Seconds of a budget that are worth a run: starting the workers takes as long."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run. `resume` is None for a new campaign, a name for that one, empty for the one written last; `files` are campaign
    files, `settings` are such a file's values, as Python gives them."""

    task: str | None = None
    resume: str | None = None
    name: str | None = None
    budget: tuple[str, ...] = ()
    seed: int | None = None
    strategy: str | None = None
    workers: int | None = None
    assignments: tuple[str, ...] = ()
    deterministic: bool = False
    preset: str | None = None
    files: tuple[str, ...] = ()
    sandbox: str | None = None
    models: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    trackers: tuple[str, ...] = ()
    settings: Mapping[str, Any] | None = None


def plan_new(options: RunOptions, plugins: Plugins, home: Path, devices: Grant = EVERYTHING) -> RunRequest:
    """Returns the run of a new campaign in the workspace `home`; raises `ConfigError` or `TaskError`."""
    sources = _read_sources(options, plugins)
    values = functools.reduce(merge_settings, sources.values(), dict[str, Any]())
    if "task" not in values:
        raise ConfigError("there is no TASK. Try: name one (evolve task list), or go on with a campaign (--continue)")
    name = options.name
    if name:
        new_path(home, "", name)
    # The texts of a folder of templates are kept in the settings, so that the log needs no folder.
    settings = with_templates(settings_from(values, options.assignments))
    task = evolve.task.load(settings.task, settings.parameters)
    settings = with_resource(settings, task, plugins)
    try_settings(settings, task, plugins)
    check_models(settings.models.members, plugins)
    if name is None and options.task and Path(options.task).is_file() and task.one_file:
        # A person who names the file looks for its name, where the task's may be that of its folder.
        name = new_path(home, Path(options.task).stem, None).stem
    wanted = wanted_level(options.sandbox, settings.sandbox)
    told = {source: tuple(_list_keys(tree)) for source, tree in sources.items()}
    told["--set"] = tuple(text.partition("=")[0].strip() for text in options.assignments)
    return RunRequest(settings, task, plugins, home, name, wanted=wanted, devices=devices, sources=told)


def _list_keys(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _list_keys(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _read_sources(options: RunOptions, plugins: Plugins) -> dict[str, dict[str, Any]]:
    """Returns the values of all sources but `--set`, by what a person calls them; the later wins."""
    files = {path: read_campaign_file(Path(path), plugins) for path in options.files}
    if options.settings is not None:
        data = {"schema": campaign_file.VERSION, **options.settings}
        files["settings"] = place_models(campaign_file.values(data, Path.cwd()), Path.cwd(), plugins)
    sources = {**files, "options": read_options(options, plugins)}
    named = [tree["preset"] for tree in sources.values() if tree.get("preset")]
    return {f"preset {named[-1]}": dict(plugins.preset(named[-1])), **sources} if named else sources


def read_options(options: RunOptions, plugins: Plugins) -> dict[str, Any]:
    """Returns the settings that options give, without those of `--set` and of a campaign file; raises `ConfigError`."""
    members = [one.model_dump(mode="json", exclude_unset=True) for one in parse_models(options.models, plugins)]
    given: dict[str, Any] = {
        "task": options.task,
        "budget": list(options.budget),
        "preset": options.preset,
        "seed": options.seed,
        "workers": options.workers,
        "deterministic": options.deterministic,
        "sandbox": options.sandbox,
        "strategy": {"name": options.strategy} if options.strategy is not None else {},
        "models": {"members": members} if members else {},
        "trackers": {"names": list(options.trackers)} if options.trackers else {},
    }
    # A number may be 0 on purpose, and 0 == False.
    return {key: value for key, value in given.items() if value or (value == 0 and value is not False)}


def merge_settings(below: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values `below` with the given ones in their place, table by table. Another strategy, and trackers that are not named any more, leave their
    settings behind."""
    tree = _merge(below, given)
    if "name" in given.get("strategy", {}):
        default = Settings.model_fields["strategy"].default.name
        if given["strategy"]["name"] != below.get("strategy", {}).get("name", default):
            tree["strategy"] = given["strategy"]
    if "names" in given.get("trackers", {}):
        names, known = tree["trackers"]["names"], tree["trackers"].get("settings", {})
        tree["trackers"] = {**tree["trackers"], "settings": {name: known[name] for name in names if name in known}}
    return tree


def _merge(below: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    tree = dict(below)
    for key, value in given.items():
        known = tree.get(key)
        tree[key] = _merge(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return tree


def plan_more(options: RunOptions, campaign: Campaign, home: Path, devices: Grant = EVERYTHING) -> RunRequest:
    """Returns the run of more of a campaign, with what is given anew; raises `ConfigError` or `TaskError`."""
    _refuse_fixed(options, campaign)
    task = _same_task(options, campaign)
    settings, plugins = campaign.settings.model_dump(mode="json"), campaign.plugins
    given = {
        key: value
        for key, value in read_options(options, plugins).items()
        if key in ("budget", "workers", "sandbox", "models", "trackers")
    }
    if "models" in given and not campaign.settings.models.members:
        raise ConfigError(
            f"campaign {campaign.name!r} began without a model, and keeps its operators, got --model. Try: fork it with models, "
            f"evolve campaign fork {campaign.name} --model SPEC, or run a new campaign"
        )
    merged = merge_settings(settings, given)
    changes = {key: merged[key] for key in given}
    if options.assignments:
        changes |= retune(campaign.name, validate_settings(merged), options.assignments, task, plugins, running=False)
    changed = validate_settings({**settings, **changes})
    # The budget that the campaign began with has its dates already; only a new one is read again.
    budget = budget_of(changed, task) if "budget" in changes else campaign.budget
    try_settings(changed, task, plugins, budget)
    check_models(changed.models.members, plugins)
    _check_something_is_left(budget, campaign)
    wanted = wanted_level(changes.get("sandbox"), campaign.settings.sandbox)
    return RunRequest(changed, task, plugins, home, campaign.name, campaign, changes, wanted, devices)


def _check_something_is_left(budget: Budget, campaign: Campaign) -> None:
    now = time.time()
    progress = campaign.progress
    left = budget.seconds_left(progress, now)
    if budget.spent(progress, best_confirmed(campaign), now) or (left is not None and left < _LEAST_SECONDS):
        but = f", but for {left:.1f} s" if left else ""
        raise ConfigError(
            f"the budget of campaign {campaign.name!r} is spent{but}, {budget}: {progress.programs:,} programs in "
            f"{progress.seconds:.0f} s. Try: give a larger one; --budget is the campaign's total over all its runs"
        )


def _refuse_fixed(options: RunOptions, campaign: Campaign) -> None:
    given = {
        "--name": options.name is not None,
        "--seed": options.seed not in (None, campaign.settings.seed),
        "--strategy": options.strategy not in (None, campaign.settings.strategy.name),
        "--config": bool(options.files),
        "--preset": options.preset not in (None, campaign.settings.preset),
        "--deterministic": options.deterministic and not campaign.settings.deterministic,
    }
    fixed = [option for option, differs in given.items() if differs]
    if fixed:
        raise ConfigError(
            f"campaign {campaign.name!r} keeps the settings that it began with, got {', '.join(fixed)}. "
            f"Try: change --budget, --workers, --sandbox, --model or what evolve campaign config {campaign.name} says may change, or run a new campaign"
        )


def _same_task(options: RunOptions, campaign: Campaign) -> Task:
    """Returns the campaign's task as it is now; one that was moved and renamed is the same task where its files are the same."""
    found = find_task(campaign, options.task)
    try:
        task = evolve.task.load(found, campaign.settings.parameters)
    except TaskError:
        # A task of another name need not even have the campaign's parameters.
        if evolve.task.name_of(found) == campaign.task.name:
            raise
        task = None
    same = task is not None and task.version == campaign.task.version
    moved = same and not Path(campaign.task.path).exists()
    if task is None or (task.name != campaign.task.name and not moved):
        name = evolve.task.name_of(found)
        raise ConfigError(
            f"campaign {campaign.name!r} is on the task {campaign.task.name!r}, got {name!r}. "
            f"Try: --continue NAME with a campaign on {name!r} (evolve campaign list), or leave --continue out"
        )
    if not same:
        raise ConfigError(
            f"the task {task.name!r} in {task.path} has changed since campaign {campaign.name!r} began, so that scores would not "
            f"compare. Try: evaluate its elites by the new version, evolve campaign rejudge {campaign.name}; or run a new campaign, "
            f"evolve run {options.task or found}"
        )
    return task


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
            f"Try: say where it is now, evolve run PATH --continue {campaign.name}"
        ) from error
