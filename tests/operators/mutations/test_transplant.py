"""Code at another place."""

import ast

from mutation_fakes import material

from evolve.operators.mutations.transplant import Transplant, place_of, transplanted
from evolve.syntax import Extent


def moved(text: str, donor: str, seed: int = 0) -> Transplant | None:
    """The value of the donor's last assignment, at the last `return` of the text."""
    made = material(text, donor, seed=seed)
    value = [node for node in ast.walk(made.donors[0].tree) if isinstance(node, ast.Assign)][-1].value
    place = [node for node in ast.walk(made.source.tree) if isinstance(node, ast.Return)][-1]
    return transplanted(made, made.donors[0], value, place_of(made.source, place))


def test_names_that_mean_something_stay() -> None:
    """Builtins, and what is bound at the place."""
    assert moved("def f(a):\n    return a\n", "a = 1\nx = max(a, 1)\n") == Transplant("max(a, 1)")


def test_other_names_become_names_that_do() -> None:
    """The same one for the same one, in bytes; what the code binds itself stays."""
    found = moved("def f(a):\n    return a\n", "ä = 1\nx = 'ä' + ä * sum(i + ä for i in ä)\n")
    assert found == Transplant("'ä' + a * sum(i + a for i in a)")
    many = {moved("def f(a, b):\n    c = 1\n    return c\n", "y = z = 1\nx = y + z + y\n", seed) for seed in range(60)}
    assert {one.text for one in many if one} == {f"{p} + {q} + {p}" for p in "abc" for q in "abc"}


def test_what_cannot_mean_anything_is_no_transplant() -> None:
    """No value is there, no function of so many arguments, or the name is in an f-string."""
    assert moved("def f():\n    return 1\n", "y = 1\nx = y\n") is None
    assert moved("def f(a):\n    return 1\n", "x = g(1, 2, 3)\n") is None
    assert moved("def f(a):\n    return 1\n", "y = 1\nx = f'{y}' + y\n") is None


def test_a_function_of_the_donor_comes_along_with_those_that_it_calls() -> None:
    """Before the statement of the module, unless the file has that name."""
    donor = "def g(x):\n    return h(x) + g(x)\ndef h(x):\n    return x\nx = g(1)\n"
    text = "import math\n\n\ndef f(a):\n    return a\n"
    found = moved(text, donor)
    assert found is not None
    assert found.text == "g(1)"
    assert [change.extent.start for change in found.brought] == [text.index("def f")] * 2
    assert [change.text[:9] for change in found.brought] == ["def h(x):", "def g(x):"]
    assert moved("def f(a):\n    return a\ng = 1\n", donor) == Transplant("g(1)")


def test_no_function_comes_where_none_may_be_written() -> None:
    """The blocks are inside a function, say."""
    made = material("def f(a):\n    return abs(a)\n", "def g(x):\n    return x\ny = g(1)\n")
    made.source.regions = (Extent(13, 30),)
    value = [node for node in ast.walk(made.donors[0].tree) if isinstance(node, ast.Assign)][-1].value
    found = transplanted(made, made.donors[0], value, place_of(made.source, made.source.members[1].node))
    assert found is None
