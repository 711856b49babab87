"""Somebody else's words in LaTeX, BibTeX and Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.publish.paper.escaping import bibtex, fenced, latex


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50 % & more_or #1", r"50 \% \& more\_or \#1"),
        ("\\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("a\n\n\\\\b^^5c", r"a \textbackslash{}\textbackslash{}b\textasciicircum{}\textasciicircum{}5c"),
        ("$x$ ~ <y>", r"\$x\$ \textasciitilde{} \textless{}y\textgreater{}"),
        ("Erdős, 中", "Erdős, [U+4E2D]".replace("ő", "ő")),
        ("[2pt] *", "{[}2pt{]} {*}"),
        ('"q"\x1b[2J\u202e', "''q''"),
    ],
)
def test_latex_shows_what_it_would_obey(text: str, expected: str) -> None:
    """A bracket at the beginning of a row is none of its options."""
    assert latex(text) == expected


@given(st.text())
def test_latex_of_any_text_is_one_line_with_balanced_braces(text: str) -> None:
    """So that it stays within its cell."""
    for escaped in (latex(text), bibtex(text)):
        assert "\n" not in escaped
        bare = re.sub(r"\\[{}]", "", escaped)
        assert bare.count("{") == bare.count("}")


@given(st.text())
def test_braces_of_bibtex_are_balanced_as_it_counts_them(text: str) -> None:
    """It counts those behind a backslash, too."""
    depth = 0
    for letter in bibtex(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0


@given(st.text(alphabet="`a\n"))
def test_no_line_of_a_block_ends_it(text: str) -> None:
    """Its fence is longer than any in it."""
    lines = fenced(text).splitlines()
    assert set(lines[0]) == {"`"}
    assert lines[-1] == lines[0]
    assert lines[0] not in [line.strip() for line in lines[1:-1]]


def test_a_block_holds_nothing_that_a_terminal_obeys() -> None:
    """Nor what nobody sees."""
    assert fenced("a\x1b[2Jb\u202ec") == "```\nabc\n```\n"
