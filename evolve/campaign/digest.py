"""Digest of a log: the hash of its events without names, places, times, load and machine, in which two runs of the same search differ.

The fields left out are known ones of the engine's own types, each by its place; nothing that a task, a plugin or a person named is left out."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from evolve.types import (
    Asked,
    Evaluation,
    Event,
    Import,
    LessonWritten,
    MachineMeasured,
    Opened,
    Paused,
    Previewed,
    Replied,
    Ruled,
    SettingsChanged,
    Settled,
    TaskChanged,
    canonical,
)
from evolve.types.codec import encode

_NO_RULE = ("task", "workers", "judges", "executor", "budget", "trackers")
"""Settings that decide nothing about what a step does: where the task lies (its version stands beside), how many workers there are (`judges` in older logs) and where, when the campaign
ends, and who is told of it."""

_MEMBER = ("name", "weight", "max_tokens", "context_tokens")
"""Settings of a model that decide which model is asked, and what. The source of its answers decides nothing: they are in the log, from a server or a recording."""


def digest(events: Iterable[Event]) -> str:
    """Returns the hash of events without their circumstances: equal for two `--deterministic` campaigns with one seed that each ran in one
    piece."""
    total = hashlib.sha256()
    for event in events:
        kept = without_circumstances(event)
        if kept is not None:
            total.update(canonical(encode(kept)).encode())
    return total.hexdigest()


def without_circumstances(event: Event) -> Event | None:
    """Returns the event without names, places, times, load and machine; None for one that has nothing else."""
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
            return replace(event, record=replace(record, evaluation=_without_times(record.evaluation)))
        case Previewed(evaluation=evaluation):
            return replace(event, evaluation=_without_times(evaluation))
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
    # A recording that answers as its server did makes the same search.
    models = kept.get("models", {})
    if "members" in models:
        members = [{key: member[key] for key in _MEMBER if key in member} for member in models["members"]]
        kept["models"] = {**models, "members": members}
    return kept


def _without_times(evaluation: Evaluation) -> Evaluation:
    return replace(evaluation, seconds=0.0, cpu_seconds=0.0, environment="", device="cpu", isolation="")
