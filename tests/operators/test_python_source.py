"""Python texts as trees, changes of their bytes, and expressions in the place of others."""

import ast

import pytest

from evolve.operators.python_source import (
    Edit,
    Extent,
    Replacement,
    Source,
    apply_edit,
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
    return [found.text_of(found.extent(site)) for site in found.sites]


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
    names = [site for site in found.sites if isinstance(site, ast.Name)]
    assert [found.text_of(found.extent(name)) for name in names] == [name.id for name in names]
    assert len(names) == 8


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
    found = [(member.index, len(member.suite)) for member in source(text).members]
    assert found == [(0, 3), (1, 3), (2, 3), *[(0, 1)] * 6]


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
        ("x = (", r"a\.py is no Python that parses: line 1: '\(' was never closed\. Try: "),
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
    "(a, b)",
    "f(a)",
    "a.b",
    "a[0]",
    "[a]",
    "1",
    "'t'",
    "(x for x in a)",
    "(x := 1)",
]
PLACES = [
    *("x = HERE", "x = (HERE)", "f(HERE)", "f((HERE))", "f(HERE, 1)", "f(*HERE)", "f(k=HERE)", "f(HERE for x in y)", "f(x for x in HERE)"),
    *("HERE + 1", "1 - HERE", "HERE ** 2", "2 ** HERE", "-HERE", "not HERE", "HERE < 1", "HERE and c", "c or HERE", "HERE.b"),
    *("HERE[0]", "a[HERE]", "a[HERE:1]", "[HERE, 1]", "{HERE: 1}", "x = HERE, 2", "1 if HERE else 2", "HERE if 1 else 2"),
    *("[x for x in HERE]", "[x for x in y if HERE]", "lambda: HERE", "def f(x=HERE): pass", "with HERE as x: pass", "if HERE: pass"),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_an_expression_is_at_its_new_place_what_it_was_alone(part: str) -> None:
    """Any at any place: the tree around it decides on the parentheses."""
    new = ast.parse(part, mode="eval").body
    for place in PLACES:
        found = source(place)
        site = next(site for site in found.sites if isinstance(site, ast.Name) and site.id == "HERE")
        edit = found.replace(site, new)
        assert edit is not None
        text = apply_edit(found, edit)
        assert text is not None
        assert ast.dump(ast.parse(text)) == found.shape.replace(ast.dump(site), ast.dump(new)), (place, text)


def test_all_around_an_expression_keeps_its_layout() -> None:
    """Its statement, the other arguments and the comments, but for those within what needs its parentheses."""
    found = source("x = f(a+b,  # why\n      [c  ,\n d*2]) # end\n")
    site = next(site for site in found.sites if isinstance(site, ast.Name) and site.id == "d")
    edit = found.replace(site, ast.Name("y"))
    assert edit == Edit((Replacement(Extent(31, 34), "y * 2"),), "d became y")
    assert apply_edit(found, edit) == "x = f(a+b,  # why\n      [c  ,\n y * 2]) # end\n"
