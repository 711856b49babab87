"""Python texts as trees, changes of their bytes, and the parentheses that moved code needs."""

import ast

import pytest

from evolve.operators.python_source import (
    Edit,
    Extent,
    Replacement,
    Source,
    apply_edit,
    parenthesize,
    precedence,
    read,
    reindent,
)
from evolve.types import EditError

TEXT = '''"""Größe."""
@cached  # once
def f(x, rows):
    if x: return -1  # short
    größe = "ä" + x  # why
    text = """
    kept
"""
    return [größe, f"{x + 1}", (x * 2), g ((x)), rows[1:x]]
'''


def source(text: str = TEXT) -> Source:
    """All of it may change."""
    return read(text, "a.py", ((0, len(text)),))


def written(text: str) -> list[str]:
    """The texts of all sites."""
    found = source(text)
    return [found.text_of(found.extent(site.node)) for site in found.sites]


def test_sites_are_the_values_in_the_order_of_the_text() -> None:
    """No docstring, target, annotation, decorator, pattern, slice, and nothing inside an f-string."""
    assert written('"""d"""\n@a(b)\ndef f(x: y = z) -> w:\n    v: u = [f"{t}", *s]\n') == [
        "z",
        '[f"{t}", *s]',
        'f"{t}"',
        "s",
    ]
    assert written("match a:\n    case B(c=1) if d:\n        e[f:g].h = i\n") == [
        "a",
        "d",
        "e[f:g]",
        "e",
        "f",
        "g",
        "i",
    ]
    assert written("class A(B, c=D):\n    x = 1\ntry: pass\nexcept E: pass\n") == ["1"]


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), TEXT.replace("\n", "\r")])
def test_places_are_right_behind_letters_of_two_bytes_and_at_any_line_end(text: str) -> None:
    """The text of every name is the name."""
    found = source(text)
    names = [site.node for site in found.sites if isinstance(site.node, ast.Name)]
    assert [found.text_of(found.extent(name)) for name in names] == [name.id for name in names]
    assert len(names) == 8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = (a)", "(a)"),
        ("x = ((a))", "((a))"),
        ("x = f(a)", "a"),
        ("x = f((a))", "(a)"),
        ("x = f (a)", "a"),
        ("x = b and (a)", "(a)"),
        ("x = b and(a)", "a"),
        ("x = (a)if 1 else 2", "a"),
        ("x = [(a), 1]", "(a)"),
        ("x = (a,)", "a"),
        ("x = (\n    a\n)", "a"),
    ],
)
def test_parentheses_that_only_group_belong_to_a_node(text: str, expected: str) -> None:
    """Those of a call do not, nor those that keep two words apart."""
    found = source(text)
    node = next(site.node for site in found.sites if isinstance(site.node, ast.Name) and site.node.id == "a")
    assert found.text_of(found.extent_with_parentheses(node)) == expected


def test_a_statement_has_its_lines_unless_it_shares_one() -> None:
    """Its decorators and the comment behind it are with it."""
    found = source()
    shown = [found.lines(member.node) for member in found.members]
    assert [found.text_of(lines).split("\n")[0] if lines else "" for lines in shown] == [
        '"""Größe."""',
        "@cached  # once",
        "    if x: return -1  # short",
        '    größe = "ä" + x  # why',
        '    text = """',
        '    return [größe, f"{x + 1}", (x * 2), g ((x)), rows[1:x]]',
        "",
    ]


def test_members_know_their_suite() -> None:
    """Every kind of suite."""
    text = "if a:\n  b\nelse:\n  c\ntry:\n  d\nexcept E:\n  f\nfinally:\n  g\nmatch h:\n  case 1:\n    i\n"
    found = [(member.field, member.index, len(member.suite)) for member in source(text).members]
    assert found == [
        ("body", 0, 3),
        ("body", 1, 3),
        ("body", 2, 3),
        ("body", 0, 1),
        ("orelse", 0, 1),
        ("body", 0, 1),
        ("finalbody", 0, 1),
        ("body", 0, 1),
        ("body", 0, 1),
    ]


def test_a_statement_gets_another_indentation_but_not_the_lines_of_its_strings() -> None:
    """Nor a line that is not reindent like it."""
    text = 'if a:\n    x = f("""\n    kept""",\n        1)  # why'
    found = source(text)
    statement = found.members[1].node
    assert reindent(found, statement, "  ") == '  x = f("""\n    kept""",\n      1)  # why\n'


def test_an_edit_replaces_its_extents_and_nothing_else() -> None:
    """In any order; insertions at one place keep theirs."""
    found = source("ä = b + c  # d\n")
    changes = (
        Replacement(Extent(9, 10), "z"),
        Replacement(Extent(5, 5), "("),
        Replacement(Extent(5, 5), "-"),
        Replacement(Extent(5, 6), "y"),
    )
    assert apply_edit(found, Edit(changes, "")) == "ä = (-y + z  # d\n"


