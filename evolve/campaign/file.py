"""Campaign files: settings in TOML, with the keys of `--set`.

Whatever is wrong with a file is one `ConfigError` that begins with its path; what `format_file` gives, `read` reads as the same settings."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

import evolve.task
from evolve.campaign.campaign import Campaign
from evolve.config import validate_settings
from evolve.devices.inventory import usable_cores
from evolve.types import ConfigError, TaskError

VERSION = 1


def read(path: Path) -> dict[str, Any]:
    """Returns the values of a file, nested in the shape of `Settings`; raises `ConfigError`. A task may be missing."""
    try:
        data = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: the campaign file cannot be read: {error.strerror}. Try: check the path") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: this is not a text in UTF-8: {error}. Try: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: this is not TOML: {error}. Try: mend that line") from error
    try:
        return values(data, path.resolve().parent)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def values(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the values of a campaign file as nested values in the shape of `Settings`, with paths from `folder`. Raises `ConfigError`."""
    if data.get("schema") != VERSION:
        got = f"got {data['schema']!r}" if "schema" in data else "which is missing"
        raise ConfigError(f"a campaign file says which version it is written for, {got}. Try: write schema = {VERSION}")
    tree = {key: value for key, value in data.items() if key != "schema"}
    settings = validate_settings({"task": "none", **tree})
    tree = {key: value for key, value in settings.model_dump(mode="json", exclude_unset=True).items() if key in tree}
    if "task" in tree:
        tree["task"] = _resolve_task(tree["task"], folder)
    if settings.prompts.folder:
        tree["prompts"]["folder"] = str(folder / Path(settings.prompts.folder).expanduser())
    return tree


def _resolve_task(written: str, folder: Path) -> str:
    """A path from the file's folder; a name is looked for there and in its `tasks` first, as `evolve run` does in the current folder."""
    for place in (folder / written, *([folder / "tasks" / written] if evolve.task.is_name(written) else [])):
        try:
            return str(evolve.task.find(place))
        except TaskError:
            continue
    elsewhere = evolve.task.is_name(written) and ("/" not in written or written in evolve.task.list_bundled())
    return written if elsewhere else os.path.normpath(folder / written)


def format_file(campaign: Campaign, folder: Path | None) -> str:
    """Returns a campaign file that runs the same search again, to lie in `folder` (None: anywhere on this machine): the task, and what
    differs from the defaults."""
    settings = campaign.settings
    values = _prune(settings.model_dump(mode="json", exclude_defaults=True))
    # What it gave is among the values, and its package need not be there.
    values.pop("preset", None)
    if settings.workers == usable_cores():
        values.pop("workers", None)
    # The budget of the new campaign decides about its resource.
    for section in (values.get("strategy", {}).get("settings", {}), values.get("models", {})):
        section.pop("resource", None)
    if settings.budget:
        values["budget"] = [str(leaf) for leaf in campaign.budget.leaves()]
    data = {"schema": VERSION, **_prune(values), "task": _place(campaign, folder)}
    return f"# The search of campaign {campaign.name}. Run it again: evolve run -c FILE\n{tomli_w.dumps(data)}"


def _prune(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nested values without empty tables."""
    pruned = {key: _prune(value) if isinstance(value, dict) else value for key, value in values.items()}
    return {key: value for key, value in pruned.items() if value != {}}


def _place(campaign: Campaign, folder: Path | None) -> str:
    """The task by its name where it ships with the engine, else by its path."""
    if evolve.task.is_bundled(Path(campaign.task.folder)):
        return campaign.task.name
    place = Path(campaign.task.path)
    if folder is None:
        return str(place)
    path = Path(os.path.relpath(place, folder.resolve())).as_posix()
    return path if path.startswith(".") else f"./{path}"
