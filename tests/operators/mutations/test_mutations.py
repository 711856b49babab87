"""All kinds of edits together."""

import ast

import pytest
from mutation_fakes import results

from evolve.operators.mutations import WEIGHTS, Find

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
def test_odd_code_is_no_obstacle(find: Find) -> None:
    """Generators, `:=`, f-strings, stars, several lines, letters of two bytes: an edit is applied or nothing, and what is in an f-string
    stays."""
    for text in results(find, ODD, "p = [1, 'a']\nq = max(p, key=len)\n", tries=60):
        assert ast.parse(text)
        assert "{x + 1}" in text or 'f"' not in text
