"""Models as the command line names them: `[NAME=][KIND:]ARGUMENT[@URL]`.

`a` and `openai:a` are the same model, and only a registered kind is one, so that `llama3:8b` is a model's name; but what looks like a
misspelt kind or address is refused and sent to nobody. A path is stored as an absolute one, so that a campaign finds it from every folder."""

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolve.campaign import file
from evolve.config import ModelSection
from evolve.hookspecs import ModelEntry
from evolve.plugins import Plugins
from evolve.types import ConfigError

SERVER = "openai"
"""The kind of a model that names none."""
ADDRESSES = ("base_url", "url")
"""The settings that `@URL` fills, whichever a kind has."""
MODEL = "model"
"""The setting that names a model among others; its value is the member's name, too."""
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)=(.*)", re.DOTALL)
_AT = re.compile(r"(.*)@(https?://\S*)", re.DOTALL)
# An address with another scheme or none: `m@ftp://h`, `m@127.0.0.1:8000`, `m@host:8000/v1`, `m@some.host/v1`.
_OTHER_ADDRESS = re.compile(
    r"@([A-Za-z][\w+.-]*:/|(localhost|\d+(\.\d+){3}|\[[0-9a-fA-F:]*\]|[\w.-]+(?=:\d+(/|$))|[\w-]+(\.[\w-]+)+(?=/))(:\d+)?(/\S*)?$)"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://")
# No error repeats a name and a password in an address.
_USER = re.compile(r"://[^/\s]*@")
_LONGEST_NAME = 80
_EXAMPLES = (
    "Try: write NAME, NAME@URL, or KIND:ARGUMENT, such as gpt-5-mini, qwen3@http://127.0.0.1:8000/v1 or mailbox:DIR"
)


def parse_models(specs: Sequence[str], plugins: Plugins) -> tuple[ModelSection, ...]:
    """Returns the models of several `--model`s, each with a name of its own; raises `ConfigError`, also for a name given twice."""
    found: dict[str, ModelSection] = {}
    for spec in specs:
        section = parse_model(spec, plugins)
        name, number = section.name, 2
        if name in found and _NAMED.fullmatch(spec):
            raise ConfigError(f"two models are called {name!r}, got --model {spec}. Try: give one another NAME=")
        while name in found:
            name, number = f"{section.name}-{number}", number + 1
        found[name] = section.model_copy(update={"name": name})
    return tuple(found.values())


def parse_model(spec: str, plugins: Plugins) -> ModelSection:
    """Returns a member of `models.members`, as far as its kind and one argument say it; raises `ConfigError`."""
    named = _NAMED.fullmatch(spec.strip())
    name, rest = (named[1], named[2].strip()) if named else ("", spec.strip())
    prefix, colon, behind = rest.partition(":")
    kind, argument = (prefix, behind.strip()) if colon and prefix in plugins.models else (SERVER, rest)
    entry, says_kind = plugins.model_kind(kind), argument != rest
    argument, address = _split_address(argument, entry)
    if kind == SERVER and not address:
        _check_address(argument)
        if not says_kind:
            _check_kind(spec, argument, plugins)
    if not argument or _URL.match(argument):
        got = f"--model {_USER.sub('://...@', spec)!r}"
        raise ConfigError(f"{got} names {'a server and no model' if argument else 'no model'}. {_EXAMPLES}")
    if not entry.argument:
        raise ConfigError(
            f"the kind of model {kind!r} takes no argument, got {argument!r}. Try: name it in a campaign file"
        )
    value = _make_absolute(argument, Path()) if _is_path(entry, entry.argument) else argument
    called = name or (argument if entry.argument == MODEL else kind)
    settings = {entry.argument: value, **address}
    return ModelSection(name=called[:_LONGEST_NAME], kind=kind, settings=settings, concurrency=entry.concurrency)


def _split_address(argument: str, entry: ModelEntry) -> tuple[str, dict[str, str]]:
    """Returns the argument and the address behind it; a kind without addresses has an argument alone."""
    fields = {} if entry.settings is None else entry.settings.model_fields
    setting = next((name for name in ADDRESSES if name in fields), None)
    found = _AT.fullmatch(argument)
    return (argument, {}) if setting is None or found is None else (found[1].strip(), {setting: found[2]})


def _check_address(argument: str) -> None:
    """Raises `ConfigError` for a model of a hosted server that is more likely one at an address."""
    if _OTHER_ADDRESS.search(argument):
        raise ConfigError(
            "--model has an address that begins with neither http:// nor https://. Try: write MODEL@http://HOST:PORT/v1"
        )


def _check_kind(spec: str, argument: str, plugins: Plugins) -> None:
    """Raises `ConfigError` for a model of a hosted server that is more likely one of another kind."""
    before, colon, behind = argument.partition(":")
    near = difflib.get_close_matches(before, plugins.models, n=1, cutoff=0.7) if colon else []
    if near:
        raise ConfigError(
            f"--model {spec!r}: there is no kind of model {before!r}. Did you mean '{near[0]}:'? "
            f"Try: write {near[0]}:{behind}, or {SERVER}:{argument} where this is a model's name"
        )


def read_campaign_file(path: Path, plugins: Plugins) -> dict[str, Any]:
    """Returns the values of a campaign file; paths in its models' settings count from where the file lies. Raises `ConfigError`."""
    return place_models(file.read(path), path.resolve().parent, plugins)


def place_models(values: dict[str, Any], folder: Path, plugins: Plugins) -> dict[str, Any]:
    """Returns values of a campaign file with the paths in its models' settings made absolute, from `folder`."""
    models = values.get("models", {})
    if "members" not in models:
        return values
    members = [{**member, "settings": _place_settings(member, folder, plugins)} for member in models["members"]]
    return {**values, "models": {**models, "members": members}}


def _place_settings(member: Mapping[str, Any], folder: Path, plugins: Plugins) -> dict[str, Any]:
    found = plugins.models.get(member.get("kind", SERVER))
    return {
        key: _make_absolute(value, folder)
        if isinstance(value, str) and found is not None and _is_path(found.entry, key)
        else value
        for key, value in member.get("settings", {}).items()
    }


def _is_path(entry: ModelEntry, setting: str) -> bool:
    field: Any = None if entry.settings is None else entry.settings.model_fields.get(setting)
    return field is not None and field.annotation is Path


def _make_absolute(path: str, folder: Path) -> str:
    return os.path.abspath(folder / Path(path).expanduser())  # noqa: PTH100  # without following links


def check_models(sections: Sequence[ModelSection], plugins: Plugins) -> None:
    """Raises `ConfigError` for a model whose kind is not registered, or whose settings its kind does not take. Makes no model."""
    for section in sections:
        try:
            plugins.model_settings(section.kind, section.settings)
        except ConfigError as error:
            raise ConfigError(f"model {section.name!r}: {error}") from error
