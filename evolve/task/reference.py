"""The keys of `task.toml` as a JSON Schema for editors and, made from it, as the page of the documentation."""

import json
from collections.abc import Iterator
from typing import Any

from evolve.task.schema import TaskFile

Schema = dict[str, Any]

_HEAD = """\
# The keys of `task.toml`

Made from the engine's own schema by `evolve task schema --markdown`; `evolve task schema` prints it as a JSON Schema for editors, which is also
[in this folder](task-schema.json). [Write a task](tasks.md) explains them in use.

An unknown key, a wrong type or a file that is not there is an error that names the key. Only `schema` must be written. A further
task file of a folder ([several tasks in one folder](tasks.md#several-tasks-in-one-folder)) has the same keys.
"""
_ROW = "| `{}` | {} | {} | {} |"
_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "table",
}


def json_schema() -> str:
    """Returns the JSON Schema of a task file, indented, with a new line at its end."""
    return json.dumps(_schema(), indent=2, ensure_ascii=False) + "\n"


def markdown() -> str:
    """Returns the page of the documentation: one table, a row for each key, tables before what they hold."""
    rows = ["| key | type | default | meaning |", "|---|---|---|---|", *_rows(_schema(), _schema()["$defs"], "")]
    return _HEAD + "\n" + "\n".join(rows) + "\n"


def _schema() -> Schema:
    return TaskFile.model_json_schema() | {"title": "task.toml of evolve"}


def _rows(table: Schema, tables: Schema, prefix: str) -> Iterator[str]:
    for name, value in table["properties"].items():
        meaning = " ".join(value["description"].split())
        yield _ROW.format(prefix + name, _type(value), _default(value), meaning)
        inner = _reference(value)
        if inner:
            yield from _rows(tables[inner], tables, f"{prefix}{name}.")


def _reference(value: Schema) -> str:
    """Returns the name of the table that a value is, may be, or is a list of; empty for other values."""
    for part in (value, value.get("items", {}), *value.get("anyOf", ())):
        if "$ref" in part:
            return str(part["$ref"]).rpartition("/")[2]
    return ""


def _type(value: Schema) -> str:
    """Returns the name of a type for whoever writes TOML."""
    if "const" in value:
        return str(value["const"])
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_type(part) for part in value["anyOf"] if part != {"type": "null"}))
    if value.get("type") == "array":
        inner = _type(value["items"])
        return "array of tables" if inner == "table" else f"list of {inner}s"
    kinds = value.get("type", "object")
    return " or ".join(_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _default(value: Schema) -> str:
    # A table's own keys have their defaults in rows of their own.
    if "default" not in value or (_reference(value) and value["default"]):
        return ""
    return "none" if value["default"] in (None, [], {}) else f"`{json.dumps(value['default'])}`"
