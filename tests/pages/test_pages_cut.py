"""How much of a long text is kept."""

from evolve.pages import cut


def test_what_is_left_out_is_counted() -> None:
    assert cut.line("abcdef", 4) == "abcd … (2 more characters)"
    assert cut.lines("a\nb\nc\n", 2) == (["a", "b"], 1)
    assert cut.words("x" * 12_005).endswith("x\n… (5 more characters)")


def test_only_a_line_feed_ends_a_line() -> None:
    assert cut.lines("a\x0cb\u2028c\n", 5) == (["a\x0cb\u2028c"], 0)