@pytest.mark.parametrize(
    "changes",
    [
        (Replacement(Extent(0, 1), "z"),),
        (Replacement(Extent(4, 6), "z"), Replacement(Extent(5, 6), "y")),
        (Replacement(Extent(6, 9), ""),),
    ],
)
def test_an_edit_outside_of_the_regions_or_upon_itself_is_none(changes: tuple[Replacement, ...]) -> None:
    """It is refused, not shortened."""
    assert apply_edit(read("a = b + c\n", "a.py", ((4, 7),)), Edit(changes, "")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (", r"a\.py is no Python that parses: line 1: '\(' was never closed\. Do: "),
        ("return 1", "line 1: 'return' outside function"),
        ("x = '\0'", "null bytes"),
        ("(" * 500 + ")" * 500, "a.py is no Python that parses"),
        ("x" + " + x" * 100_000, "a.py is no Python that parses"),
        ("x = '\ud800'", "a.py is no Python that parses"),
        ("é = §", "invalid character"),
    ],
)
def test_what_is_no_python_is_an_edit_error(text: str, message: str) -> None:
    """Whatever the parser makes of it."""
    with pytest.raises(EditError, match=message):
        source(text)


def test_the_style_of_a_program_is_no_warning() -> None:
    """Warnings are errors in these tests."""
    assert source("x = '\\d'\ny = x is 'a'\n").text == "x = '\\d'\ny = x is 'a'\n"


PARTS = [
    "a",
    "-a",
    "not a",
    "a + b",
    "a * b",
    "a ** b",
    "a < b",
    "a and b",
    "a or b",
    "a if b else c",
    "lambda: a",
    "a, b",
    "(a, b)",
]
PARTS += ["f(a)", "a.b", "a[0]", "[a]", "1", "'t'", "(x for x in a)", "a | b", "a << b", "a @ b", "(a), (b)", "()"]
PLACES = [
    "x = HERE",
    "f(HERE)",
    "HERE + 1",
    "1 - HERE",
    "HERE ** 2",
    "2 ** HERE",
    "-HERE",
    "not HERE",
    "HERE < 1",
    "1 < HERE",
]
PLACES += [
    "HERE and c",
    "c or HERE",
    "HERE.b",
    "HERE[0]",
    "a[HERE]",
    "[HERE, 1]",
    "1 if HERE else 2",
    "HERE if 1 else 2",
]
PLACES += [
    "[x for x in HERE]",
    "[x for x in y if HERE]",
    "{HERE: 1}",
    "f(*HERE)",
    "f(k=HERE)",
    "lambda: HERE",
    "f(HERE for x in y)",
]


def shape_of(part: str, place: str) -> tuple[str, str]:
    """The tree of the place with the part in it, and what it should be: the part as a whole, where the name was."""
    alone = read(f"x = {part}", "a.py", ())
    value = alone.tree.body[0]
    assert isinstance(value, ast.Assign)
    found = read(place, "a.py", ())
    site = next(site for site in found.sites if isinstance(site.node, ast.Name) and site.node.id == "HERE")
    text = parenthesize(part, precedence(alone, value.value), site)
    expected = ast.dump(found.tree).replace(ast.dump(site.node), ast.dump(value.value))
    return ast.dump(ast.parse(place.replace("HERE", text))), expected


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_at_its_place_what_it_was_alone(part: str) -> None:
    """Any part at any place."""
    wrong = [place for place in PLACES if len(set(shape_of(part, place))) > 1]
    assert wrong == []


@pytest.mark.parametrize(
    ("part", "place", "expected"),
    [
        ("a * b", "x = HERE + 1", "a * b"),
        ("a - b", "x = HERE - 1", "a - b"),
        ("a - b", "x = 1 - HERE", "(a - b)"),
        ("a + b", "f(HERE)", "a + b"),
        ("(a, b)", "f(HERE)", "(a, b)"),
        ("a +\n b", "x = HERE", "(a +\n b)"),
        ("f(a,\n b)", "x = HERE", "f(a,\n b)"),
    ],
)
def test_no_parentheses_without_need(part: str, place: str, expected: str) -> None:
    """Several lines need a bracket around them."""
    alone = read(f"x = ({part})", "a.py", ())
    value = alone.tree.body[0]
    assert isinstance(value, ast.Assign)
    site = next(
        site for site in read(place, "a.py", ()).sites if isinstance(site.node, ast.Name) and site.node.id == "HERE"
    )
    assert parenthesize(part, precedence(alone, value.value), site) == expected


def test_the_brackets_of_a_lone_generator_stay() -> None:
    """They are those of the call."""
    found = read("sum(x for x in y)", "a.py", ())
    site = next(site for site in found.sites if isinstance(site.node, ast.GeneratorExp))
    assert parenthesize("z", 15, site) == "(z)"
