"""Settings of a campaign: the operators and the budget that they spell, checks that they fit the task and the plugins, and later changes.

Nothing is made here; whatever does not fit is one `ConfigError`, found before there is a log."""

import math
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import evolve
from evolve import novelty
from evolve.archive import Archive, ArchiveSettings
from evolve.campaign.folds import REFLECTION
from evolve.campaign.spending import prices_of
from evolve.config import ModelSection, Settings, settings_from
from evolve.hookspecs import ModelEntry
from evolve.plugins import Plugins, package_versions
from evolve.prompts import templates as prompt_templates
from evolve.stop import Amount, Budget, Resource, Until, budget_from, exact, tightest
from evolve.types import PURPOSES, Axis, ConfigError, Progress, Task
from evolve.types.errors import did_you_mean

_TIMES = ("seconds", "gpu_seconds")
WHILE_RUNNING = frozenset({"budget", "workers"})
"""Settings that may change while a run goes on."""


def with_templates(settings: Settings) -> Settings:
    """Returns the settings with what their folder of templates holds, so that a log needs no folder; raises `ConfigError` for one that cannot be
    used."""
    section = settings.prompts
    found = prompt_templates.from_folder(Path(section.folder).expanduser()) if section.folder else {}
    templates = {**found, **section.templates}
    prompt_templates.check(templates)
    return settings.model_copy(update={"prompts": section.model_copy(update={"folder": "", "templates": templates})})


def budget_of(settings: Settings, task: Task, now: float | None = None) -> Budget:
    """Returns the budget that the settings spell, as it was decided at `now` (without it, at this moment); raises `ConfigError`."""
    return budget_from(settings.budget, time.time() if now is None else now, task.fitness)


def complete_settings(settings: Settings, task: Task, plugins: Plugins, now: float) -> Settings:
    """Returns the settings as a log keeps them: with templates, the budget's resource, and a date for each time of the day in the budget, so
    that it means the same at every later run. `now` in seconds since 1970. Raises `ConfigError`."""
    settings = with_resource(with_templates(settings), task, plugins)
    return settings.model_copy(update={"budget": tuple(exact(text, now) for text in settings.budget)})


def with_resource(settings: Settings, task: Task, plugins: Plugins) -> Settings:
    """Returns the settings with the resource of the tightest budget, for a strategy that wants to know it, and for the choice of models. It is fixed for the campaign's
    whole life, so that every replay decides alike."""
    # Seconds differ between two deterministic runs, so that nothing may be learnt from them.
    resource = "programs" if settings.deterministic else tightest(budget_of(settings, task), Progress())
    strategy, models = settings.strategy, settings.models
    if "resource" not in strategy.settings and plugins.strategy_accepts(strategy.name, "resource"):
        strategy = strategy.model_copy(update={"settings": {**strategy.settings, "resource": resource}})
    if models.members and "resource" not in models.model_fields_set:
        models = models.model_copy(update={"resource": resource})
    return settings.model_copy(update={"strategy": strategy, "models": models})


def operators_of(settings: Settings, plugins: Plugins) -> tuple[str, ...]:
    """Returns the operators that propose in a campaign with these settings; raises `ConfigError`."""
    models = bool(settings.models.proposing)
    return plugins.operators_of(settings.strategy.name, settings.operators.names, models=models)


def are_operators_named(settings: Settings, plugins: Plugins) -> bool:
    """Reports whether the campaign or its strategy names the operators; else they are chosen by what the task is like."""
    return bool(settings.operators.names or plugins.companions(settings.strategy.name))


def reflection_operators(settings: Settings) -> tuple[str, ...]:
    """Returns the operators that the engine asks by itself; raises `ConfigError` where there is no model for them."""
    if not settings.lessons.every:
        return ()
    if not settings.models.members:
        raise ConfigError(
            f"lessons are written by a model, and this campaign has none, got lessons.every = {settings.lessons.every}. "
            "Try: name a model, such as --model gpt-5-mini, or leave lessons.every out"
        )
    return (REFLECTION,)


