"""Single edits of values and statements, what they are made of, and all kinds of edits on odd code."""

import ast

import numpy as np
import pytest

from evolve.operators import mutations
from evolve.operators.mutations import WEIGHTS, Material, Mutation, find_loop_ends, is_small, is_value, may_be_number
from evolve.operators.python_source import Source, apply_edit, read


def source(text: str) -> Source:
    """A file of which all may change."""
    return read(text, "a.py", ((0, len(text)),))


def material(text: str, *donors: str, seed: int = 0, kept: frozenset[str] = frozenset()) -> Material:
    """A file, and others that something may be taken from."""
    return Material(source(text), [source(donor) for donor in donors], kept, np.random.default_rng(seed))


def results(find: Mutation, text: str, *donors: str, tries: int = 120, kept: frozenset[str] = frozenset()) -> set[str]:
    """What one kind of edit makes of a text, over so many throws of the dice."""
    found = set()
    for seed in range(tries):
        made = material(text, *donors, seed=seed, kept=kept)
        edit = find(made)
        found.add(apply_edit(made.source, edit) if edit else None)
    return {one for one in found if one is not None}


def ends(found: set[str], head: str) -> set[str]:
    """What follows a common beginning, which all of them have."""
    assert all(text.startswith(head) for text in found)
    return {text.removeprefix(head).rstrip("\n") for text in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", {"a - b", "a * b", "a / b"}),
        ("a % b", {"a + b", "a - b", "a * b", "a / b"}),
        ("a + b * c", {"a - b * c", "a * (b * c)", "a / (b * c)", "a + (b + c)", "a + (b - c)", "a + b / c"}),
        ("a & b", set()),
        ("a @ b", set()),
    ],
)
def test_an_operator_becomes_another_of_the_four(text: str, expected: set[str]) -> None:
    """With parentheses where the new one is stronger or weaker; those on bits and matrices stay."""
    assert ends(results(mutations.change_operator, f"a = b = c = 1\nx = {text}\n"), "a = b = c = 1\nx = ") == expected


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
    """Its names become names that mean something; a call of a function that is not there is not taken."""
    donor = "def double(x):\n    x = double(x)\n    return x\n\n\ndef f(z):\n    z += abs(z)\n    return z\n"
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


@pytest.mark.parametrize("text", ["a", "f(x)", "a + b", "-a", "1", "1j", "a[0]"])
def test_numbers_are_told_by_their_form(text: str) -> None:
    """A name, a call or an item may be anything."""
    assert may_be_number(expression(text))


@pytest.mark.parametrize(
    "text", ["True", "'t'", "b'x'", "None", "not a", "a < b", "[a]", "{a: b}", "f'{a}'", "lambda: 1"]
)
def test_other_data_are_told_by_their_form(text: str) -> None:
    """Truth values, texts, containers and functions."""
    assert not may_be_number(expression(text))


def test_only_small_code_is_put_elsewhere() -> None:
    """Up to 40 nodes."""
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
