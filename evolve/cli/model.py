"""`evolve model`: the kinds of models that there are, whether a model answers, and what was asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.cli.calls import list_calls
from evolve.cli.groups import noun_group
from evolve.cli.output import debug_option, emit_all, json_option, say, table
from evolve.cli.pinging import ping_models
from evolve.hookspecs import ModelEntry
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
@json_option
@debug_option
def list_models(as_json: bool) -> None:
    """List the kinds of models with how each is written after --model."""
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


def _describe_kind(name: str, plugin: str, entry: ModelEntry) -> ModelKind:
    fields = {} if entry.settings is None else entry.settings.model_fields
    settings = {
        key: None if field.is_required() else field.get_default(call_default_factory=True)
        for key, field in fields.items()
    }
    return ModelKind(name, plugin, entry.argument, settings, entry.concurrency, entry.priced, entry.embeds)