def versions_of(settings: Settings, task: Task, plugins: Plugins) -> dict[str, str]:
    """Returns the versions of what a campaign with these settings runs with: evolve, Python, numpy, and the packages of its strategy, operators,
    models, evaluator and executor, and of plugins that screen or add to prompts. Raises `ConfigError`."""
    operators = (*operators_of(settings, plugins), *reflection_operators(settings))
    # What is missing among the others is told where it is needed.
    used = [
        plugins.strategies.get(settings.strategy.name),
        plugins.evaluators.get(task.evaluator.plugin or ""),
        plugins.executors.get(settings.executor.name),
        *(plugins.operators.get(name) for name in operators),
        *(plugins.models.get(member.kind) for member in settings.models.members),
    ]
    packages = package_versions([*(one.plugin for one in used if one is not None), *plugins.everywhere])
    return {
        "evolve": evolve.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        **packages,
    }


def try_settings(settings: Settings, task: Task, plugins: Plugins, budget: Budget | None = None) -> None:
    """Raises what a campaign with these settings would raise when it is opened; makes nothing. `budget` is that of the settings, where it was
    decided before."""
    names = operators_of(settings, plugins)
    budget = budget_of(settings, task) if budget is None else budget
    _check_deterministic(settings, budget)
    check_priced(budget, settings.models.members, plugins.model_kind)
    offline = [name for name in names if not plugins.operators[name].entry.needs_model]
    calling = len(offline) < len(names) or reflection_operators(settings)
    check_spendable(budget, settings.models.members if calling else ())
    _check_called(settings, proposes=len(offline) < len(names))
    if settings.outage.then == "offline" and settings.models.members:
        _check_offline(budget, names, offline)
    if not names:
        raise ConfigError(
            "there is no operator to propose with. Try: name one, --set operators.names='[\"tune_literals\"]'"
        )
    for name in settings.operators.settings:
        if name not in (*names, *reflection_operators(settings)):
            raise ConfigError(
                f"there are settings for operator {name!r}, which this campaign does not use.{did_you_mean(name, names)} "
                "Try: correct the name, or add it to operators.names"
            )
    for name in (*names, *reflection_operators(settings)):
        plugins.operator(name, settings.operators.settings.get(name, {}))
    purposes = PURPOSES.union(*(plugins.operators[name].entry.purposes for name in names))
    for purpose in settings.models.purposes.keys() - purposes:
        raise ConfigError(
            f"no model is asked for {purpose!r} in this campaign.{did_you_mean(purpose, purposes)} Try: models.purposes takes {', '.join(sorted(purposes))}"
        )
    for name in settings.trackers.names:
        plugins.tracker_settings(name, settings.trackers.settings.get(name, {}))
    plugins.strategy(settings.strategy.name, settings.strategy.settings, names)
    make_archive(task, settings)


def _check_called(settings: Settings, *, proposes: bool) -> None:
    """Raises `ConfigError` for a model that nobody could ever call. `proposes`: an operator needs a model."""
    members = settings.models.members
    if members and not proposes and not reflection_operators(settings):
        raise ConfigError(
            f"model {members[0].name!r} would never be called: no operator of this campaign needs a model, with the strategy {settings.strategy.name!r}. "
            "Try: leave the model out (--set 'models.members=[]' where a file or a campaign names it), name an operator that needs one in operators.names, such as diff, or use another strategy"
        )


def _check_offline(budget: Budget, names: Sequence[str], offline: Sequence[str]) -> None:
    """Raises `ConfigError` where a campaign that goes on without its models would have nothing to go on with, or would never end."""
    if names and not offline:
        raise ConfigError(
            f"outage.then is 'offline', and every operator of this campaign needs a model: {', '.join(names)}. "
            'Try: add one that needs none to operators.names, such as tune_literals, or set outage.then to "stop"'
        )
    never = spent_by_models_alone(budget)
    if never:
        raise ConfigError(
            f"outage.then is 'offline', and without models nothing spends {never}, got {budget}. "
            'Try: add a budget in time or programs, or set outage.then to "stop"'
        )


