"""`evolve model ping`: a small call of each model. Exit code 0 says that all of them can be called now."""

import dataclasses
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evolve.cli.model_specs import announce_calls, name_model, parse_models, read_campaign_file
from evolve.cli.output import debug_option, emit, facts, flat, json_option, say
from evolve.config import ModelSection, validate_settings
from evolve.plugins import Plugins, guarded, load
from evolve.types import ConfigError, EvolveError, Usage


@dataclass(frozen=True, slots=True)
class Pinged:
    """Result of one check. Where the model does not answer, `error` says why."""

    name: str
    kind: str
    settings: Mapping[str, Any]
    seconds: float = 0.0
    tokens: int = 0
    error: str = ""


@click.command("ping")
@click.argument("specs", metavar="[SPEC]...", nargs=-1)
@click.option("-c", "--config", "config", metavar="FILE", help="A campaign file: all of its models.")
@json_option
@debug_option
def ping_models(specs: tuple[str, ...], config: str | None, as_json: bool) -> None:
    """Call each model once, as little as its kind allows. SPEC is written as for `evolve run --model`.

    Exit code 1 where one cannot be called, with the reason: no key, a refused connection, an unknown model.
    """
    plugins = load()
    failures: list[EvolveError] = []
    for number, section in enumerate(_choose_models(specs, config, plugins)):
        found, failure = _ping(section, plugins)
        if as_json:
            emit(found)
        elif failure is None:
            say(f"{chr(10) if number else ''}{facts(_format_ping(found))}")
        failures += [] if failure is None else [failure]
    for failure in failures[:-1]:
        say(f"evolve: {failure}", err=True)
    if failures:
        raise failures[-1]


def _choose_models(specs: tuple[str, ...], config: str | None, plugins: Plugins) -> tuple[ModelSection, ...]:
    found = parse_models(specs, plugins)
    if config is not None:
        found += validate_settings({"task": "none", **read_campaign_file(Path(config), plugins)}).models.members
    if not found:
        raise ConfigError(
            "there is no model to call. Do: name one, such as gpt-5-mini, or a campaign file that has one (-c)"
        )
    return found


def _ping(section: ModelSection, plugins: Plugins) -> tuple[Pinged, EvolveError | None]:
    began = time.monotonic()
    base = Pinged(section.name, section.kind, section.settings)
    try:
        with announce_calls([section.name]):
            usage = _check(section, plugins)
    except EvolveError as error:
        told = name_model(section, error, plugins)
        return dataclasses.replace(base, error=str(told)), told
    tokens = usage.prompt_tokens + usage.completion_tokens
    seconds = time.monotonic() - began
    return dataclasses.replace(base, seconds=seconds, tokens=tokens), None


def _check(section: ModelSection, plugins: Plugins) -> Usage:
    """Calls the model, and returns what that took; raises `ConfigError`, `ModelError`, `PluginError`."""
    deadline, cancelled = time.monotonic() + section.timeout_seconds, threading.Event()
    with closing(plugins.model(section.kind, section.settings)) as model:
        return guarded(section.kind, model.check, deadline, cancelled)


def _format_ping(found: Pinged) -> list[tuple[str, str]]:
    took = f", {found.tokens:,} tokens" if found.tokens else ""
    settings = " ".join(f"{key}={value}" for key, value in flat(found.settings))
    return [
        ("model", f"{found.name} ({found.kind})"),
        ("settings", settings),
        ("can be called", f"yes, found out in {found.seconds:.2f} s{took}"),
    ]
