"""How a model is named on the command line: `[NAME=][KIND:]ARGUMENT[@URL]`.

Invariant: `a` and `openai:a` are the same model; only a registered kind is one, so that `llama3:8b` is a model's name, but what looks like a
misspelt kind or address is refused and sent to nobody. A path is stored as an absolute
one, so that a campaign finds it from every folder."""

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
from evolve.types import ConfigError, EvolveError

SERVER = "openai"
"""The kind of a model that names none."""
ADDRESSES = ("base_url", "url")
"""The settings that `@URL` fills, whichever a kind has."""
MODEL = "model"
"""The setting that names a model among others: what it says is the member's name, too."""
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)=(.*)", re.DOTALL)
_AT = re.compile(r"(.*)@(https?://\S*)", re.DOTALL)
_BARE_ADDRESS = re.compile(
    r".*@(localhost|\d+(\.\d+){3}|\[[0-9a-fA-F:]*\]|[\w.-]+(?=:\d+(/|$))|[\w-]+(\.[\w-]+)+(?=/))(:\d+)?(/\S*)?",
    re.DOTALL,
)
"""A model and an address that does not say how it is called: `m@127.0.0.1:8000`, `m@host:8000/v1`, `m@some.host/v1`."""
_OTHER_SCHEME = re.compile(r"@([A-Za-z][\w+.-]*):/")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://")
_USER = re.compile(r"://[^/\s]*@")
"""A name and a password in an address, which no error repeats."""
_LONGEST = 80
_EXAMPLES = (
    "Do: write NAME, NAME@URL, or KIND:ARGUMENT, such as gpt-5-mini, qwen3@http://127.0.0.1:8000/v1 or mailbox:DIR"
)


def members(specs: Sequence[str], plugins: Plugins) -> tuple[ModelSection, ...]:
    """The models of several `--model`s. Those that nobody named have names of their own; raises `ConfigError`, also for a name given twice."""
    found: list[ModelSection] = []
    for spec in specs:
        section = member(spec, plugins)
        taken = {other.name for other in found}
        if section.name in taken:
            if _NAMED.fullmatch(spec):
                raise ConfigError(
                    f"two models are called {section.name!r}, got --model {spec}. Do: give one another NAME="
                )
            section = section.model_copy(update={"name": _free(section.name, taken)})
        found.append(section)
    return tuple(found)


def member(spec: str, plugins: Plugins) -> ModelSection:
    """A member of `models.members`, as far as its kind and one argument say it; raises `ConfigError`."""
    named = _NAMED.fullmatch(spec.strip())
    name, rest = (named[1], named[2].strip()) if named else ("", spec.strip())
    kind, argument = _parted(rest, plugins)
    entry = plugins.model_kind(kind)
    argument, address = _addressed(argument, entry)
    if kind == SERVER and not address:
        _check_address(argument)
    if argument == rest:
        _check_kind(spec, rest, plugins)
    if not argument or _URL.match(argument):
        got = f"--model {_USER.sub('://...@', spec)!r}"
        raise ConfigError(f"{got} names {'a server and no model' if argument else 'no model'}. {_EXAMPLES}")
    if not entry.argument:
        raise ConfigError(
            f"the kind of model {kind!r} takes no argument, got {argument!r}. Do: name it in a campaign file"
        )
    settings = {entry.argument: _absolute(argument, Path()) if _is_path(entry, entry.argument) else argument, **address}
    called = name or (argument if entry.argument == MODEL else kind)
    return ModelSection(name=called[:_LONGEST], kind=kind, settings=settings, concurrency=entry.concurrency)


def _check_address(argument: str) -> None:
    """Raises `ConfigError` for a model of a hosted server that is more likely one at an address."""
    scheme = _OTHER_SCHEME.search(argument)
    if scheme:
        raise ConfigError(
            f"--model has an address that begins with neither http:// nor https://, got ...@{scheme[1]}://... "
            "Do: write MODEL@http://HOST:PORT/v1"
        )
    if _BARE_ADDRESS.fullmatch(argument):
        address = argument.rpartition("@")[2]
        raise ConfigError(
            f"--model has an address without http:// or https://, got ...@{address}. Do: write MODEL@http://{address}"
        )


