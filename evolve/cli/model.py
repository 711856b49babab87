"""`evolve model`: the kinds of models that there are, the models of a campaign, whether one answers, and what was asked.

What is shown of a model are its settings, which hold no key."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evolve.campaign import existing_path, workspace
from evolve.campaign.campaign import settings_of
from evolve.cli.calls import list_calls
from evolve.cli.groups import noun_group
from evolve.cli.model_specs import read_campaign_file
from evolve.cli.output import debug_option, emit_all, flat, json_option, say, table
from evolve.cli.pinging import ping_models
from evolve.config import ModelSection, validated
from evolve.hookspecs import ModelEntry
from evolve.log import Log
from evolve.plugins import load


@noun_group
def model() -> None:
    """List kinds of models, see whether a model answers, and what a campaign has asked."""


model.add_command(ping_models)
model.add_command(list_calls)


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model. `argument` is the setting that the command line's words fill; `settings` have their defaults, null where there is
    none."""

    kind: str
    plugin: str
    argument: str
    settings: Mapping[str, Any]
    concurrency: int
    priced: bool
    embeds: bool


@model.command("list")
@click.argument("name", metavar="[NAME|FILE]", required=False)
@json_option
@debug_option
def list_models(name: str | None, as_json: bool) -> None:
    """List the kinds of models; or the models of campaign NAME, or of a campaign FILE."""
    if name is not None:
        _list_members(name, as_json=as_json)
        return
    kinds = [_describe_kind(name, found.plugin, found.entry) for name, found in sorted(load().models.items())]
    if as_json:
        emit_all(kinds)
        return
    rows = [
        (
            kind.kind,
            kind.plugin,
            f"{kind.kind}:{kind.argument.upper()}" if kind.argument else "-",
            str(kind.concurrency),
            ", ".join(kind.settings) or "-",
        )
        for kind in kinds
    ]
    say(table(("kind", "plugin", "--model", "at once", "settings"), rows, wrap="settings"))


def _list_members(name: str, *, as_json: bool) -> None:
    members = _members(name)
    if as_json:
        emit_all(member.model_dump(mode="json") for member in members)
        return
    rows = [
        (
            member.name,
            member.kind,
            f"{member.weight:g}",
            str(member.concurrency),
            f"{member.max_tokens:,}",
            " ".join(f"{key}={value}" for key, value in flat(member.settings)),
        )
        for member in members
    ]
    headings = ("model", "kind", "weight", "at once", "max tokens", "settings")
    say(table(headings, rows, wrap="settings") if rows else f"{name} has no models")


def _members(name: str) -> tuple[ModelSection, ...]:
    """Returns the models of a campaign file, or of a campaign as it is now; raises `ConfigError`, `StoreError`."""
    if name.endswith(".toml"):
        return validated({"task": "none", **read_campaign_file(Path(name), load())}).models.members
    with Log.open(existing_path(workspace(), name), readonly=True) as log:
        return settings_of(log).models.members


def _describe_kind(name: str, plugin: str, entry: ModelEntry) -> ModelKind:
    fields = {} if entry.settings is None else entry.settings.model_fields
    settings = {
        key: None if field.is_required() else field.get_default(call_default_factory=True)
        for key, field in fields.items()
    }
    return ModelKind(name, plugin, entry.argument, settings, entry.concurrency, entry.priced, entry.embeds)
