"""What is kept of a candidate's output."""

import pytest

from evolve.sandbox.output import Tail, readable


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
    ],
)
def test_only_what_can_be_read_is_shown(text: str, shown: str) -> None:
    """Terminal sequences, control characters and direction marks go; letters, lines and tabs stay."""
    assert readable(text) == shown


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
