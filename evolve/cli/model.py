"""`evolve model`: the kinds of models that there are, the models of a campaign, whether one answers, and what was asked.

Invariant: what is shown of a model are its settings, in which no key stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evolve.campaign import existing_path, workspace
from evolve.campaign.campaign import settings_of
from evolve.cli.calls import list_calls
from evolve.cli.fitted import Fit, fitted
from evolve.cli.models import file_values
from evolve.cli.nouns import noun
from evolve.cli.output import debug_option, emit_all, flat, json_option, table
from evolve.cli.pinging import ping_models
from evolve.cli.say import say
from evolve.config import ModelSection, validated
from evolve.log import Log
from evolve.plugins import Plugins, load


@noun
def model() -> None:
    """List kinds of models, see whether a model answers, and what a campaign has asked."""


model.add_command(ping_models)
model.add_command(list_calls)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model. `argument` is the setting that the command line's words fill; `settings` are its own, each with its default, null where it has none."""

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
        members = members_of(name)
        if as_json:
            emit_all(member.model_dump(mode="json") for member in members)
        else:
            say(_member_table(members) if members else f"{name} has no models")
        return
    kinds = _kinds(load())
    if as_json:
        emit_all(kinds)
    else:
        rows = [
            (kind.kind, kind.plugin, _spec(kind), str(kind.concurrency), ", ".join(kind.settings) or "-")
            for kind in kinds
        ]
        headings = ("kind", "plugin", "--model", "at once", "settings")
        say(fitted(headings, rows, Fit(spare=("plugin",), cut="settings", least=40)))


def members_of(name: str) -> tuple[ModelSection, ...]:
    """The models of a campaign file, or of a campaign as it is now; raises `ConfigError`, `StoreError`."""
    if name.endswith(".toml"):
        return validated({"task": "none", **file_values(Path(name), load())}).models.members
    with Log.open(existing_path(workspace(), name), readonly=True) as log:
        return settings_of(log).models.members


def _kinds(plugins: Plugins) -> list[Kind]:
    found = []
    for name, registered in sorted(plugins.models.items()):
        entry = registered.entry
        fields = {} if entry.settings is None else entry.settings.model_fields
        settings = {
            key: None if field.is_required() else field.get_default(call_default_factory=True)
            for key, field in fields.items()
        }
        found.append(
            Kind(name, registered.plugin, entry.argument, settings, entry.concurrency, entry.priced, entry.embeds)
        )
    return found


def _spec(kind: Kind) -> str:
    return f"{kind.kind}:{kind.argument.upper()}" if kind.argument else "-"


def _member_table(members: tuple[ModelSection, ...]) -> str:
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
    return table(("model", "kind", "weight", "at once", "max tokens", "settings"), rows)
