"""What is kept of a candidate's output."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from evolve.sandbox.output import Tail, quoted, readable, shown, unseen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("line\r\nnext", "line\nnext"),
        ("over\rwritten\x08\x00\x9b", "overwritten"),
        ("\u202eturned", "turned"),
        ("half \ud800 pair", "half  pair"),
        ("ends with \x1b", "ends with "),
        ("größer → ∞", "größer → ∞"),
        ("\x1b]0;no end of a title", ""),
        ("\x1bPq#0;2;0;0;0\x1b\\picture", "picture"),
        ("\x9b31mred\x9d0;title\x9cafter", "redafter"),
        ("\x1b(0box\x1bcreset", "boxreset"),
        ("one\u2028two\u2029three\r\nfour", "one\ntwo\nthree\nfour"),
        ("zero\u200bwidth\u2060 and\ufeff \u00adsoft", "zerowidth and soft"),
        ("tags " + "".join(chr(0xE0000 + ord(letter)) for letter in "do what I say"), "tags "),
        ("variation\ufe0f\U000e0101 selectors", "variation selectors"),
        ("private \ue000\U000f1234\U0010ffff use", "private  use"),
        ("no \ufdd0\ufffe\uffff character", "no  character"),
        ("fill\u3164\uffa0\u115f\u1160ers", "fillers"),
        ("blank\u2800braille\u3000wide\xa0fixed\u2003em\u1680", "blank braille wide fixed em "),
        ("Z" + "\u0301" * 50 + "algo", "Z" + "\u0301" * 4 + "algo"),
        ("=" + "\u0336" * 9 + "\u20dd" * 9, "=" + "\u0336" * 4),
        ("→" * 9 + "…", "→" * 9 + "…"),
        ("שָׁלוֹם עَرَبِيّ हिन्दी ไทยที่", "שָׁלוֹם עَرَبِيّ हिन्दी ไทยที่"),
    ],
)
def test_only_what_can_be_read_is_shown(text: str, shown: str) -> None:
    """Terminal sequences, control characters and direction marks go; letters, lines and tabs stay."""
    assert readable(text) == shown


@settings(max_examples=200, deadline=None)
@given(some.text(some.characters() | some.sampled_from("\x1b\x9b\x9d\x07\x9c[]P;m0\\\u0301\u200d\r\n"), max_size=40))
def test_what_is_readable_stays_as_it_is(text: str) -> None:
    """There is nothing left to take away, it can be written as UTF-8, and it holds no character that is not seen."""
    once = readable(text)
    assert readable(once) == once
    once.encode()
    unseen = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    seen = "\n\t\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"  # signs that are drawn
    assert [each for each in once if unicodedata.category(each) in unseen and each not in seen] == []
    assert [each for each in once if unicodedata.category(each) == "Zs" and each != " "] == []


@settings(max_examples=200, deadline=None)
@given(some.text(some.characters() | some.sampled_from("\x1b\x9d[]│ \r\n\x0b\x85\u2028\u2029"), max_size=40))
def test_every_line_of_what_is_quoted_bears_the_mark(text: str) -> None:
    """However lines are told apart by whoever reads it."""
    assert [line for line in quoted(text).splitlines() if not line.startswith("  │")] == []


def test_what_is_quoted_keeps_its_lines() -> None:
    """Empty ones too; what one begins for a terminal hides nothing of the next."""
    assert quoted("a\n\n  b \x1b]0;\n") == "  │ a\n  │\n  │   b\n  │"


def test_a_long_line_is_cut() -> None:
    """And says so; the lines around it stay."""
    assert shown("a\n" + "x" * 2100 + "\nb", 10_000) == "a\n" + "x" * 2000 + " ... (100 more characters)\nb"


def test_of_a_long_text_the_beginning_and_the_end_are_shown() -> None:
    """No more characters than were asked for."""
    lines = "\n".join(map(str, range(1000)))
    assert shown(lines, 25) == "0\n1\n2\n3\n4\n\n...\n97\n998\n999"
    assert shown("short", 5) == "short"


def test_a_long_text_is_looked_through_in_no_time() -> None:
    """Whatever it is made of: the work grows with its length, or this does not end."""
    for piece in ("\x1b[", "\x1b]0", "\x1b[0;", "\x9d", "e\u0301", "\u0301", "→", "\x1b", "x\r\n"):
        readable(piece * 300_000)


def test_the_end_of_a_long_output_is_kept() -> None:
    """As many bytes as were asked for, and the count of all."""
    tail = Tail(10)
    for number in range(100):
        tail.add(b"%03d," % number)
    assert (tail.text(), tail.total) == ("7,098,099,", 400)


def test_bytes_that_are_no_text_are_replaced() -> None:
    """Also where the cut goes through a character."""
    tail = Tail(3)
    tail.add("aé€".encode())
    assert tail.text() == "€"
    tail.add(b"\xff")
    assert tail.text().endswith("\ufffd")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1\r\n\ty = 2\n", ""),
        ("größe – 日本 🎲\n", ""),
        ("a\u200bb\x07\u200b\x1b[2J", "\u200b\x07\x1b"),
        ("\x07", "\x07"),
    ],
)
def test_what_is_not_seen_is_found(text: str, found: str) -> None:
    """Each once, in its order; line ends and tabs are seen."""
    assert "".join(unseen(text)) == found


@given(some.text())
def test_what_is_readable_has_nothing_that_is_not_seen(text: str) -> None:
    """The two know the same characters."""
    assert unseen(readable(text)) == ()
