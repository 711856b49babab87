"""What makes a `while` end."""

import ast

import pytest

from evolve.operators.mutations.loops import kept_for_their_end


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
    found = kept_for_their_end(list(ast.walk(tree)))
    texts = {ast.unparse(node) for node in found}
    assert set(held) | {"n > 0", "n", "0"} <= texts
    statements = {ast.unparse(node) for node in found if isinstance(node, ast.stmt)}
    assert statements == {text for text in held if text != "x > 1"}


def test_without_a_while_nothing_is_held() -> None:
    """A `for` ends by itself."""
    assert kept_for_their_end(list(ast.walk(ast.parse("for x in y:\n    if x:\n        break\n")))) == frozenset()
