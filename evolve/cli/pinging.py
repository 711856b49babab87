"""`evolve model ping`: whether models answer, and what they can.

Invariant: exit code 0 says that each of them can be called now."""

import dataclasses
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from evolve.cli.announcing import announced
from evolve.cli.models import file_values, members, told_of
from evolve.cli.output import brief, debug_option, emit, facts, flat, json_option, one_line
from evolve.cli.say import say
from evolve.config import ModelSection, validated
from evolve.plugins import Plugins, guarded, load
from evolve.protocols import Capable
from evolve.types import ConfigError, EvolveError, Usage

_NAMED = 10
"""Names in a row."""
_LONGEST = 100
"""Characters of a word of a server."""


@dataclass(frozen=True, slots=True)
class Pinged:
    """What a model said. `capabilities` are by name, for kinds that can find them out; where it does not answer, `error` says why."""

    name: str
    kind: str
    settings: Mapping[str, Any]
    seconds: float = 0.0
    tokens: int = 0
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


@click.command("ping")
@click.argument("specs", metavar="[SPEC]...", nargs=-1)
@click.option("-c", "--config", "config", metavar="FILE", help="A campaign file: all of its models.")
@json_option
@debug_option
def ping_models(specs: tuple[str, ...], config: str | None, as_json: bool) -> None:
    """Call each model once, as little as its kind allows, and show what it can. SPEC is written as for `evolve run --model`.

    Exit code 1 where one cannot be called, with the reason: no key, a refused connection, an unknown model.
    """
    plugins = load()
    failures: list[EvolveError] = []
    for number, section in enumerate(_meant(specs, config, plugins)):
        found, failure = _pinged(section, plugins)
        if as_json:
            emit(found)
        elif failure is None:
            say(f"{chr(10) if number else ''}{facts(_told(found))}")
        failures += [] if failure is None else [failure]
    for failure in failures[:-1]:
        say(f"evolve: {failure}", err=True)
    if failures:
        raise failures[-1]


def _meant(specs: tuple[str, ...], config: str | None, plugins: Plugins) -> tuple[ModelSection, ...]:
    found = members(specs, plugins)
    if config is not None:
        found += validated({"task": "none", **file_values(Path(config), plugins)}).models.members
    if not found:
        raise ConfigError(
            "there is no model to call. Do: name one, such as gpt-5-mini, or a campaign file that has one (-c)"
        )
    return found


def _pinged(section: ModelSection, plugins: Plugins) -> tuple[Pinged, EvolveError | None]:
    began = time.monotonic()
    base = Pinged(section.name, section.kind, section.settings)
    try:
        with announced([section.name]):
            usage, found = _asked(section, plugins)
    except EvolveError as error:
        told = told_of(section, error, plugins)
        return dataclasses.replace(base, error=str(told)), told
    tokens = usage.prompt_tokens + usage.completion_tokens
    seconds = time.monotonic() - began
    return dataclasses.replace(base, seconds=seconds, tokens=tokens, capabilities=found), None


def _asked(section: ModelSection, plugins: Plugins) -> tuple[Usage, Mapping[str, Any]]:
    """What calling it took, and what it can; raises `ConfigError`, `ModelError`, `PluginError`."""
    deadline, cancelled = time.monotonic() + section.timeout_seconds, threading.Event()
    with closing(plugins.model(section.kind, section.settings)) as model:
        usage = guarded(section.kind, model.check, deadline, cancelled)
        if not isinstance(model, Capable):
            return usage, {}
        found = guarded(section.kind, model.capabilities, deadline, cancelled)
        return usage, {one.name: getattr(found, one.name) for one in dataclasses.fields(found)}


def _told(found: Pinged) -> list[tuple[str, str]]:
    took = f", {found.tokens:,} tokens" if found.tokens else ""
    settings = " ".join(f"{key}={value}" for key, value in flat(found.settings))
    return [
        ("model", f"{found.name} ({found.kind})"),
        ("settings", settings),
        ("can be called", f"yes, found out in {found.seconds:.2f} s{took}"),
        *((name.replace("_", " "), _word(value)) for name, value in found.capabilities.items() if value != ""),
    ]


def _word(value: Any) -> str:
    """A capability for a person."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    if isinstance(value, str) or not isinstance(value, Sequence):
        return brief(one_line(str(value)), _LONGEST)
    more = f" and {len(value) - _NAMED:,} more" if len(value) > _NAMED else ""
    return f"{', '.join(brief(one_line(str(name)), _LONGEST) for name in value[:_NAMED])}{more}" or "none"
