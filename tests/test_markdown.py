"""Somebody else's words in a page of Markdown."""

from evolve.markdown import escape, format_code, format_table


def test_the_words_of_others_end_nothing_and_open_nothing():
    hostile = "a | b\n# head <script>x</script> [l](javascript:x) `code` *b* https://x.org www.x.org \x1b[2J\u202e"
    shown = escape(hostile)
    assert shown == (
        "a \\| b \\# head &lt;script&gt;x&lt;/script&gt; \\[l\\](javascript:x) \\`code\\` \\*b\\* https&#58;//x.org www&#46;x.org"
    )
    assert escape("x" * 400) == "x" * 300 + "..."


def test_a_name_with_other_letters_is_no_code():
    assert format_code("a/b-1.py") == "`a/b-1.py`"
    assert format_code("a`b") == "a\\`b"


def test_a_table_has_a_line_for_each_row():
    assert format_table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
