"""Edits of conditions."""

import pytest
from mutation_fakes import material, results

from evolve.operators.mutations import Find, conditions

HEAD = "def f(a, b):\n    if "


def becomes(find: Find, test: str, *donors: str) -> set[str]:
    """What becomes of the condition of an `if`."""
    found = results(find, f"{HEAD}{test}:\n        pass\n", *donors)
    return {text.removeprefix(HEAD).removesuffix(":\n        pass\n") for text in found}


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("a < b", {"a >= b"}),
        ("a", {"not a"}),
        ("not a", {"a", "not not a"}),
        ("a in b", {"not a in b"}),
        ("a < b < 1", {"not a < b < 1"}),
        ("a or b", {"not (a or b)", "not a or b", "a or not b"}),
    ],
)
def test_a_condition_is_negated(test: str, expected: set[str]) -> None:
    """By its comparison, where it is a single one."""
    assert becomes(conditions.negated, test) == expected


def test_a_comparison_becomes_another() -> None:
    """Any of the six."""
    assert becomes(conditions.another_comparison, "a < b") == {f"a {sign} b" for sign in ("<=", ">", ">=", "==", "!=")}
    assert becomes(conditions.another_comparison, "a is b") == set()


def test_a_condition_gets_another_part() -> None:
    """From a donor, or a comparison of two values."""
    found = becomes(conditions.conjoined, "a or b", "def f(c):\n    return c == 7\n")
    assert {"(a or b) and a == 7", "a or b and b == 7", "a or b or b == 7", "a and a > b or b"} <= found


def test_a_condition_loses_a_part() -> None:
    """One of them."""
    assert becomes(conditions.disjoined, "a and b and a < 1") == {"a and b", "a and a < 1", "b and a < 1"}
    assert becomes(conditions.disjoined, "not (a or b)") == {"not a", "not b"}


@pytest.mark.parametrize(
    ("find", "expected"),
    [
        (conditions.negated, set()),
        (conditions.another_comparison, {"a < b or a and b > 1"}),
        (conditions.disjoined, {"a <= b", "a and b > 1"}),
    ],
)
def test_the_condition_of_a_while_only_becomes_harder_to_meet(find: Find, expected: set[str]) -> None:
    """A loop that ended ends."""
    head, tail = "def f(a, b):\n    while ", ":\n        a -= 1\n"
    found = results(find, f"{head}a <= b or a and b > 1{tail}")
    assert {text.removeprefix(head).removesuffix(tail) for text in found} == expected


def test_what_a_while_gets_is_joined_by_and() -> None:
    """Never by or."""
    found = results(conditions.conjoined, "def f(a, b):\n    while a:\n        a -= 1\n")
    assert found
    assert all("while a and " in text for text in found)


def test_a_condition_for_a_statement() -> None:
    """Of what is bound before it."""
    made = [material("def f(a, b):\n    c = a\n    return c\n", seed=seed) for seed in range(40)]
    found = {conditions.some_condition(one, one.source.members[1].node) for one in made}
    texts = {one[0] for one in found if one}
    assert {"a < b", "b >= 1"} & texts
    assert "c" not in "".join(texts)
