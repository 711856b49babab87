"""Words of code by what they are."""

import pytest

from evolve.pages.colours import coloured
from tests.pages.told import HOSTILE


@pytest.mark.parametrize(
    ("path", "text", "pieces"),
    [
        ("a.py", "if x == 1.5:  # why", [("keyword", "if"), ("number", "1.5"), ("comment", "# why")]),
        ("a.c", "int x = 0x1f; // why", [("keyword", "int"), ("number", "0x1f"), ("comment", "// why")]),
        ("a.py", "x = 'a # b'", [("string", "'a # b'")]),
        ("a.rs", 'let s = r#"a"b"#;', [("keyword", "let"), ("string", 'r#"a"b"#')]),
    ],
)
def test_words_have_their_kinds(path, text, pieces) -> None:
    assert [piece for piece in coloured(text, path)[0] if piece[0]] == pieces


@pytest.mark.parametrize("text", [*HOSTILE, '"""never\nended', "a\n\nb\n", ""])
def test_all_pieces_together_are_the_text(text) -> None:
    lines = coloured(text, "a.py")
    assert "\n".join("".join(piece for _, piece in line) for line in lines) == text


def test_a_string_of_several_lines_is_one_on_each() -> None:
    assert coloured('"""a\nb"""', "a.py") == [[("string", '"""a')], [("string", 'b"""')]]
