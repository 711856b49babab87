"""What two runs of the same search have in common: an event without its circumstances.

Invariant: what is left out are known fields of the engine's own types, each by its place; what a task, a plugin or a person named
is never left out, whatever its name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evolve.types import (
    Asked,
    Event,
    Import,
    LessonWritten,
    MachineMeasured,
    Opened,
    Paused,
    Record,
    Replied,
    Ruled,
    SettingsChanged,
    Settled,
    TaskChanged,
)

_NO_RULE = ("task", "judges", "budget", "trackers")
"""Settings that decide nothing about what a step does: where the task lies (its version stands beside), when the campaign ends, and who is told of it."""

_MEMBER = ("name", "weight", "max_tokens", "context_tokens")
"""What decides of a model: which is asked, and what it is asked. Where its answers come from does not: they are in the log, whether a server gave them or a recording."""


def essence(event: Event) -> Event | None:
    """The event without names, places, times, load and machine; None for one that tells of these alone."""
    match event:
        case MachineMeasured() | SettingsChanged() | Paused():
            return None
        case Opened(settings=settings):
            return replace(
                event,
                name="",
                task="",
                definition="",
                versions={},
                forked_from="",
                secret="",
                settings=_rules(settings),
            )
        case TaskChanged():
            return replace(event, definition="")
        case Settled(record=record):
            return replace(event, record=_untimed(record))
        case Replied(call=call):
            return replace(event, call=replace(call, seconds=0.0, gpu_seconds=0.0, cost=0.0, attempts=1))
        case Ruled() | LessonWritten():
            return replace(event, request="")
        case Asked(action=Import() as action):
            return replace(event, action=replace(action, request=""))
        case _:
            return event


def _rules(settings: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in settings.items() if key not in _NO_RULE}
    models = kept.get("models", {})
    if "members" in models:
        members = [{key: member[key] for key in _MEMBER if key in member} for member in models["members"]]
        kept["models"] = {**models, "members": members}
    return kept


def _untimed(record: Record) -> Record:
    plain = replace(record.evaluation, seconds=0.0, cpu_seconds=0.0, environment="", device="cpu", isolation="")
    return replace(record, evaluation=plain)
