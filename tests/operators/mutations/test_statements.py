"""Edits of statements."""

import re

from mutation_fakes import results

from evolve.operators.mutations import statements

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
    assert results(statements.deleted, TEXT, kept=frozenset("f")) == {
        TEXT.replace("    b = a  # one\n", ""),
        TEXT.replace("    if b:\n        b += 1\n", ""),
        TEXT.replace("b += 1", "pass"),
    }
    assert results(statements.deleted, "import a\nx = 1; y = 2\n") == set()


def test_a_function_goes_only_if_the_world_does_not_know_it() -> None:
    """And a method never."""
    text = "def f():\n    return 1\ndef g():\n    return 2\nclass A:\n    def h(self):\n        return 3\n"
    found = results(statements.deleted, text, kept=frozenset({"f", "A"}))
    assert found == {text.replace("def g():\n    return 2\n", "")}


def test_a_statement_stands_twice() -> None:
    """Also at the end of a text without a line end."""
    assert results(statements.doubled, "x = 1\nx += 1") == {"x = 1\nx = 1\nx += 1", "x = 1\nx += 1\nx += 1"}


def test_neighbours_change_places_and_what_is_between_them_stays() -> None:
    """A comment, for instance."""
    text = "x = 1\n# between\ny = (2,\n     3)  # two\n"
    assert results(statements.swapped_neighbours, text) == {"y = (2,\n     3)  # two\n# between\nx = 1\n"}


def test_a_statement_comes_under_a_condition() -> None:
    """Unless a name would then be missed."""
    found = results(statements.into_an_if, TEXT)
    shown = {re.sub(r"if \S+ [<>]=? \S+:", "if CONDITION:", text) for text in found}
    assert shown == {TEXT.replace("        b += 1", "        if CONDITION:\n            b += 1")}


def test_a_statement_goes_into_an_if_beside_it() -> None:
    """At its beginning or its end."""
    text = "def f(a):\n    if a:\n        a += 1\n    a -= 2\n"
    assert results(statements.into_the_next_if, text) == {
        "def f(a):\n    if a:\n        a += 1\n        a -= 2\n",
        "def f(a):\n    if a:\n        a -= 2\n        a += 1\n",
    }


def test_a_body_comes_out_of_its_if() -> None:
    """All of it, or its first statement; an `if` with an `else` stays."""
    text = "if a:\n    x = '''\n    b'''\n    y = 2\n"
    assert results(statements.out_of_an_if, text) == {
        "x = '''\n    b'''\ny = 2\n",
        "x = '''\n    b'''\nif a:\n    y = 2\n",
    }
    assert results(statements.out_of_an_if, "if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3\n") == set()


def test_a_statement_comes_from_a_donor() -> None:
    """Its names become names that mean something, or bring their function along."""
    donor = "def double(x):\n    return 2 * x\n\n\ndef f(z):\n    z += double(z)\n    return z\n"
    text = "def f(a):\n    return a\n"
    helper = "def double(x):\n    return 2 * x\n\n\n"
    assert results(statements.inserted, text, donor) == {f"{helper}def f(a):\n    a += double(a)\n    return a\n"}


def test_an_assignment_gets_the_value_of_another() -> None:
    """That of the same name, where there is one."""
    found = results(
        statements.another_assignment,
        "def f(a):\n    b = a\n    return b\n",
        "def g(q):\n    b = q + 1\n    c = q + 2\n",
    )
    assert found == {
        "def f(a):\n    b = a + 1\n    return b\n",
        *(f"def f(a):\n    b = a\n    return {name} + {number}\n" for name in "ab" for number in "12"),
    }
