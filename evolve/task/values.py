"""What single values of `task.toml` may be: how the engine reads each, and the same in the words of JSON Schema, for editors.

Invariant: nothing that the engine accepts is refused by the JSON Schema; what that cannot say (that a file is there, that two keys agree) is
left to the engine."""

import math
import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from evolve.types import EvaluatorSource, Scalar, canonical, top_share

_SIGNS = r"!-/:-@\[-^`{-~"
"""ASCII characters that are no part of an identifier, as ranges of a regular expression."""

Schema = dict[str, Any]

_NAME: Schema = {"type": "string", "pattern": rf"^[^\s\d{_SIGNS}][^\s{_SIGNS}]*$"}
_FILE: Schema = {
    "type": "string",
    "pattern": r"^(?!/)(?!(?:.*/)?\.\.(?:/|$))(?!(?:\./*)*$)[^\\\u0000-\u001f\u007f]+$",
}
_FOLDER: Schema = {"type": "string", "pattern": r"^[^\u0000-\u001f\u007f]+$"}
_NETWORK: Schema = {"enum": ["off", "loopback"]}
_SIZE: Schema = {"type": "string", "pattern": r"^0*[1-9][0-9]* ?(?:KiB|MiB|GiB)$"}
_THRESHOLD: Schema = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^top (?:0*[1-9][0-9]?(?:\.[0-9]+)?|0+\.[0-9]*[1-9][0-9]*) ?%$"},
    ]
}
_EVALUATOR: Schema = {
    "anyOf": [
        _FILE,
        {
            "type": "object",
            "properties": {"plugin": {"type": "string"}},
            "required": ["plugin"],
            "not": {"required": ["kind"]},
        },
        {
            "type": "object",
            "properties": {"kind": {"type": "string"}},
            "required": ["kind"],
            "not": {"required": ["plugin"]},
        },
    ]
}
BOUNDED: Schema = {"anyOf": [{"required": ["at_least"]}, {"required": ["at_most"]}]}

_PARAMETER: Schema = {"type": ["number", "string", "boolean"]}
_PARAMETERS: Schema = {"type": "object", "propertyNames": _NAME, "additionalProperties": _PARAMETER}
_CASES: Schema = {
    "anyOf": [
        {"type": "object", "propertyNames": _NAME, "additionalProperties": {"type": "array", "items": _PARAMETER}},
        {
            "type": "array",
            "items": {**_PARAMETERS, "properties": {"name": {**_PARAMETER, "minLength": 1}}, "required": ["name"]},
        },
    ]
}

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def _scalar(value: object) -> Scalar:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError("a parameter is a finite number, a text or true/false")


def _memory(value: object) -> int:
    """`"2GiB"` as bytes."""
    match = re.fullmatch(r"(\d+) ?(KiB|MiB|GiB)", value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError('a size is written with its unit, such as "512MiB" or "2GiB"')
    return int(match[1]) * _UNITS[match[2]]


def _folder(written: str) -> str:
    if not written or not written.isprintable():
        raise ValueError("a folder is named by its path, which has no control character")
    return written


def _network(value: object) -> Literal["off", "loopback"]:
    if value == "off" or value == "loopback":
        return value
    if value == "internet":
        raise ValueError(
            "a program never reaches the internet, there is no such setting. Do: fetch what it needs beforehand, and name its folder in "
            'sandbox.read; "loopback" gives it a network of its own'
        )
    raise ValueError('network is "off", or "loopback"')


def _threshold(value: object) -> float | str | None:
    """A fitness, or `"top 30%"`."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)):
        return value
    if not isinstance(value, str):
        raise ValueError('a threshold is a finite number, or a share such as "top 30%"')
    top_share(value)
    return value


def _evaluator(value: object) -> EvaluatorSource:
    if isinstance(value, str):
        return EvaluatorSource(path=_inside(value))
    named = {"kind", "plugin"} & set(value) if isinstance(value, dict) else set()
    if isinstance(value, dict) and len(named) == 1 and isinstance(value[key := named.pop()], str):
        settings = {name: setting for name, setting in value.items() if name != key}
        if not _is_plain(settings):
            raise ValueError(
                "the settings of a plugin are plain data: finite numbers, texts, true/false, lists and tables"
            )
        return EvaluatorSource(plugin=value[key], settings=settings)
    raise ValueError(
        'an evaluator is a file, "evaluator.py", one that comes with the engine, { kind = "command", ... }, or a plugin\'s, { plugin = "name", ... }'
    )


def _is_plain(value: object) -> bool:
    """Whether `value` is the same after a journey as JSON."""
    try:
        canonical(value)
    except (TypeError, ValueError):
        return False
    return True


def _inside(path: str) -> str:
    """A path in the task's folder, in its plain form."""
    plain = PurePosixPath(path)
    if not plain.parts or plain.is_absolute() or ".." in plain.parts or "\\" in path or "\0" in path:
        raise ValueError("a file is named by its path inside the task's folder, with /")
    if not path.isprintable():
        raise ValueError("a file's name has no line break and no other control character")
    return str(plain)


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise ValueError("a name is made of letters, digits and underscores, and begins with no digit")
    return name


FilePath = Annotated[str, AfterValidator(_inside), WithJsonSchema(_FILE)]
Name = Annotated[str, AfterValidator(_identifier), WithJsonSchema(_NAME)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Size = Annotated[int, PlainValidator(_memory), WithJsonSchema(_SIZE)]
Folder = Annotated[str, AfterValidator(_folder), WithJsonSchema(_FOLDER)]
Network = Annotated[Literal["off", "loopback"], PlainValidator(_network), WithJsonSchema(_NETWORK)]
Threshold = Annotated[float | str | None, PlainValidator(_threshold), WithJsonSchema(_THRESHOLD)]
Evaluator = Annotated[EvaluatorSource, PlainValidator(_evaluator), WithJsonSchema(_EVALUATOR)]
Parameter = Annotated[Scalar, PlainValidator(_scalar)]
Parameters = Annotated[dict[Name, Parameter], WithJsonSchema(_PARAMETERS)]
Cases = Annotated[dict[Name, list[Parameter]] | list[dict[Name, Parameter]], WithJsonSchema(_CASES)]