def _check_deterministic(settings: Settings, budget: Budget) -> None:
    """Raises `ConfigError` where a deterministic campaign would end by the clock."""
    if not settings.deterministic:
        return
    for leaf in budget.leaves():
        if isinstance(leaf, Until) or (isinstance(leaf, Amount) and leaf.unit.resource in _TIMES):
            raise ConfigError(
                f"--deterministic cannot end by the clock, got the budget {str(leaf)!r}. "
                "Try: count it in programs, such as --budget 500programs"
            )


def check_spendable(budget: Budget, members: Sequence[ModelSection] = ()) -> None:
    """Raises `ConfigError` for a budget that would never end a campaign with these models, because nothing spends what it counts."""
    what = spent_by_models_alone(budget, _spent_by(members))
    if not what:
        return
    if not members:
        raise ConfigError(
            f"no operator of this campaign spends {what}, got {budget}. Try: give a budget in time or programs"
        )
    raise ConfigError(
        f"no model of this campaign spends {what}, got {budget}. Try: give a budget in tokens, calls, time or programs; or set what a "
        "model costs, prompt_price and completion_price, or gpus and gpu_hour_price"
    )


def spent_by_models_alone(budget: Budget, spent: Set[Resource] = frozenset()) -> str:
    """Returns the resources that would have to be spent so that the budget ends a campaign, in words, where models alone spend them; empty
    where something else, or one of the resources `spent`, may end it."""
    leaves = budget.leaves()
    never = [
        leaf.kind.noun
        for leaf in leaves
        if isinstance(leaf, Amount) and leaf.kind.by_models and leaf.unit.resource not in spent
    ]
    return " or ".join(dict.fromkeys(never)) if len(never) == len(leaves) else ""


def calls_end_budget(budget: Budget, members: Sequence[ModelSection]) -> bool:
    """Returns whether calls of these models end it, and the time that they take, even where nothing comes of them."""
    # The budget is asked about a campaign that has called for ever.
    spent = dict.fromkeys(_spent_by(members), sys.maxsize)
    return budget.spent(Progress(seconds=math.inf, **spent), None, math.inf)


def _spent_by(members: Sequence[ModelSection]) -> set[Resource]:
    spent: set[Resource] = {"tokens", "calls"} if members else set()
    if any(member.gpus for member in members):
        spent.add("gpu_seconds")
    if any(_costs_money(member) for member in members):
        spent.add("money")
    return spent


def _costs_money(member: ModelSection) -> bool:
    rates = prices_of(member).rates
    return bool(rates.prompt or rates.cached or rates.completion or (rates.gpus and rates.gpu_hour))


def check_priced(budget: Budget, members: Sequence[ModelSection], kinds: Callable[[str], ModelEntry]) -> None:
    """Raises `ConfigError` for a budget in money where somebody charges for a model whose price is not known. `kinds` gives what is
    registered by its name."""
    money = [leaf for leaf in budget.leaves() if isinstance(leaf, Amount) and leaf.unit.resource == "money"]
    if not money:
        return
    unpriced = [member for member in members if kinds(member.kind).priced and not _is_priced(member)]
    if not unpriced:
        return
    member = unpriced[0]
    missing = [
        key
        for key, price in (("prompt_price", member.prompt_price), ("completion_price", member.completion_price))
        if price is None
    ]
    raise ConfigError(
        f"the budget {money[0]} counts money, and model {member.name!r} has no {' and no '.join(missing)}. Try: set "
        f"{' and '.join(missing)} in its table of models.members, in US dollars per million tokens (0 where it is free); for a server of "
        "your own, gpus and gpu_hour_price; or give a budget in tokens"
    )


def _is_priced(member: ModelSection) -> bool:
    by_token = member.prompt_price is not None and member.completion_price is not None
    return by_token or (member.gpus > 0 and member.gpu_hour_price is not None)


BETWEEN_RUNS = frozenset(
    {
        "confirm.share",
        "executor.name",
        "executor.settings",
        "lessons.every",
        "models.choice",
        "models.floor",
        "models.members",
        "novelty.cosine",
        "novelty.distance",
        "outage.model_wait_seconds",
        "outage.then",
        "outage.wait_seconds",
        "prompts.hardware",
        "prompts.tokens",
        "sandbox",
        "trackers.names",
        "trackers.settings",
    }
)
"""Settings that a run reads when it begins."""
_SCORES = ("task", "parameters")
_TABLES = (
    "executor.settings",
    "models.purposes",
    "operators.settings",
    "parameters",
    "prompts.templates",
    "strategy.settings",
    "trackers.settings",
)
"""Tables whose keys are not the engine's; each is one setting."""


