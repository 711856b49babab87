"""Which names mean something where."""

import ast
from pathlib import Path

import pytest

from evolve.edits.python_names import Names

ROOT = Path(__file__).parents[2]


def unbound(text: str) -> dict[str, int]:
    """The names that nothing binds, with how often they are read."""
    return dict(Names(ast.parse(text)).unbound())


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\nprint(x, __name__)",
        "def f(a, *b, c=1, **d):\n    return a, b, c, d, f, g\ndef g(): pass",
        "import os.path, math as m\nfrom a import b as c\nos, m, c",
        "for i, (j, k) in []:\n    i, j, k",
        "with open('a') as f, f as (g, h):\n    f, g, h",
        "try:\n    pass\nexcept OSError as error:\n    error",
        "match 1:\n    case [x, *y, {'a': z, **w}] as v if x:\n        x, y, z, w, v",
        "[(x, y) for x in [1] if x for y in [x] if y]",
        "{x: y for x, y in []}",
        "def f(rows):\n    return [n for r in rows if (n := r)]",
        "f = lambda a, b=1: a + b",
        "def f():\n    global x\n    x = 1\ndef g():\n    return x",
        "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n        return n\n    return g",
        "class A:\n    x = 1\n    y = x\n    def f(self):\n        return A, self",
        "def f(x: int = 1) -> 'f':\n    later()\ndef later(): pass",
        "from a import *\nanything()",
        "if (m := 1):\n    m",
    ],
)
def test_programs_that_work_have_no_unbound_names(text: str) -> None:
    """Whatever binds a name in Python."""
    assert unbound(text) == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x", {"x": 1}),
        ("x\nx = 1", {"x": 1}),
        ("x += 1", {"x": 1}),
        ("def f():\n    y = x\n    x = 1\nx = 2", {"x": 1}),
        ("def f():\n    g\ndef h():\n    g = 1", {"g": 1}),
        ("class A:\n    x = 1\n    def f(self):\n        return x", {"x": 1}),
        ("[x for x in x]", {"x": 1}),
        ("[y for x in []]\nx", {"y": 1, "x": 1}),
        ("f'{x}{x}'", {"x": 2}),
        ("x: int\nfor a[i] in []: pass", {"a": 1, "i": 1}),
    ],
)
def test_a_name_that_is_read_too_early_or_elsewhere_is_unbound(text: str, names: dict[str, int]) -> None:
    """As Python would find when it runs."""
    assert unbound(text) == names


def test_the_engine_itself_has_no_unbound_names() -> None:
    """Real files, with all that they use of the language."""
    found = {path.name: unbound(path.read_text("utf-8")) for path in sorted((ROOT / "evolve").rglob("*.py"))}
    assert {name: names for name, names in found.items() if names} == {}


def test_names_that_are_visible_come_in_alphabetical_order_with_what_they_are() -> None:
    """A local name hides a global one."""
    tree = ast.parse("import math\nz = 1\ndef f(b, a):\n    z = a\n    c = b\n    d = 1\nclass K: pass")
    names = Names(tree)
    function = tree.body[2]
    assert isinstance(function, ast.FunctionDef)
    place = function.body[2]
    found = names.visible(names.scopes[place], (place.lineno, place.col_offset))
    assert [(name, binding.kind) for name, binding in found.items()] == [
        ("K", "class"),
        ("a", "value"),
        ("b", "value"),
        ("c", "value"),
        ("f", "function"),
        ("math", "module"),
        ("z", "value"),
    ]
