"""Changes of settings after a campaign has begun.

Only settings that the fold does not depend on may change, so that a log replays to the same archive whatever was changed, and when. All
others take a fork."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evolve.campaign.fitting import budget_of, check_deterministic, try_settings
from evolve.campaign.state import WHILE_RUNNING
from evolve.config import Settings, settings_from
from evolve.plugins import Plugins
from evolve.types import ConfigError, Task

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
    check_deterministic(settings, budget_of(settings, task))
    try_settings(settings, task, plugins)
    return {key: value for key, value in now.items() if value != before[key]}


def _check_key(name: str, key: str, *, running: bool) -> None:
    found = when(key)
    if found == "any time" or (found and not running):
        return
    if found:
        raise ConfigError(
            f"{key!r} is read when a run begins, so that it cannot change meanwhile. Do: evolve campaign stop {name}, then "
            f"evolve run --continue {name} --set {key}=VALUE"
        )
    remedy = (
        "run a new campaign, evolve run TASK"
        if key.partition(".")[0] in _SCORES
        else f"evolve campaign fork {name} --set {key}=VALUE, which keeps all records"
    )
    raise ConfigError(f"{key!r} cannot change in a campaign that has begun. Do: {remedy}")


def _check_models(name: str, old: Settings, new: Settings) -> None:
    if bool(old.models.members) != bool(new.models.members):
        began = "without a model" if new.models.members else "with models"
        raise ConfigError(
            f"campaign {name!r} began {began}, and keeps its operators, got {len(new.models.members)} members. "
            f"Do: fork it, evolve campaign fork {name}"
        )


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every dotted key with its value."""
    for key, value in values.items():
        whole = f"{prefix}{key}"
        if isinstance(value, Mapping) and whole not in _TABLES:
            yield from _flatten(value, f"{whole}.")
        else:
            yield whole, value
