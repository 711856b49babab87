"""What `task.toml` may say, as a JSON Schema for editors and as the page of the documentation.

Invariant: both are made of `evolve.task.schema` alone, so that neither can say something else than the engine accepts."""

import json
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from evolve.task.schema import TaskFile, tables
from evolve.types import EvaluatorSource

_HEAD = """\
# The keys of `task.toml`

Made from the engine's own schema by `evolve task schema --markdown`; `evolve task schema` prints it as a JSON Schema for editors, which is also
[in this folder](task-schema.json). [Write a task](tasks.md) explains them in use.

An unknown key, a wrong type or a file that is not there is an error that names the key. Only `schema` must be written. A further
task file of a folder ([several tasks in one folder](tasks.md#several-tasks-in-one-folder)) has the same keys.
"""
_ROW = "| `{}` | {} | {} | {} |"
_TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false", dict: "table"}


def json_schema() -> str:
    """The JSON Schema of a task file, indented, with a new line at its end."""
    schema = TaskFile.model_json_schema() | {"title": "task.toml of evolve"}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def markdown() -> str:
    """The page: one table, a row for each key, tables before what they hold."""
    rows = ["| key | type | default | is |", "|---|---|---|---|", *_rows(TaskFile, "")]
    return _HEAD + "\n" + "\n".join(rows) + "\n"


def _rows(model: type[BaseModel], prefix: str) -> Iterator[str]:
    inner = tables(model)
    for name, field in model.model_fields.items():
        key = field.alias or name
        yield _ROW.format(prefix + key, _type(key, field, inner), _default(key, field, inner), field.description or "")
        if key in inner:
            yield from _rows(inner[key], f"{prefix}{key}.")


def _type(key: str, field: FieldInfo, inner: dict[str, type[BaseModel]]) -> str:
    if key in inner:
        return "array of tables" if typing.get_origin(field.annotation) is list else "table"
    declared = field.json_schema_extra.get("type") if isinstance(field.json_schema_extra, dict) else None
    if isinstance(declared, str):
        return "text" if declared == "string" else declared
    return "file" if key == "brief" else _named(field.annotation)


def _named(annotation: Any) -> str:
    """The name of a type for whoever writes TOML."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _named(arguments[0])
    if origin is Literal:
        return _named(type(arguments[0])) if len(arguments) > 1 else repr(arguments[0])
    if origin in (typing.Union, types.UnionType):
        found = dict.fromkeys(_named(one) for one in arguments if one is not types.NoneType)
        return " or ".join(found)
    if origin is list:
        return "array of tables" if typing.get_origin(arguments[0]) is dict else f"list of {_named(arguments[0])}s"
    if annotation is EvaluatorSource:
        return "file or table"
    return _TYPES.get(origin or annotation, "text")


def _default(key: str, field: FieldInfo, inner: dict[str, type[BaseModel]]) -> str:
    if field.is_required():
        return ""
    if isinstance(field.json_schema_extra, dict) and "default" in field.json_schema_extra:
        return f"`{json.dumps(field.json_schema_extra['default'])}`"
    value = field.default
    if isinstance(value, list) and key in inner and value:
        return "one"
    if value is None or value in ([], {}):
        return "none"
    return "" if isinstance(value, BaseModel) else f"`{json.dumps(value)}`"
