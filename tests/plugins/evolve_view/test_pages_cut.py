"""How much of a long text is kept."""

from evolve_view.documents import cut_line, cut_lines, cut_words


def test_what_is_left_out_is_counted() -> None:
    assert cut_line("abcdef", 4) == "abcd … (2 more characters)"
    assert cut_lines("a\nb\nc\n", 2) == (["a", "b"], 1)
    assert cut_words("x" * 12_005).endswith("x\n… (5 more characters)")


def test_only_a_line_feed_ends_a_line() -> None:
    assert cut_lines("a\x0cb\u2028c\n", 5) == (["a\x0cb\u2028c"], 0)
