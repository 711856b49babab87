"""A file's tokens, read in pieces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.tokens import codes, pieces, tokens

PATHS = ("a.py", "a.c", "a.js", "a.rs", "a.lua", "a.md")
QUOTES = ('"', "'", "`", '"""', "'''", 'R"(', ')"', 'R"x(', ')x"', 'r#"', '"#', "\\", '\\"', "\\'", '"#\\\nd"')
COMMENTS = ("#", "//", "/*", "*/", "--", "--[[", "]]")
BRACKETS = ("(", ")", "[", "]", "{", "}")
NUMBERS = ("-", "- 5", "-5", "1e", "1e-5", ".5", "=", ",")
WORDS = ("d", "return ", "for x", "self.x", "B", "é", "\x01", "\ud800")
SPACES = (" ", "\t", "\x0b", "\x1c", "\xa0", "\\\n", "\\\r\n", "\r\n", "\n  \n")
LINES = ("\n", "\nd", "\nf = ", "\n    return -", "\r\ne", "\n-5", '\n"', "\n5")
BITS = st.sampled_from((*QUOTES, *COMMENTS, *BRACKETS, *NUMBERS, *WORDS, *SPACES, *LINES, *LINES))
TEXTS = st.lists(BITS, max_size=40).map("".join)
EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.lists(BITS, max_size=4).map("".join)), max_size=6)
PROGRAM = "".join(
    f"def step_{number}(x, y):\n    total = x * {number} - y\n    return total\n\n\n" for number in range(50)
)


def joined(path: str, text: str) -> tuple[str, bytes]:
    """What the pieces of a file come to."""
    read = pieces(path, text)
    return "\1".join(piece.joined for piece in read if piece.joined), b"".join(piece.codes for piece in read)


@settings(max_examples=300, deadline=None)
@given(TEXTS, EDITS, st.sampled_from(PATHS))
def test_the_pieces_come_to_the_whole_after_any_edits(
    text: str, edits: list[tuple[float, int, str]], path: str
) -> None:
    """Whatever is in a text, and whatever was read before."""
    for share, length, new in [(0.0, 0, ""), *edits]:
        place = int(share * len(text))
        text = text[:place] + new + text[place + length :]
        whole = tokens(path, text)
        assert joined(path, text) == ("\1".join(whole), codes(whole))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", 'x = """one\ndef two\nend"""\nreturn x'),
        ("a.py", 'x = "one # \\\nd" + 1\nreturn x'),
        ("a.py", "x = f(1,\n  a,\n  -2)\nfor x in y:\n  d"),
        ("a.py", "x = 1\n  \n\nd = 2\r\n\r\ne = 3"),
        ("a.py", "# one\n# two\ndef f():\n  return 1\n"),
        ("a.c", "a /* one\nd */ - 1;\nreturn b;"),
        ("a.cc", 'a = R"x(one\nd)" )x";\nreturn b;'),
        ("a.js", "a = `one\nd`;\nreturn b;"),
        ("a.js", "a = `one\nd;\nreturn b;"),
        ("a.rs", 'a = "one\nd";\nreturn b;'),
        ("a.rs", 'a = r#"one"\nd"#;\nreturn b;'),
        ("a.lua", "--[[ one\nd ]] a = 1\nreturn b"),
    ],
)
def test_what_runs_on_over_a_line_end_is_not_cut(path: str, text: str) -> None:
    """Strings, comments, brackets and white space of many lines are read as they are in the whole."""
    whole = tokens(path, text)
    assert joined(path, text) == ("\1".join(whole), codes(whole))


def test_only_the_pieces_of_an_edit_are_read_again() -> None:
    """The others are the very same."""
    before = set(pieces("a.py", PROGRAM))
    after = pieces("a.py", PROGRAM.replace("x * 25 - y", "x * y + 25"))
    assert len(before) > 50
    assert len([piece for piece in after if piece not in before]) == 1


def test_a_string_that_is_never_closed_is_read_about_twice() -> None:
    """Were it tried again at each line, this would not end."""
    (piece,) = pieces("a.js", "x = `" + "\nd" * 50_000)
    assert piece.joined.count("d") == 50_000


def test_numbers_have_one_code_with_or_without_a_sign() -> None:
    """A minus between two operands is none."""
    assert codes(["=", "-", "1.5"]) == codes(["=", ".5"]) == codes(["=", "0"])
    assert codes(["a", "-", "1"]) == codes(["a", "-", "2"]) != codes(["a", "1"])
