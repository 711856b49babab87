"""Facts about the page and the JSON Schema of the task file."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from evolve.task.reference import json_schema, markdown
from evolve.task.schema import TaskFile, tables

DOCS = Path(__file__).parents[2] / "docs"


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    inner = tables(model)
    for name, field in model.model_fields.items():
        key = field.alias or name
        yield prefix + key
        if key in inner:
            yield from keys(inner[key], f"{prefix}{key}.")


def test_every_key_has_its_row_and_no_other_row_is_there() -> None:
    """In the order of the schema."""
    assert re.findall(r"^\| `([\w.]+)` \|", markdown(), flags=re.MULTILINE) == list(keys(TaskFile))


def test_every_row_says_what_the_key_is() -> None:
    """Undocumented is broken."""
    rows = [line.split(" | ") for line in markdown().splitlines() if line.startswith("| `")]
    assert [row[0] for row in rows if not row[3].removesuffix(" |").strip()] == []


def test_the_page_and_the_schema_in_the_documentation_are_those_of_today() -> None:
    """`evolve task schema` makes both."""
    assert (DOCS / "task-file.md").read_text("utf-8") == markdown()
    assert (DOCS / "task-schema.json").read_text("utf-8") == json_schema()


@pytest.mark.parametrize(
    ("key", "kind", "default"),
    [
        ("schema", "1", ""),
        ("program", "table", ""),
        ("program.files", "list of texts", '`["seed.py"]`'),
        ("deterministic", "true or false", "`false`"),
        ("axes", "array of tables", "none"),
        ("axes.low", "number", ""),
        ("stages", "array of tables", "one"),
        ("stages.threshold", "number or text", "none"),
        ("sandbox.memory", "text", '`"2GiB"`'),
        ("evaluator", "file or table", '`"evaluator.py"`'),
        ("held_out", "table or array of tables", "none"),
    ],
)
def test_types_and_defaults_are_said_in_the_words_of_toml(key: str, kind: str, default: str) -> None:
    """As whoever writes the file thinks of them."""
    row = next(line for line in markdown().splitlines() if line.startswith(f"| `{key}` |"))
    assert [cell.strip() for cell in row.split("|")[2:4]] == [kind, default]


def test_the_schema_knows_nested_tables_and_refuses_unknown_keys() -> None:
    """An editor underlines a misspelt key."""
    schema = json.loads(json_schema())
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["schema"]
    assert schema["$defs"]["AxisTable"]["required"] == ["name", "low", "high", "bins"]