def _check_kind(spec: str, rest: str, plugins: Plugins) -> None:
    """Raises `ConfigError` for a model of a hosted server that is more likely one of another kind."""
    before, colon, argument = rest.partition(":")
    name, equals, kind = before.rpartition("=")
    if colon and equals and kind in plugins.models:
        raise ConfigError(
            f"--model {spec!r} gives a model the name {name!r}: a name has letters, digits, '.', '_' and '-'. "
            f"Do: write NAME={kind}:{argument}"
        )
    near = _near_kind(before, plugins) if colon else ""
    if near:
        raise ConfigError(
            f"--model {spec!r}: there is no kind of model {before!r}. Did you mean '{near}:'? "
            f"Do: write {near}:{argument}, or {SERVER}:{rest} where this is a model's name"
        )


def _near_kind(word: str, plugins: Plugins) -> str:
    """The kind that a word is nearly; empty where there is none."""
    near = difflib.get_close_matches(word, plugins.models, n=1, cutoff=0.7)
    return near[0] if near else ""


def file_values(path: Path, plugins: Plugins) -> dict[str, Any]:
    """What a campaign file says, with the paths in its models' settings told from where it lies; raises `ConfigError`."""
    return place_models(file.read(path), path.resolve().parent, plugins)


def place_models(values: dict[str, Any], folder: Path, plugins: Plugins) -> dict[str, Any]:
    """Returns values of a campaign file with the paths in its models' settings made absolute, from `folder`."""
    models = values.get("models", {})
    if "members" not in models:
        return values
    members = [{**member, "settings": _placed(member, folder, plugins)} for member in models["members"]]
    return {**values, "models": {**models, "members": members}}


def _placed(member: Mapping[str, Any], folder: Path, plugins: Plugins) -> dict[str, Any]:
    kind, settings = member.get("kind", SERVER), member.get("settings", {})
    if kind not in plugins.models:
        return dict(settings)
    entry = plugins.model_kind(kind)
    return {
        key: _absolute(value, folder) if isinstance(value, str) and _is_path(entry, key) else value
        for key, value in settings.items()
    }


def checked(found: Sequence[ModelSection], plugins: Plugins) -> None:
    """Raises `ConfigError` for a model whose kind there is not, or whose settings its kind does not take. None is made."""
    for section in found:
        try:
            plugins.model_settings(section.kind, section.settings)
        except ConfigError as error:
            raise ConfigError(f"model {section.name!r}: {error}") from error


def kind_note(section: ModelSection, plugins: Plugins) -> str:
    """` Did you mean 'mailbox:'?` for a model of a server whose name begins nearly as a kind does, for an error about it."""
    prefix, colon, _ = str(section.settings.get(MODEL, "")).partition(":")
    near = _near_kind(prefix, plugins) if colon and section.kind == SERVER else ""
    return f" Did you mean '{near}:'?" if near else ""


def told_of(section: ModelSection, error: EvolveError, plugins: Plugins) -> EvolveError:
    """The error with the name of the model, and whether its kind may be misspelt before what to do."""
    note = kind_note(section, plugins)
    what, do, remedy = str(error).partition(" Do: ")
    name = "" if what.startswith(f"model {section.name!r}") else f"model {section.name!r}: "
    return type(error)(f"{name}{what}{'.' if note and not what.endswith('.') else ''}{note}{do}{remedy}")


def _parted(text: str, plugins: Plugins) -> tuple[str, str]:
    prefix, colon, rest = text.partition(":")
    return (prefix, rest.strip()) if colon and prefix in plugins.models else (SERVER, text)


def _addressed(argument: str, entry: ModelEntry) -> tuple[str, dict[str, str]]:
    """The argument and the address behind it; a kind without addresses has an argument alone."""
    fields = {} if entry.settings is None else entry.settings.model_fields
    setting = next((name for name in ADDRESSES if name in fields), None)
    found = _AT.fullmatch(argument)
    if setting is None or found is None:
        return argument, {}
    return found[1].strip(), {setting: found[2]}


def _is_path(entry: ModelEntry, setting: str) -> bool:
    field: Any = None if entry.settings is None else entry.settings.model_fields.get(setting)
    return field is not None and field.annotation is Path


def _absolute(path: str, folder: Path) -> str:
    return os.path.abspath(folder / Path(path).expanduser())  # noqa: PTH100  # without following links


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"
