"""Parentheses where they are needed, and nowhere else."""

import ast

import pytest

from evolve.syntax import fitted, read, strength

PARTS = [
    "a",
    "-a",
    "not a",
    "a + b",
    "a * b",
    "a ** b",
    "a < b",
    "a and b",
    "a or b",
    "a if b else c",
    "lambda: a",
    "a, b",
    "(a, b)",
]
PARTS += ["f(a)", "a.b", "a[0]", "[a]", "1", "'t'", "(x for x in a)", "a | b", "a << b", "a @ b", "(a), (b)", "()"]
PLACES = [
    "x = HERE",
    "f(HERE)",
    "HERE + 1",
    "1 - HERE",
    "HERE ** 2",
    "2 ** HERE",
    "-HERE",
    "not HERE",
    "HERE < 1",
    "1 < HERE",
]
PLACES += [
    "HERE and c",
    "c or HERE",
    "HERE.b",
    "HERE[0]",
    "a[HERE]",
    "[HERE, 1]",
    "1 if HERE else 2",
    "HERE if 1 else 2",
]
PLACES += [
    "[x for x in HERE]",
    "[x for x in y if HERE]",
    "{HERE: 1}",
    "f(*HERE)",
    "f(k=HERE)",
    "lambda: HERE",
    "f(HERE for x in y)",
]


def shape_of(part: str, place: str) -> tuple[str, str]:
    """The tree of the place with the part in it, and what it should be: the part as a whole, where the name was."""
    alone = read(f"x = {part}", "a.py", ())
    value = alone.tree.body[0]
    assert isinstance(value, ast.Assign)
    found = read(place, "a.py", ())
    site = next(site for site in found.sites if isinstance(site.node, ast.Name) and site.node.id == "HERE")
    text = fitted(part, strength(alone, value.value), site)
    expected = ast.dump(found.tree).replace(ast.dump(site.node), ast.dump(value.value))
    return ast.dump(ast.parse(place.replace("HERE", text))), expected


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_at_its_place_what_it_was_alone(part: str) -> None:
    """Any part at any place."""
    wrong = [place for place in PLACES if len(set(shape_of(part, place))) > 1]
    assert wrong == []


@pytest.mark.parametrize(
    ("part", "place", "expected"),
    [
        ("a * b", "x = HERE + 1", "a * b"),
        ("a - b", "x = HERE - 1", "a - b"),
        ("a - b", "x = 1 - HERE", "(a - b)"),
        ("a + b", "f(HERE)", "a + b"),
        ("(a, b)", "f(HERE)", "(a, b)"),
        ("a +\n b", "x = HERE", "(a +\n b)"),
        ("f(a,\n b)", "x = HERE", "f(a,\n b)"),
    ],
)
def test_no_parentheses_without_need(part: str, place: str, expected: str) -> None:
    """Several lines need a bracket around them."""
    alone = read(f"x = ({part})", "a.py", ())
    value = alone.tree.body[0]
    assert isinstance(value, ast.Assign)
    site = next(
        site for site in read(place, "a.py", ()).sites if isinstance(site.node, ast.Name) and site.node.id == "HERE"
    )
    assert fitted(part, strength(alone, value.value), site) == expected


def test_the_brackets_of_a_lone_generator_stay() -> None:
    """They are those of the call."""
    found = read("sum(x for x in y)", "a.py", ())
    site = next(site for site in found.sites if isinstance(site.node, ast.GeneratorExp))
    assert fitted("z", 15, site) == "(z)"
