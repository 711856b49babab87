"""Types of single values in `task.toml`: how each is read and checked.

The JSON Schema of such a type says less than the check here: it is for editors, and accepts all that the engine accepts."""

import math
import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from evolve.types import EvaluatorSource, Scalar, canonical, top_share

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Table(BaseModel):
    """A table of `task.toml`: an unknown key is an error, and no value is turned into another type. The docstring of a field is its row on the
    page of the documentation."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


def format_size(size: int) -> str:
    """Returns bytes with the largest unit that divides them."""
    for unit in ("GiB", "MiB"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return f"{size / 1024:g}KiB"


def _parse_size(value: object) -> int:
    match = re.fullmatch(r"(\d+) ?(KiB|MiB|GiB)", value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError('a size is written with its unit, such as "512MiB" or "2GiB"')
    return int(match[1]) * _UNITS[match[2]]


def _check_scalar(value: object) -> Scalar:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError("a parameter is a finite number, a text or true/false")


def _check_threshold(value: object) -> float | str | None:
    if isinstance(value, str):
        top_share(value)
        return value
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)):
        return value
    raise ValueError('a threshold is a finite number, or a share such as "top 30%"')


def _read_evaluator(value: object) -> EvaluatorSource:
    if isinstance(value, str):
        return EvaluatorSource(path=_check_path(value))
    keys = {"kind", "plugin"} & set(value) if isinstance(value, dict) else set()
    if not isinstance(value, dict) or len(keys) != 1 or not isinstance(value[key := keys.pop()], str):
        raise ValueError(
            'an evaluator is a file, "evaluator.py", one that comes with the engine, { kind = "command", ... }, or a plugin\'s, { plugin = "name", ... }'
        )
    settings = {name: setting for name, setting in value.items() if name != key}
    try:
        canonical(settings)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "the settings of a plugin are plain data: finite numbers, texts, true/false, lists and tables"
        ) from error
    return EvaluatorSource(plugin=value[key], settings=settings)


def _check_path(path: str) -> str:
    """Returns a path in the task's folder in its plain form."""
    plain = PurePosixPath(path)
    if not plain.parts or plain.is_absolute() or ".." in plain.parts or "\\" in path or "\0" in path:
        raise ValueError("a file is named by its path inside the task's folder, with /")
    # Names are told on one line of a terminal, which must not obey them.
    if not path.isprintable():
        raise ValueError("a file's name has no line break and no other control character")
    return str(plain)


def _check_folder(path: str) -> str:
    if not path or not path.isprintable():
        raise ValueError("a folder is named by its path, which has no control character")
    return path


def _check_identifier(name: str) -> str:
    if not name.isidentifier():
        raise ValueError("a name is made of letters, digits and underscores, and begins with no digit")
    return name


FilePath = Annotated[str, AfterValidator(_check_path)]
Folder = Annotated[str, AfterValidator(_check_folder)]
Name = Annotated[str, AfterValidator(_check_identifier)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Size = Annotated[int, PlainValidator(_parse_size), WithJsonSchema({"type": "string"})]
Threshold = Annotated[
    float | str | None, PlainValidator(_check_threshold), WithJsonSchema({"type": ["number", "string"]})
]
Evaluator = Annotated[EvaluatorSource, PlainValidator(_read_evaluator), WithJsonSchema({"type": ["string", "object"]})]
Parameter = Annotated[Scalar, PlainValidator(_check_scalar), WithJsonSchema({"type": ["number", "string", "boolean"]})]
Parameters = dict[Name, Parameter]
Cases = dict[Name, list[Parameter]] | list[Parameters]