@dataclass(frozen=True, slots=True)
class Key:
    """One setting of a campaign: `when` is `"any time"`, `"between runs"`, or empty where it is fixed."""

    key: str
    value: Any
    when: str


def keys(settings: Settings) -> tuple[Key, ...]:
    """Returns all settings of a campaign, in their order."""
    return tuple(Key(key, value, when(key)) for key, value in _flatten(settings.model_dump(mode="json")))


def when(key: str) -> str:
    """Returns when a setting may change; empty: never."""
    if key in WHILE_RUNNING:
        return "any time"
    return "between runs" if key in BETWEEN_RUNS else ""


def retune(
    name: str, old: Settings, assignments: Iterable[str], task: Task, plugins: Plugins, *, running: bool
) -> dict[str, Any]:
    """Returns the new values by top-level key, where they differ from the old ones; raises `ConfigError` for a key that cannot change (`running`:
    while a run goes on), and for values that do not fit."""
    before = old.model_dump(mode="json")
    settings = settings_from(before, assignments)
    now = settings.model_dump(mode="json")
    known = dict(_flatten(before))
    for key, value in _flatten(now):
        if value != known.get(key):
            _check_key(name, key, running=running)
    _check_models(name, old, settings)
    for member in settings.models.members:
        try:
            plugins.model_settings(member.kind, member.settings)
        except ConfigError as error:
            raise ConfigError(f"model {member.name!r}: {error}") from error
    try_settings(settings, task, plugins)
    return {key: value for key, value in now.items() if value != before[key]}


def _check_key(name: str, key: str, *, running: bool) -> None:
    found = when(key)
    if found == "any time" or (found and not running):
        return
    if found:
        raise ConfigError(
            f"{key!r} is read when a run begins, so that it cannot change meanwhile. Try: evolve campaign stop {name}, then "
            f"evolve run --continue {name} --set {key}=VALUE"
        )
    remedy = (
        "run a new campaign, evolve run TASK"
        if key.partition(".")[0] in _SCORES
        else f"evolve campaign fork {name} --set {key}=VALUE, which keeps all records"
    )
    raise ConfigError(f"{key!r} cannot change in a campaign that has begun. Try: {remedy}")


def _check_models(name: str, old: Settings, new: Settings) -> None:
    if bool(old.models.members) != bool(new.models.members):
        began = "without a model" if new.models.members else "with models"
        raise ConfigError(
            f"campaign {name!r} began {began}, and keeps its operators, got {len(new.models.members)} members. "
            f"Try: fork it, evolve campaign fork {name}"
        )


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every dotted key with its value."""
    for key, value in values.items():
        whole = f"{prefix}{key}"
        if isinstance(value, Mapping) and whole not in _TABLES:
            yield from _flatten(value, f"{whole}.")
        else:
            yield whole, value


def make_archive(task: Task, settings: Settings) -> Archive:
    """Returns an empty archive with the rules of the settings, for a version of the task. Its axes are those of the settings, else the task's,
    else the default ones: size, and distance to the seed."""
    section = settings.archive
    axes = tuple(Axis(**axis.model_dump()) for axis in section.axes) or task.axes or novelty.DEFAULT_AXES
    rules = ArchiveSettings(
        islands=section.islands,
        # Axes that nobody chose tell programs apart worse: several elites share a cell.
        capacity=section.capacity or (4 if axes is novelty.DEFAULT_AXES else 1),
        migrate_every=section.migrate_every,
        migrants=section.migrants,
        reset_every=section.reset_every,
        z=settings.confirm.z,
        sigmas=settings.confirm.sigmas,
        cells=section.cells,
        centroids=section.centroids,
    )
    return Archive(
        axes,
        rules,
        deterministic=task.deterministic,
        certifies=task.promotion == "certificate",
        bound=None if task.bound is None else task.fitness.inside(task.bound),
        objectives=task.objectives,
    )
