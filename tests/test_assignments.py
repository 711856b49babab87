"""Settings as a person writes them on a command line."""

import pytest

from evolve.assignments import parse_assignment, put_value
from evolve.types import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b=1", (["a", "b"], 1)),
        ("a=1.5", (["a"], 1.5)),
        ("a=true", (["a"], True)),
        ("a=[1, 2]", (["a"], [1, 2])),
        ("a=some words", (["a"], "some words")),
        ("a=1\nb = 2", (["a"], "1\nb = 2")),
        ('a="1"', (["a"], "1")),
        ("a==", (["a"], "=")),
    ],
)
def test_assignments_are_toml_values_or_words(text, expected):
    """What is no TOML value is a string."""
    assert expected == parse_assignment(text)


def test_a_value_is_put_where_its_path_says():
    """Tables that are missing are made; a value is no table."""
    tree: dict = {"a": 1}
    put_value(tree, ["b", "c"], 2, "b.c=2")
    assert tree == {"a": 1, "b": {"c": 2}}
    with pytest.raises(ConfigError, match=r"'a' in 'a.b=3' is a value, not a table. Try: set a=..."):
        put_value(tree, ["a", "b"], 3, "a.b=3")
