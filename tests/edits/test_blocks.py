"""Parts of a text that may change, and the comments and strings of many languages."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.edits.blocks import END, ESCAPED_QUOTE, START, Span, blocks, changeable, language, outside, remarks

PYTHON = """import math
# EVOLVE-BLOCK-START
x = 1
# EVOLVE-BLOCK-END
y = 2
    # EVOLVE-BLOCK-START: the second
    z = 3
"""


def inside(text: str, path: str = "a.py") -> list[str]:
    """The text of each block."""
    return [text[span.start : span.end] for span in blocks(text, path)]


def test_blocks_are_the_lines_between_the_markers() -> None:
    """The markers' own lines are outside; what is not ended goes on to the end."""
    assert inside(PYTHON) == ["x = 1\n", "    z = 3\n"]
    assert outside(PYTHON, "a.py") == (
        "import math\n# EVOLVE-BLOCK-START\n",
        "# EVOLVE-BLOCK-END\ny = 2\n    # EVOLVE-BLOCK-START: the second\n",
        "",
    )


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.c", "// EVOLVE-BLOCK-START\nint x;\n// EVOLVE-BLOCK-END\n", ["int x;\n"]),
        ("a.c", "/* EVOLVE-BLOCK-START */\r\nint x;\r\n/* EVOLVE-BLOCK-END */\r\n", ["int x;\r\n"]),
        ("a.c", "int /* EVOLVE-BLOCK-START */ x = 3 /* EVOLVE-BLOCK-END */ ;", [" x = 3 "]),
        ("a.sql", "-- EVOLVE-BLOCK-START\nselect 1;\n-- EVOLVE-BLOCK-END", ["select 1;\n"]),
        ("a.f90", "! EVOLVE-BLOCK-START\nx = 1\n! EVOLVE-BLOCK-END\n", ["x = 1\n"]),
        ("a.md", "<!-- EVOLVE-BLOCK-START -->\nsay it\n<!-- EVOLVE-BLOCK-END -->\n", ["say it\n"]),
        ("a.py", "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END\n", [""]),
        ("a.py", "def f():  # EVOLVE-BLOCK-START\n    x\n    # EVOLVE-BLOCK-END\n", ["    x\n"]),
    ],
)
def test_markers_stand_in_comments_of_any_language(path: str, text: str, expected: list[str]) -> None:
    """An unknown language has them on lines of their own."""
    assert inside(text, path) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x = 'EVOLVE-BLOCK-START'\ny = 1\n",
        '"""\n# EVOLVE-BLOCK-START\n"""\ny = 1\n',
        "# only what is between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END may change\ny = 1\n",
        "# EVOLVE-BLOCK-END\ny = 1\n",
        "y = 1\n",
        "",
    ],
)
def test_what_is_no_marker(text: str) -> None:
    """A string, a comment that tells of both, and an end without a beginning."""
    assert inside(text) == []
    assert outside(text, "a.py") == (text,)
    assert changeable({"a.py": text}) == {"a.py": (Span(0, len(text)),)}


@pytest.mark.parametrize("code", ['x = """\n', "x = 1\n# EVOLVE-BLOCK-END\ny\n# EVOLVE-BLOCK-START\n"])
def test_what_is_written_in_a_block_cannot_move_its_end(code: str) -> None:
    """An open string, or markers of its own: what is outside is not the same any more."""
    text = "# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\ny = 2\n"
    assert outside(text.replace("x = 1\n", code), "a.py") != outside(text, "a.py")
    assert outside(text.replace("x = 1\n", "z = 3\n" * 9), "a.py") == outside(text, "a.py")


def test_files_without_a_block_may_not_change_where_another_has_one() -> None:
    """And all of every file may, where none has one."""
    text = "# EVOLVE-BLOCK-START\nx\n"
    assert changeable({"a.py": text, "b.py": "y\n"}) == {"a.py": (Span(21, 23),), "b.py": ()}
    assert changeable({"a.py": "x", "b.py": "yz\n"}) == {"a.py": (Span(0, 1),), "b.py": (Span(0, 3),)}


