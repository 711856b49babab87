"""Checks that settings, a task and the loaded plugins fit together, and derives the budget and the operators from them.

Nothing is made here; whatever does not fit is one `ConfigError`, found before there is a log."""

import time
from collections.abc import Sequence
from pathlib import Path

from evolve import prompts
from evolve.campaign.descriptors import make_archive
from evolve.campaign.spending import check_priced, check_spendable, spent_by_models_alone
from evolve.campaign.state import REFLECTION
from evolve.config import Settings
from evolve.plugins import Plugins
from evolve.stop import Amount, Budget, Until, budget_from, exact, tightest
from evolve.types import ConfigError, Progress, Task
from evolve.types.errors import did_you_mean

_TIMES = ("seconds", "gpu_seconds")


def with_templates(settings: Settings) -> Settings:
    """Returns the settings with what their folder of templates holds, so that a log needs no folder; raises `ConfigError` for one that cannot be
    used."""
    section = settings.prompts
    found = prompts.from_folder(Path(section.folder).expanduser()) if section.folder else {}
    templates = {**found, **section.templates}
    prompts.check(templates)
    return settings.model_copy(update={"prompts": section.model_copy(update={"folder": "", "templates": templates})})


def budget_of(settings: Settings, task: Task, now: float | None = None) -> Budget:
    """Returns the budget that the settings spell, as it was decided at `now` (without it, at this moment); raises `ConfigError`."""
    return budget_from(settings.budget, time.time() if now is None else now, task.fitness)


def date_budget(settings: Settings, now: float) -> Settings:
    """Returns the settings with a date for each time of the day in the budget, so that it means the same at every later run."""
    return settings.model_copy(update={"budget": tuple(exact(text, now) for text in settings.budget)})


def with_resource(settings: Settings, task: Task, plugins: Plugins) -> Settings:
    """Returns the settings with the resource of the tightest budget, for a strategy that wants to know it, and for the choice of models. It is fixed for the campaign's
    whole life, so that every replay decides alike."""
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


def try_settings(settings: Settings, task: Task, plugins: Plugins) -> None:
    """Raises what a campaign with these settings would raise when it is opened; makes nothing."""
    budget, names = budget_of(settings, task), operators_of(settings, plugins)
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


def check_deterministic(settings: Settings, budget: Budget) -> None:
    """Raises `ConfigError` where a deterministic campaign would end by the clock."""
    if not settings.deterministic:
        return
    for leaf in budget.leaves():
        if isinstance(leaf, Until) or (isinstance(leaf, Amount) and leaf.unit.resource in _TIMES):
            raise ConfigError(
                f"--deterministic cannot end by the clock, got the budget {str(leaf)!r}. "
                "Try: count it in programs, such as --budget 500programs"
            )
