"""Where comments and strings are."""

import re

import pytest

from evolve.lexical import language


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
