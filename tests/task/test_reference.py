"""Facts about the page and the JSON Schema of the task file."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from evolve.task import find, list_bundled
from evolve.task.reference import json_schema, markdown
from evolve.task.schema import parse

DOCS = Path(__file__).parents[2] / "docs"


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
        ("stages", "array of tables", ""),
        ("stages.threshold", "number or text", "none"),
        ("sandbox.memory", "text", '`"2GiB"`'),
        ("sandbox.network", "text", '`"off"`'),
        ("sandbox.gpu", "whole number", "`0`"),
        ("evaluator", "text or table", '`"evaluator.py"`'),
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


def accepted_by_schema(text: str) -> bool:
    """By the JSON Schema of the documentation, as an editor does it."""
    return jsonschema.Draft202012Validator(json.loads(json_schema())).is_valid(tomllib.loads(text))


def accepted_by_engine(text: str) -> bool:
    """By what reads a task."""
    try:
        parse(tomllib.loads(text))
    except ValueError:
        return False
    return True


def test_the_schema_is_a_schema() -> None:
    """Of the draft that it is checked by."""
    jsonschema.Draft202012Validator.check_schema(json.loads(json_schema()))


@pytest.mark.parametrize("name", list_bundled())
def test_every_task_that_comes_with_the_engine_is_accepted(name: str) -> None:
    """By both."""
    place = find(name)
    text = (place if place.is_file() else place / "task.toml").read_text("utf-8")
    assert (accepted_by_schema(text), accepted_by_engine(text)) == (True, True)


@pytest.mark.parametrize(
    "line",
    [
        'brief = "docs/brief.md"',
        'brief = "./brief..md"',
        'program = { files = ["seed.py"], new_files = ["lib/*.py"] }',
        'evaluator = { plugin = "near", target = 7, deep = { list = [1, "a"] } }',
        'evaluator = { kind = "command", argv = ["python", "train.py"] }',
        'parameters = { n = 1, "größe" = 1.5, kind = "round", _exact = true }',
        "parameters = { n = 1 }\nheld_out = { n = [2, 3] }",
        'parameters = { n = 1 }\nheld_out = [{ name = "more", n = 2 }]',
        'sandbox = { memory = "2 GiB", artifacts = "1KiB" }',
        'sandbox = { gpu = 1, memfd = true, shm = "1GiB", read = ["../data", "~/größe", "$DATA"], threads = 4, network = "loopback" }',
        'sandbox = { exec = false, scratch = "1GiB", file_size = "1GiB", tasks = 64 }',
        'stages = [{ name = "evaluate", seconds = 1, threshold = -3 }]',
        'stages = [{ threshold = "top 30%" }]',
        'stages = [{ threshold = "top 0.5 %" }]',
        'constraints = [{ metric = "bytes", at_most = 3 }]',
        'axes = [{ name = "größe", low = 0, high = 1.5, bins = 3 }]',
    ],
)
def test_what_both_accept(line: str) -> None:
    """An editor underlines nothing that works."""
    text = f"schema = 1\n{line}\n"
    assert (accepted_by_schema(text), accepted_by_engine(text)) == (True, True)


@pytest.mark.parametrize(
    "line",
    [
        "schema = 2",
        'brif = "README.md"',
        "program = { files = [] }",
        "evaluator = 3",
        "parameters = { n = [1] }",
        "parameters = { n = 1 }\nheld_out = { n = 2 }",
        "sandbox = { memory = 5 }",
        "sandbox = { gpu = 65 }",
        'sandbox = { gpu = "1" }',
        "sandbox = { exec = 1 }",
        'sandbox = { read = "data" }',
        'sandbox = { network = "internet" }',
        "sandbox = { threads = 0 }",
        "stages = [{ threshold = true }]",
        "stages = [{ seconds = 0 }]",
        'axes = [{ name = "a", low = 0, high = 1, bins = 0 }]',
        'fitness = { direction = "up" }',
        "deterministic = 1",
    ],
)
def test_what_both_refuse(line: str) -> None:
    """An editor underlines it before the engine does."""
    text = line if line.startswith("schema") else f"schema = 1\n{line}\n"
    assert (accepted_by_schema(text), accepted_by_engine(text)) == (False, False)
