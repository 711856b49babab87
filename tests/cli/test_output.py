"""Tables, facts and JSON."""

import json
from dataclasses import dataclass

import pytest

from evolve.cli import output


@dataclass(frozen=True)
class Point:
    """Something to print."""

    x: float
    names: tuple[str, ...]


def test_a_dataclass_is_one_line_of_json(capsys):
    """Text stays readable."""
    output.emit_all([Point(1.5, ("ä",)), {"y": None}])
    assert capsys.readouterr().out == '{"x": 1.5, "names": ["ä"]}\n{"y": null}\n'


def test_json_never_holds_nan():
    """No parser would take it."""
    with pytest.raises(ValueError):
        output.emit({"x": float("nan")})


def test_a_table_aligns_its_columns_and_keeps_a_cell_on_one_line():
    """Without spaces at the ends."""
    assert output.table(("name", "value"), [("a", "1"), ("bcd", "2\n3")]) == "name  value\na     1\nbcd   2 3"


def test_a_table_without_rows_is_its_headings():
    """Not an error."""
    assert output.table(("a", "b"), []) == "a  b"


def test_facts_align_their_texts_and_indent_further_lines():
    """An empty label goes on with the one above."""
    assert output.facts([("best", "1\n2"), ("", "3")]) == "best  1\n      2\n      3"


def test_nested_settings_become_dotted_keys_in_toml():
    """Whose values TOML and JSON write alike."""
    tree = {"a": 1, "b": {"c": "x", "d": {}}, "e": [True]}
    assert output.flat(tree) == [("a", "1"), ("b.c", '"x"'), ("b.d", "{}"), ("e", "[true]")]


def test_what_is_emitted_reads_back(capsys):
    """With tuples as lists."""
    output.emit(Point(0.1, ("a", "b")))
    assert json.loads(capsys.readouterr().out) == {"x": 0.1, "names": ["a", "b"]}
