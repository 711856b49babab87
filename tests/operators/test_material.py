"""Material of an edit: what may change, what may be put there, and code that is moved."""

import ast

import pytest
from mutation_fakes import material, source

from evolve.operators.material import (
    find_loop_ends,
    is_small,
    is_value,
    sort_of,
    suits,
)


def expression(text: str) -> ast.expr:
    """The tree of one."""
    return ast.parse(text, mode="eval").body


def test_sites_that_may_change_are_values_in_the_regions() -> None:
    """No function where it is called, no module, nothing before a dot, nothing that makes a loop end."""
    text = "import math\ndef f(a):\n    while a:\n        a = g(a, 2)\n        b = a\n    return math.pi + a.x + max(1, f)\n"
    made = material(text)
    found = [made.source.text_of(made.source.extent(site)) for site in made.sites]
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
    assert made.values_at(node) == ["a", "k"]


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


def test_a_name_that_nothing_binds_is_no_value() -> None:
    """It may be anything."""
    found = source("x = y + len\n")
    assert [is_value(found, site) for site in found.sites] == [True, False, False]


@pytest.mark.parametrize(
    ("body", "held"),
    [
        ("n -= 1\ny = x", ["n -= 1"]),
        ("y = n", []),
        ("n[0].x = 1", ["n[0].x = 1"]),
        ("n.pop()\nx.pop()", ["n.pop()"]),
        ("if x:\n    y = 1\n    n = 2", ["n = 2"]),
        ("if x > 1:\n    break\nelse:\n    y = 1", ["x > 1", "break"]),
        ("for x in y:\n    return x", ["return x"]),
        ("del n", ["del n"]),
    ],
)
def test_what_is_held_is_its_condition_and_what_changes_or_leaves_it(body: str, held: list[str]) -> None:
    """All else may change."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    tree = ast.parse(f"def f(n, x, y):\n    z = n\n    while n > 0:\n{lines}    return z\n")
    found = find_loop_ends(list(ast.walk(tree)))
    texts = {ast.unparse(node) for node in found}
    assert set(held) | {"n > 0", "n", "0"} <= texts
    statements = {ast.unparse(node) for node in found if isinstance(node, ast.stmt)}
    assert statements == {text for text in held if text != "x > 1"}


def test_without_a_while_nothing_is_held() -> None:
    """A `for` ends by itself."""
    assert find_loop_ends(list(ast.walk(ast.parse("for x in y:\n    if x:\n        break\n")))) == frozenset()


def moved(text: str, donor: str, seed: int = 0) -> str | None:
    """Returns the value of the donor's last assignment, as it can stand at the last `return` of the text."""
    made = material(text, donor, seed=seed)
    value = [node for node in ast.walk(made.donors[0].tree) if isinstance(node, ast.Assign)][-1].value
    place = [node for node in ast.walk(made.source.tree) if isinstance(node, ast.Return)][-1]
    found = made.transplant(value, place)
    return None if found is None else ast.unparse(found)


def test_names_that_mean_something_stay() -> None:
    """Builtins, and what is bound at the place."""
    assert moved("def f(a):\n    return a\n", "a = 1\nx = max(a, 1)\n") == "max(a, 1)"


def test_other_names_become_names_that_do() -> None:
    """The same one for the same one, in f-strings too; what the code binds itself stays."""
    found = moved("def f(a):\n    return a\n", "ä = 1\nx = 'ä' + ä * sum(i + ä for i in ä)\n")
    assert found == "'ä' + a * sum((i + a for i in a))"
    assert moved("def f(a):\n    return 1\n", "y = 1\nx = f'{y}' + y\n") == "f'{a}' + a"
    many = {moved("def f(a, b):\n    c = 1\n    return c\n", "y = z = 1\nx = y + z + y\n", seed) for seed in range(60)}
    assert many == {f"{p} + {q} + {p}" for p in "abc" for q in "abc"}


def test_what_cannot_mean_anything_is_no_transplant() -> None:
    """No value is there, or no function of so many arguments."""
    assert moved("def f():\n    return 1\n", "y = 1\nx = y\n") is None
    assert moved("def f(a):\n    return 1\n", "x = g(1, 2, 3)\n") is None


def test_a_function_of_the_donor_becomes_one_that_is_there() -> None:
    """Of as many arguments."""
    assert moved("def h(x): return x\ny = h(1)\ndef f(a):\n    return a\n", "def g(x): return x\nx = g(7)\n") in (
        "h(7)",
        "abs(7)",
    )
