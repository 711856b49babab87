"""Edits of values."""

import pytest
from mutation_fakes import results

from evolve.operators.mutations import expressions


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
    assert ends(results(expressions.another_operator, f"a = b = 1\nx = {text}\n"), "a = b = 1\nx = ") == expected


def test_another_operator_keeps_what_belongs_together_and_the_comments() -> None:
    """Parentheses come where the new operator is stronger or weaker."""
    text = "a = b = c = 1\nx = (a + b  # why\n     * c)\n"
    found = ends(results(expressions.another_operator, text), "a = b = c = 1\nx = ")
    assert {"(a * (b  # why\n     * c))", "(a + (b  # why\n     - c))", "(a - b  # why\n     * c)"} <= found


def test_an_augmented_operator() -> None:
    """Its target stays."""
    found = results(expressions.another_augmented_operator, "x = 1\nx += 2\n")
    assert ends(found, "x = 1\nx ") == {"-= 2", "*= 2", "/= 2"}


def test_a_constant_becomes_another_of_its_type() -> None:
    """Near it, of other size, from elsewhere; an int stays one, a float too, a truth value too."""
    assert ends(results(expressions.another_constant, "x = 5\n", "y = 9\nz = 'a'\n"), "x = ") == {
        "6",
        "4",
        "10",
        "2",
        "0",
        "1",
        "9",
    }
    assert ends(results(expressions.another_constant, "x = 5.0\n"), "x = ") == {
        "6.0",
        "4.0",
        "10.0",
        "2.5",
        "0.0",
        "1.0",
    }
    assert ends(results(expressions.another_constant, "x = True\n"), "x = ") == {"False"}
    assert ends(results(expressions.another_constant, "x = 'a'\n", "y = 'b'\n"), "x = ") == {"'b'"}
    assert "x = y ** (-1)" not in results(expressions.another_constant, "y = 0\nx = y ** 0\n")
    assert results(expressions.another_constant, "x = None, b'a', ..., 'a'\n") == set()


def test_a_name_becomes_another_value_that_is_bound_there() -> None:
    """No function, no module, nothing that comes later."""
    text = "import math\na = 1\nb = 2\ndef f(c):\n    d = c\n    return abs(d)\ne = a\n"
    found = results(expressions.another_name, text)
    assert {text.replace("d = c", f"d = {name}") for name in "abe"} <= found
    assert {text.replace("abs(d)", f"abs({name})") for name in "abce"} <= found
    assert {text.replace("e = a", "e = b")} <= found
    assert len(found) == 8


def test_a_call_is_of_another_known_function_of_as_many_arguments() -> None:
    """Of the file, of its imports, of a donor; numbers stay numbers."""
    text = "from math import sin\nx = sin(1)\ny = list([1])\n"
    found = results(expressions.another_function, text, "from math import cos\nz = tuple([2])\nq = cos(2)\n")
    assert found == {text.replace("sin(1)", "abs(1)"), text.replace("list(", "tuple(")}
    math = ends(results(expressions.another_function, "import math as m\nx = m.sin(1)\n"), "import math as m\nx = ")
    assert {"m.cos(1)", "m.sqrt(1)", "abs(1)"} <= math


def test_a_function_never_comes_to_call_itself() -> None:
    """It would hardly ever end well."""
    found = results(expressions.another_function, "def f(x):\n    return abs(x)\nf(1)\ndef g(x):\n    return x\ng(2)\n")
    assert {text.split("\n")[1] for text in found} == {"    return abs(x)", "    return g(x)"}


def test_operands_and_arguments_change_places() -> None:
    """With the parentheses that they need there."""
    head = "a = b = c = 1\nx = "
    assert ends(results(expressions.swapped_operands, f"{head}a - (b + c)\n"), head) == {"b + c - a", "a - (c + b)"}
    assert ends(results(expressions.swapped_operands, f"{head}a - b - c\n"), head) == {"c - (a - b)", "b - a - c"}
    assert ends(results(expressions.swapped_operands, f"{head}max(a, b, c)\n"), head) == {"max(b, a, c)"}
    assert results(expressions.swapped_operands, f"{head}a + a\n") == set()


def test_a_value_is_extended_by_another() -> None:
    """On either side, with the parentheses that it needs."""
    head = "def f(a, b):\n    return "
    found = ends(results(expressions.extended, f"{head}a ** 2\n", tries=800), head)
    assert {"a ** 2 + b", "b - a ** 2", "(a + b) ** 2", "a ** (b * 2)"} <= found


def test_a_value_is_wrapped() -> None:
    """In a minus, or in functions that are known."""
    head = "from math import sin\ndef f(a):\n    return "
    found = ends(results(expressions.wrapped, f"{head}-a\n", tries=400), head)
    assert {"-sin(a)", "sin(-a)", "abs(-a)", "--a", "min(-a, a)", "-max(a, 0.5)"} <= found


def test_a_value_becomes_another_of_the_file_or_of_a_donor() -> None:
    """Names that are not bound here become names that are."""
    found = ends(
        results(expressions.substituted, "def f(x):\n    return 2.0 * x\n", "def f(y):\n    return y - 7.0\n"),
        "def f(x):\n    return ",
    )
    assert {"x - 7.0", "7.0 * x", "2.0 * (x - 7.0)", "2.0 * 2.0"} <= found
    assert not any("y" in text for text in found)


def test_a_value_becomes_one_of_its_parts() -> None:
    """An operand, an argument, a branch."""
    head = "a = b = 1\nx = "
    assert ends(results(expressions.reduced, f"{head}(a + b) * abs(a)\n"), head) == {
        "a + b",
        "abs(a)",
        "a * abs(a)",
        "b * abs(a)",
        "(a + b) * a",
    }
    assert ends(results(expressions.reduced, f"{head}a if b else -a\n"), head) == {"a", "-a", "a if b else a"}
