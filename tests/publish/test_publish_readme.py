"""Facts about the page of an export."""

from exported_here import Found

from evolve.publish import readme
from evolve.publish.markdown import code, escaped, table


def test_the_page_tells_what_is_claimed_and_on_what_it_rests(tmp_path):
    page = Found(tmp_path, promotion="certificate").certified().export().contents["README.md"].decode()
    assert "| nearness | 6.5 (larger is better) |" in page
    assert "| evidence | **certified**: the task proved the value in exact arithmetic, record 3 |" in page
    assert "| 2 | the search | ok | 6.5 | witnessed | strict |" in page
    assert "| 1 | 2 | `tune_literals` |  | 6.5 | +1.5 | `lineage/0001.diff` |" in page


def test_exact_numbers_of_a_certificate_are_told(tmp_path):
    found = Found(tmp_path, promotion="certificate").certified()
    made = found.export()
    page = readme.page(
        made.claims,
        found.task,
        (),
        {"proof": '{"sum": "13/2", "bound": 6, "radii": ["1/2"], "long": "' + "9" * 201 + '"}'},
    )
    assert "| `proof: bound` | 6 |\n| `proof: sum` | 13/2 |\n\n" in page


def test_a_noisy_value_is_never_told_without_how_sure_it_is(tmp_path):
    found = Found(tmp_path, deterministic=False)
    page = found.export().contents["README.md"].decode()
    assert "| nearness | 6.5 ± 0 (95 %: 6.5 to 6.5, 1 judging) (larger is better) |" in page
    assert "not confirmed" in page
    found.again(2, 6.4)
    found.again(2, 6.3)
    assert "95 %: " in found.export().contents["README.md"].decode()


def test_what_is_claimed_and_quarantined_says_so(tmp_path):
    found = Found(tmp_path)
    found.proposal(7.0, trust="claimed", isolation="strict")
    assert "**claimed** by the program's own script" in found.export(3).contents["README.md"].decode()


def test_the_words_of_others_end_nothing_and_open_nothing():
    hostile = "a | b\n# head <script>x</script> [l](javascript:x) `code` *b* https://x.org www.x.org \x1b[2J\u202e"
    shown = escaped(hostile)
    assert shown == (
        "a \\| b \\# head &lt;script&gt;x&lt;/script&gt; \\[l\\](javascript:x) \\`code\\` \\*b\\* https&#58;//x.org www&#46;x.org"
    )
    assert escaped("x" * 400) == "x" * 300 + "..."


def test_a_name_with_other_letters_is_no_code():
    assert code("a/b-1.py") == "`a/b-1.py`"
    assert code("a`b") == "a\\`b"


def test_a_table_has_a_line_for_each_row():
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
