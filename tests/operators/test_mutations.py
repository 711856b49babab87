"""Single edits of values, conditions and statements, and all kinds of edits on odd code."""

import ast

import pytest
from mutation_fakes import results

from evolve.operators import mutations
from evolve.operators.mutations import WEIGHTS, Mutation


def ends(found: set[str], head: str) -> set[str]:
    """What follows a common beginning, which all of them have."""
    assert all(text.startswith(head) for text in found)
    return {text.removeprefix(head).rstrip("\n") for text in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", {"a - b", "a * b", "a / b"}),
        ("a % b", {"a + b", "a - b", "a * b", "a / b"}),
        ("a & b", {"a | b", "a ^ b"}),
        ("a << b", {"a >> b"}),
        ("a @ b", set()),
    ],
)
def test_an_operator_becomes_another_of_its_kind(text: str, expected: set[str]) -> None:
    """The four, and those that the file uses."""
    assert ends(results(mutations.change_operator, f"a = b = 1\nx = {text}\n"), "a = b = 1\nx = ") == expected


def test_another_operator_keeps_what_belongs_together() -> None:
    """Parentheses come where the new operator is stronger or weaker."""
    text = "a = b = c = 1\nx = a + b * c\n"
    found = ends(results(mutations.change_operator, text), "a = b = c = 1\nx = ")
    assert {"a * (b * c)", "a + (b - c)", "a - b * c"} <= found


def test_a_constant_becomes_another_of_its_type() -> None:
    """Near it, of other size, from elsewhere; an int stays one, a float too, a truth value too."""
    assert ends(results(mutations.change_constant, "x = 5\n", "y = 9\nz = 'a'\n"), "x = ") == {
        "6",
        "4",
        "10",
        "2",
        "0",
        "1",
        "9",
    }
    assert ends(results(mutations.change_constant, "x = 5.0\n"), "x = ") == {
        "6.0",
        "4.0",
        "10.0",
        "2.5",
        "0.0",
        "1.0",
    }
    assert ends(results(mutations.change_constant, "x = True\n"), "x = ") == {"False"}
    assert ends(results(mutations.change_constant, "x = 'a'\n", "y = 'b'\n"), "x = ") == {"'b'"}
    assert "x = y ** -1" not in results(mutations.change_constant, "y = 0\nx = y ** 0\n")
    assert results(mutations.change_constant, "x = None, b'a', ..., 'a'\n") == set()


def test_operands_and_arguments_change_places() -> None:
    """With the parentheses that they need there."""
    head = "a = b = c = 1\nx = "
    assert ends(results(mutations.swap_operands, f"{head}a - (b + c)\n"), head) == {"b + c - a", "a - (c + b)"}
    assert ends(results(mutations.swap_operands, f"{head}a - b - c\n"), head) == {"c - (a - b)", "b - a - c"}
    assert ends(results(mutations.swap_operands, f"{head}max(a, b, c)\n"), head) == {"max(b, a, c)"}
    assert results(mutations.swap_operands, f"{head}a + a\n") == set()


def test_a_value_is_extended_by_another() -> None:
    """On either side, with the parentheses that it needs."""
    head = "def f(a, b):\n    return "
    found = ends(results(mutations.extend_expression, f"{head}a ** 2\n", tries=800), head)
    assert {"a ** 2 + b", "b - a ** 2", "(a + b) ** 2", "a ** (b * 2)"} <= found


def test_a_value_is_wrapped() -> None:
    """In a minus, or in functions that are known."""
    head = "from math import sin\ndef f(a):\n    return "
    found = ends(results(mutations.wrap_expression, f"{head}-a\n", tries=400), head)
    assert {"-sin(a)", "sin(-a)", "abs(-a)", "--a", "min(-a, a)", "-max(a, 0.5)"} <= found


HEAD = "def f(a, b):\n    if "


def becomes(find: Mutation, test: str, *donors: str) -> set[str]:
    """What becomes of the condition of an `if`."""
    found = results(find, f"{HEAD}{test}:\n        pass\n", *donors)
    return {text.removeprefix(HEAD).removesuffix(":\n        pass\n") for text in found}


def test_a_condition_gets_another_part() -> None:
    """From a donor, or a comparison of two values."""
    found = becomes(mutations.join_conditions, "a or b", "def f(c):\n    return c == 7\n")
    assert {"(a or b) and a == 7", "(a or b) and b == 7", "(a or b) or b == 7", "(a or b) and a > b"} <= found


def test_what_a_while_gets_is_joined_by_and() -> None:
    """Never by or."""
    found = results(mutations.join_conditions, "def f(a, b):\n    while a:\n        a -= 1\n")
    assert found
    assert all("while a and " in text for text in found)


TEXT = """def f(a):
    \"\"\"What it does.\"\"\"
    # the first
    b = a  # one
    # the second
    if b:
        b += 1
    return b
"""


def test_a_statement_goes_with_its_line() -> None:
    """What is above it stays; the result, the docstring and imports stay; an only one becomes `pass`."""
    assert results(mutations.delete_statement, TEXT, kept=frozenset("f")) == {
        TEXT.replace("    b = a  # one\n", ""),
        TEXT.replace("    if b:\n        b += 1\n", ""),
        TEXT.replace("b += 1", "pass"),
    }
    assert results(mutations.delete_statement, "import a\nx = 1; y = 2\n") == set()


def test_a_function_goes_only_if_the_world_does_not_know_it() -> None:
    """And a method never."""
    text = "def f():\n    return 1\ndef g():\n    return 2\nclass A:\n    def h(self):\n        return 3\n"
    found = results(mutations.delete_statement, text, kept=frozenset({"f", "A"}))
    assert found == {text.replace("def g():\n    return 2\n", "")}


def test_a_statement_stands_twice() -> None:
    """Also at the end of a text without a line end."""
    assert results(mutations.repeat_statement, "x = 1\nx += 1") == {"x = 1\nx = 1\nx += 1", "x = 1\nx += 1\nx += 1"}


def test_neighbours_change_places_and_what_is_between_them_stays() -> None:
    """A comment, for instance."""
    text = "x = 1\n# between\ny = (2,\n     3)  # two\n"
    assert results(mutations.swap_neighbours, text) == {"y = (2,\n     3)  # two\n# between\nx = 1\n"}


def test_a_statement_comes_from_a_donor() -> None:
    """Its names become names that mean something."""
    donor = "def double(x):\n    return 2 * x\n\n\ndef f(z):\n    z += double(z)\n    return z\n"
    text = "def f(a):\n    return a\n"
    assert results(mutations.insert_statement, text, donor) == {"def f(a):\n    a += abs(a)\n    return a\n"}


ODD = """x = sum(a for a in [1])
y = (yield_ := 3)
z = f"{x + 1}" "b"
print((x), *[y], **{})
w = [x
     + y]
v = lambda q: q + 1
u = x if y else -x
t = x[1:y], "ä" * x
"""


@pytest.mark.parametrize("find", list(WEIGHTS), ids=lambda find: find.__name__)
def test_odd_code_is_no_obstacle(find: Mutation) -> None:
    """Generators, `:=`, f-strings, stars, several lines, letters of two bytes: an edit is apply_edit or nothing, and what is in an f-string
    stays."""
    for text in results(find, ODD, "p = [1, 'a']\nq = max(p, key=len)\n", tries=60):
        assert ast.parse(text)
        assert "{x + 1}" in text or 'f"' not in text
