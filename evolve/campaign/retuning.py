"""Which settings of a campaign may change after it has begun, and the change that a person's words come to.

Invariant: what may change decides nothing of the fold, so that a log replays to the same archive whatever was changed, and when."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from evolve.assignments import parse_assignment, put_value
from evolve.campaign.fitting import budget_of, check_deterministic, operators_of, scheduled, try_settings
from evolve.config import ModelsSection, Settings, validated
from evolve.plugins import Plugins
from evolve.types import ConfigError, Task
from evolve.types.suggest import did_you_mean

ANY_TIME = (
    "budget",
    "judges",
    "confirm.share",
    "lessons.every",
    "outage.model_wait_seconds",
    "outage.then",
    "prompts.hardware",
    "prompts.tokens",
)
"""Settings that a campaign may change while it runs."""
BETWEEN_RUNS = (
    "models.choice",
    "models.floor",
    "models.members",
    "novelty.cosine",
    "novelty.distance",
    "executor.name",
    "executor.settings",
    "sandbox",
    "trackers.names",
    "trackers.settings",
)
"""Settings that a run reads when it begins."""
_MEMBERS = "models.members"
_OPERATORS = "operators.settings"
_SCORES = ("task", "parameters")
_FIXED: Mapping[str, str] = {
    "task": "what programs were judged by decides their scores",
    "parameters": "what programs were judged by decides their scores",
    "seed": "every random decision follows from it",
    "deterministic": "steps that were asked side by side are no steps one by one",
    "carry": "what programs were given decides what they became",
    "strategy": "its state is made of the whole log",
    "operators": "the strategy counts with these",
    "models": "prompts of steps that have begun are for these",
    "prompts": "they were kept when the campaign was made",
    "archive": "other rules would make another archive of the same records",
    "confirm": "other rules would make another archive of the same records",
}


_NO_MODEL = "the campaign began without a model"


@dataclass(frozen=True, slots=True)
class Key:
    """One setting of a campaign: `when` is `"any time"`, `"between runs"`, or empty where it is fixed; `why` says why then."""

    key: str
    value: Any
    when: str
    why: str = ""


def keys(settings: Settings, plugins: Plugins) -> tuple[Key, ...]:
    """All settings of a campaign, in their order; then those of its operators."""
    flat = [item for item in _flat(settings.model_dump(mode="json")) if item[0] != _OPERATORS]
    for name in (*operators_of(settings, plugins), *scheduled(settings)):
        own = plugins.operator_settings(name, settings.operators.settings.get(name, {}))
        flat += [(f"{_OPERATORS}.{name}.{key}", value) for key, value in own.items()]
    found = tuple(Key(key, value, when(key, plugins), why_fixed(key, plugins)) for key, value in flat)
    if settings.models.members:
        return found
    return tuple(
        replace(one, when="", why=_NO_MODEL) if one.when and one.key.startswith("models.") else one for one in found
    )


def when(key: str, plugins: Plugins) -> str:
    """When a setting may change; empty: never."""
    if key in ANY_TIME or _of_operator(key, plugins):
        return "any time"
    return "between runs" if key in BETWEEN_RUNS or key.startswith((f"{_MEMBERS}.", "trackers.settings.")) else ""


def why_fixed(key: str, plugins: Plugins) -> str:
    """Why a setting is fixed; empty for one that is not."""
    if when(key, plugins):
        return ""
    if key.startswith(f"{_OPERATORS}."):
        return "a step that was asked must come out the same when it runs again"
    return _FIXED.get(key.partition(".")[0], "a campaign keeps it")


def retuned(
    name: str, old: Settings, assignments: Iterable[str], task: Task, plugins: Plugins, *, running: bool
) -> dict[str, Any]:
    """The new values by top-level key, which differ from the old ones; raises `ConfigError` for a key that cannot change (`running`: while a run
    goes on), and for values that do not fit. `models.members.NAME.KEY=VALUE` changes one setting of one model."""
    tree = old.model_dump(mode="json")
    for text in assignments:
        path, value = parse_assignment(text)
        key = ".".join(path)
        _check_key(name, key, plugins, running=running)
        if key.startswith(f"{_MEMBERS}."):
            _put_member(tree["models"]["members"], key.removeprefix(f"{_MEMBERS}."), value, text)
        else:
            put_value(tree, path, value, text)
        if key == _MEMBERS:  # the next one may be about one of these
            tree = validated(tree).model_dump(mode="json")
    settings = validated(tree)
    before, now = old.model_dump(mode="json"), settings.model_dump(mode="json")
    changes = {key: now[key] for key in now if now[key] != before[key]}
    check_change(name, old, settings, task, plugins)
    return changes


def check_change(name: str, old: Settings, new: Settings, task: Task, plugins: Plugins) -> None:
    """Raises `ConfigError` where a campaign cannot go on with these settings."""
    _check_models(name, old.models, new.models)
    for member in new.models.members:
        try:
            plugins.model_settings(member.kind, member.settings)
        except ConfigError as error:
            raise ConfigError(f"model {member.name!r}: {error}") from error
    check_deterministic(new, budget_of(new, task))
    try_settings(new, task, plugins)


def _check_models(name: str, old: ModelsSection, new: ModelsSection) -> None:
    if bool(old.members) == bool(new.members):
        return
    what = "began without a model" if new.members else "began with models"
    raise ConfigError(
        f"campaign {name!r} {what}, and keeps its operators, got {len(new.members)} members. "
        f"Do: fork it, evolve campaign fork {name}"
    )


def _check_key(name: str, key: str, plugins: Plugins, *, running: bool) -> None:
    found = when(key, plugins)
    if found == "any time" or (found and not running):
        return
    if found:
        raise ConfigError(
            f"{key!r} is read when a run begins, so that it cannot change meanwhile. Do: evolve campaign stop {name}, then "
            f"evolve run --continue {name} --set {key}=VALUE"
        )
    known = [one.key for one in keys(Settings(task="none"), plugins)]
    if (
        key not in known
        and not any(one.startswith(f"{key}.") for one in known)
        and not key.startswith(("task.", *_OPEN))
    ):
        raise ConfigError(
            f"unknown setting {key!r}.{did_you_mean(key, known)} Do: evolve campaign config {name} shows all of them"
        )
    remedy = (
        "run a new campaign, evolve run TASK"
        if key.partition(".")[0] in _SCORES
        else f"evolve campaign fork {name} --set {key}=VALUE, which keeps all records"
    )
    raise ConfigError(f"{key!r} cannot change in a campaign that has begun: {why_fixed(key, plugins)}. Do: {remedy}")


_OPEN = (
    f"{_OPERATORS}.",
    "strategy.settings.",
    "parameters.",
    "models.purposes.",
    "prompts.templates.",
    "trackers.settings.",
)
"""Tables whose keys are not the engine's."""


def _of_operator(key: str, plugins: Plugins) -> bool:
    """A setting of an operator that declares that it may change."""
    if not key.startswith(f"{_OPERATORS}."):
        return False
    name, _, setting = key.removeprefix(f"{_OPERATORS}.").partition(".")
    found = plugins.operators.get(name)
    return found is not None and setting in found.entry.retunable


def _put_member(members: list[dict[str, Any]], path: str, value: Any, text: str) -> None:
    """A name may hold dots: the longest that fits is meant."""
    fitting = [member for member in members if path.startswith(f"{member['name']}.")]
    if not fitting:
        names = ", ".join(str(member["name"]) for member in members) or "none"
        raise ConfigError(
            f"there is no model for {text!r}; the campaign has {names}. Do: {_MEMBERS}.NAME.KEY=VALUE, with one of these"
        )
    member = max(fitting, key=lambda one: len(one["name"]))
    put_value(member, path.removeprefix(f"{member['name']}.").split("."), value, text)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Every dotted key; what a person or a plugin names is one value."""
    for key, value in values.items():
        whole = f"{prefix}{key}"
        if isinstance(value, Mapping) and f"{whole}." not in _OPEN:
            yield from _flat(value, f"{whole}.")
        else:
            yield whole, value