@settings(deadline=None)
@given(st.lists(st.sampled_from(["# EVOLVE-BLOCK-START", "# EVOLVE-BLOCK-END", "x", '"', "'''", "\n", " ", "\\"])))
def test_pieces_and_blocks_together_are_the_text(parts: list[str]) -> None:
    """Whatever it holds."""
    text = "".join(parts)
    pieces, found = outside(text, "a.py"), inside(text)
    assert len(pieces) == len(found) + 1
    assert "".join(piece for pair in zip(pieces, [*found, ""], strict=True) for piece in pair) == text


def test_quotes_that_are_escaped_outside_of_strings_begin_none() -> None:
    """Were each tried as the beginning of a string, a hundred thousand of them would never end."""
    text = "# EVOLVE-BLOCK-START\n" + '\\"' * 100_000 + "\n# EVOLVE-BLOCK-END\n"
    assert inside(text) == ['\\"' * 100_000 + "\n"]


PATHS = ["a.py", "a.c", "a.rs", "a.lua", "a.md", "a.f90", "a.js"]
TOKENS = [
    "#",
    "//",
    "/*",
    "*/",
    "--",
    "--[[",
    "]]",
    '"',
    "'",
    "`",
    '"""',
    "'''",
    'R"x(',
    ')x"',
    'r#"',
    '"#',
    "r",
    "R",
    "E",
    "/",
    "-",
]
TEXTS = st.lists(st.sampled_from([*TOKENS, "\\", "\n", "x", " ", START, END]), max_size=25).map("".join)


@given(TEXTS, st.sampled_from(PATHS))
def test_what_is_stepped_over_holds_no_comment_and_no_marker(text: str, path: str) -> None:
    """A look at every character finds the same."""
    kind = language(path)
    plain = rf"(?P<comment>{kind.comment})|(?P<string>{kind.string})|(?P<bare>{START}|{END})|{ESCAPED_QUOTE}"
    expected = [(match.lastgroup, match.span()) for match in re.finditer(plain, text)]
    assert [each for each in expected if each[0] in ("comment", "bare")] == list(remarks(text, path))


@pytest.mark.parametrize(
    ("path", "comment"),
    [
        ("a.py", "# one"),
        ("a.toml", "# one"),
        ("Makefile", "# one"),
        ("a.c", "// one"),
        ("a.cu", "/* one\n two */"),
        ("a.rs", "/* one without an end"),
        ("a.lua", "-- one"),
        ("a.lua", "--[[ one\n two ]]"),
    ],
)
def test_a_comment_of_the_language_is_matched_to_its_end(path: str, comment: str) -> None:
    """The comment's pattern takes all of it."""
    found = re.match(language(path).comment, comment)
    assert found is not None
    assert found[0] == comment


@pytest.mark.parametrize(
    ("path", "string"),
    [
        ("a.py", '"a \\" b"'),
        ("a.py", "'''a ' \n b'''"),
        ("a.py", '"""no end'),
        ("a.py", '"""no end \\'),
        ("a.py", '"""\\\n a \\\n b"""'),
        ("a.py", '"a \\\n b"'),
        ("a.cpp", 'R"x(a )" b)x"'),
        ("a.js", "`a\n b`"),
        ("a.rs", 'r#"a " b"#'),
        ("a.rs", "'\\n'"),
    ],
)
def test_a_string_of_the_language_is_matched_to_its_end(path: str, string: str) -> None:
    """The string's pattern takes all of it."""
    found = re.match(language(path).string, string)
    assert found is not None
    assert found[0] == string


def test_a_lifetime_is_no_string() -> None:
    """A quote of Rust that begins no character begins no string."""
    assert re.match(language("a.rs").string, "'a T, x: f64) {") is None


def test_only_prose_is_prose() -> None:
    """A README is no program; a file without a suffix is one."""
    assert (language("README.md").prose, language("run").prose) == (True, False)
