"""Campaign files: the settings of a campaign as a person writes them, and as an existing campaign is written down again.

Invariant: whatever is wrong with a file is one `ConfigError` that begins with its path; what `written` gives, `read` reads as the
same settings."""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

import evolve.task
from evolve.campaign.campaign import Campaign
from evolve.campaign.fitting import with_resource
from evolve.config import Settings, validated
from evolve.types import ConfigError, TaskError
from evolve.types.errors import did_you_mean

VERSION = 1
_NAMED = "names"
"""The key beside which the operators' own tables stand."""


def read(path: Path) -> dict[str, Any]:
    """What a file says, as nested values in the shape of `Settings`; raises `ConfigError`. A task may be missing."""
    try:
        data = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: the campaign file cannot be read: {error.strerror}. Do: check the path") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: this is not a text in UTF-8: {error}. Do: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: this is not TOML: {error}. Do: mend that line") from error
    try:
        return values(data, path.resolve().parent)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def values(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the values of a campaign file as nested values in the shape of `Settings`, with paths from `folder`. Raises `ConfigError`."""
    if data.get("schema") != VERSION:
        got = f"got {data['schema']!r}" if "schema" in data else "which is missing"
        raise ConfigError(f"a campaign file says which version it is written for, {got}. Do: write schema = {VERSION}")
    tree = {key: value for key, value in data.items() if key != "schema"}
    for key, plain in (
        ("budget", _budget),
        ("strategy", _strategy),
        ("operators", _operators),
        ("trackers", _trackers),
    ):
        if key in tree:
            tree[key] = plain(tree[key])
    if isinstance(tree.get("task"), str):
        tree["task"] = _task(tree["task"], folder)
    if isinstance(tree.get("prompts"), dict) and isinstance(tree["prompts"].get("folder"), str):
        tree["prompts"] = {**tree["prompts"], "folder": _beside(tree["prompts"]["folder"], folder)}
    validated({"task": "none", **tree})
    return tree


def _budget(value: object) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    wrong = [text for text in texts if not isinstance(text, str)]
    if wrong:
        raise ConfigError(f'budget is a text such as "2h", or a list of such texts, got {wrong[0]!r}. Do: write it so')
    return [str(text) for text in texts]


def _strategy(value: object) -> object:
    """A name, or a table of settings with the name beside them."""
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, dict):
        raise ConfigError(
            f'strategy is a name, or a table with a name and settings, got {value!r}. Do: strategy = "islands"'
        )
    if isinstance(value.get("settings"), dict):
        raise ConfigError(
            "strategy.settings is a table. Do: write a strategy's settings beside its name, in [strategy]"
        )
    settings = {key: setting for key, setting in value.items() if key != "name"}
    return {**({"name": value["name"]} if "name" in value else {}), "settings": settings}


def _operators(value: object) -> object:
    """A list of names, or a table with `names` and a table of settings for any of them."""
    if isinstance(value, list):
        return {_NAMED: value}
    if not isinstance(value, dict):
        raise ConfigError(f'operators is a list of names, or a table, got {value!r}. Do: operators = ["tune_literals"]')
    settings = {key: table for key, table in value.items() if key != _NAMED}
    for key, table in settings.items():
        if not isinstance(table, dict):
            hint = did_you_mean(key, [_NAMED]) if _NAMED not in value else ""
            raise ConfigError(
                f"operators.{key} is a table with the settings of operator {key!r}, got {table!r}.{hint} Do: correct it"
            )
        if key == "settings":
            raise ConfigError("there is no operator 'settings'. Do: write an operator's settings in [operators.NAME]")
    return {**({_NAMED: value[_NAMED]} if _NAMED in value else {}), "settings": settings}


def _trackers(value: object) -> object:
    """A list of names, or a table as the settings have it."""
    return {_NAMED: value} if isinstance(value, list) else value


def _beside(written: str, folder: Path) -> str:
    """A path from the file's folder; none stays none."""
    return str(folder / Path(written).expanduser()) if written else ""


def _task(written: str, folder: Path) -> str:
    """A path from the file's folder; a name is looked for there and in its `tasks` first, as `evolve run` does in the current folder."""
    for place in (folder / written, *([folder / "tasks" / written] if evolve.task.is_name(written) else [])):
        try:
            return str(evolve.task.find(place))
        except TaskError:
            continue
    elsewhere = evolve.task.is_name(written) and ("/" not in written or written in evolve.task.list_bundled())
    return written if elsewhere else os.path.normpath(folder / written)


def written(campaign: Campaign, folder: Path | None) -> str:
    """A campaign file that runs the same search again, to lie in `folder` (None: anywhere on this machine): the task, and what differs
    from the defaults."""
    settings = campaign.settings
    told = _differing(settings.model_dump(mode="json"), Settings(task=settings.task).model_dump(mode="json"))
    told.pop("task", None)
    data: dict[str, Any] = {"schema": VERSION, "task": _place(campaign, folder), **told}
    if settings.budget:
        texts = [str(leaf) for leaf in campaign.budget.leaves()]
        data["budget"] = texts[0] if len(texts) == 1 else texts
    if "strategy" in told:
        data["strategy"] = _short_strategy(campaign)
    if "operators" in told:
        names, own = list(settings.operators.names), settings.operators.settings
        data["operators"] = {**({_NAMED: names} if names else {}), **own} if own else names
    if settings.models.members:
        members = settings.models.members
        data["models"]["members"] = [one.model_dump(mode="json", exclude_defaults=True) for one in members]
    head = f"# The search of campaign {campaign.name}. Run it again: evolve run -c FILE\n"
    return head + tomli_w.dumps({key: value for key, value in data.items() if value != {}})


def _differing(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The part of nested values that is not the default; a table without a default is one value."""
    found = {}
    for key, value in values.items():
        default = defaults.get(key)
        if isinstance(value, dict) and isinstance(default, dict) and default:
            inner = _differing(value, default)
            if inner:
                found[key] = inner
        elif value != default:
            found[key] = value
    return found


def _short_strategy(campaign: Campaign) -> object:
    """Its name, with its settings where there are any but what a campaign fills in by itself."""
    strategy = campaign.settings.strategy
    own = {key: value for key, value in strategy.settings.items() if key != "resource"}
    bare = strategy.model_copy(update={"settings": own})
    filled = with_resource(campaign.settings.model_copy(update={"strategy": bare}), campaign.task, campaign.plugins)
    if filled.strategy.settings != strategy.settings:
        own = dict(strategy.settings)
    if own:
        return {"name": strategy.name, **own}
    return {} if strategy.name == Settings.model_fields["strategy"].default.name else strategy.name


def _place(campaign: Campaign, folder: Path | None) -> str:
    """The task by its name where it ships with the engine, else by its path."""
    if evolve.task.is_bundled(Path(campaign.task.folder)):
        return campaign.task.name
    place = Path(campaign.task.path)
    if folder is None:
        return str(place)
    path = Path(os.path.relpath(place, folder.resolve())).as_posix()
    return path if path.startswith(".") else f"./{path}"


def json_schema() -> str:
    """The JSON Schema of a campaign file, for editors: that of the settings in the shape that a person writes."""
    schema = Settings.model_json_schema()
    keys, tables = schema["properties"], schema["$defs"]
    strategy, operators = tables.pop("StrategySection"), tables.pop("OperatorsSection")
    text, texts = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    version = {"const": VERSION, "description": "the version of campaign files that this one is written for"}
    keys["budget"] = {"anyOf": [text, texts], "description": keys["budget"]["description"]}
    keys["strategy"] = {
        "anyOf": [text, _open_table("name", strategy, {})],
        "description": "what decides what is tried next: a name, or a table with a name and the strategy's own settings",
    }
    keys["operators"] = {
        "anyOf": [texts, _open_table(_NAMED, operators, {"type": "object"})],
        "description": "which operators propose: a list of names, or a table with `names` and a table of settings for any of them",
    }
    keys["trackers"] = {
        "anyOf": [texts, {"$ref": "#/$defs/TrackersSection"}],
        "description": "who is told of the campaign while it runs: a list of names, or a table with `names` and `settings`",
    }
    keys["task"]["description"] = "the task: a name, or a path from this file's folder"
    schema |= {"title": "campaign file of evolve", "properties": {"schema": version, **keys}, "required": ["schema"]}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _open_table(key: str, section: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a table with one key of ours, and others that a plugin knows."""
    known = section["properties"][key]
    return {"type": "object", "properties": {key: known}, "additionalProperties": others or True}
