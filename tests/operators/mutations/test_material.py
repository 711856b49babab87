"""What an edit is made of."""

import ast

import pytest
from mutation_fakes import material, source

from evolve.operators.mutations.material import are_alike, is_small, is_value, sort_of, suits


def expression(text: str) -> ast.expr:
    """The tree of one."""
    return ast.parse(text, mode="eval").body


def test_sites_that_may_change_are_values_in_the_regions() -> None:
    """No function where it is called, no module, nothing before a dot, nothing that makes a loop end."""
    text = "import math\ndef f(a):\n    while a:\n        a = g(a, 2)\n        b = a\n    return math.pi + a.x + max(1, f)\n"
    made = material(text)
    found = [made.source.written(made.source.extent(site.node)) for site in made.sites]
    assert found == ["a", "math.pi + a.x + max(1, f)", "math.pi + a.x", "math.pi", "a.x", "max(1, f)", "1"]


def test_functions_are_those_that_are_called_imported_or_always_known() -> None:
    """By name and number of arguments; no method of a value, no class, nothing with an effect."""
    text = "import numpy as np\nfrom math import sin as sine, pi\nnp.clip(1, 2, 3)\nrows = sorted([1])\nrows.append(2)\nprint(1)\nclass A: pass\nA(1)\nlen(rows, key=1)\n"
    found = {(one.name, one.arity) for one in material(text, "def own(x): pass\nown(3)\n").functions}
    assert {("np.clip", 3), ("np.sqrt", 1), ("sine", 1), ("sorted", 1), ("own", 1), ("abs", 1), ("max", 2)} <= found
    assert not {name for name, _ in found} & {"rows.append", "print", "A", "len", "pi", "math.sin"}


def test_values_at_a_place_are_bound_there() -> None:
    """No function, no module, and nothing that is called."""
    made = material("import math\nk = 1\ndef f(a, call):\n    b = call(a)\n    c = 2\n")
    node = made.source.members[3].node
    assert made.values_at(node, node.lineno, node.col_offset) == ["a", "k"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("1", "a + b", True),
        ("1", "f(x)", True),
        ("1", "'t'", False),
        ("a < b", "not c", True),
        ("a < b", "a", False),
        ("[a]", "{b: c}", True),
        ("[a]", "f(x)", True),
        ("[a]", "1", False),
        ("None", "1", False),
        ("f'{a}'", "'t'", True),
    ],
)
def test_what_may_stand_for_what(one: str, other: str, expected: bool) -> None:
    """As far as the form tells."""
    assert suits(expression(one), expression(other)) is expected


def test_forms_and_sizes() -> None:
    """A name may be anything."""
    assert [sort_of(expression(text)) for text in ("a", "b'x'", "1j", "lambda: 1")] == [
        "any",
        "nothing",
        "number",
        "nothing",
    ]
    assert is_small(expression("a + b"))
    assert not is_small(expression(" + ".join("a" * 40)))
    assert [are_alike(*pair) for pair in (("sin", "m.cos"), ("list", "abs"), ("list", "own"))] == [True, False, True]


def test_a_name_that_nothing_binds_is_no_value() -> None:
    """It may be anything."""
    found = source("x = y + len\n")
    assert [is_value(found, site) for site in found.sites] == [True, False, False]
