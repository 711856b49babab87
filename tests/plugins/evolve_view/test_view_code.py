"""Programs as lines of HTML, and what differs between two of them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from evolve_view.code import COLOURED, LINES, colour, compare_files, show_files, show_unseen, split_lines

BLOCKS = "import math\n# EVOLVE-BLOCK-START\ndef f():\n    return 1\n# EVOLVE-BLOCK-END\nprint(f())\n"


def plain(html):
    """What a person reads of a line."""
    return html.striptags() if html.strip() else str(html)


def test_each_line_is_one_line_of_html_and_says_what_it_said():
    (file,) = show_files({"seed.py": 'def f(x):\n    """Two\n    lines."""\n    return x\n'})
    assert [line.number for line in file.lines] == [1, 2, 3, 4]
    assert [plain(line.html) for line in file.lines] == ["def f(x):", '"""Two', 'lines."""', "return x"]
    assert '<span class="k">def</span>' in file.lines[0].html


@pytest.mark.parametrize("path", ["a.py", "a.c", "a.js", "a.html", "a.unknown", "README.md"])
def test_nothing_of_a_text_is_html(path):
    (line,) = colour(path, ["</span><script>alert(1)</script>&amp;"])
    assert "<script" not in line
    assert "&lt;" in line
    assert "&amp;amp;" in line or "&amp;</span>" in line or "&amp;" in line


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_end_a_line(end):
    assert split_lines(f"a{end}b{end}") == ["a", "b"]


def test_an_empty_text_has_no_line_and_an_empty_line_is_one():
    assert split_lines("") == []
    assert split_lines("\n") == [""]
    assert [plain(line) for line in colour("a.py", ["", "", "x"])] == ["", "", "x"]


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\u2028", "\x00", "\x1b", "\x0c", "\x85", "\ud800", "\ue000"])
def test_what_nobody_sees_is_said_by_its_number(sign):
    assert show_unseen(f"a{sign}b") == f"a[U+{ord(sign):04X}]b"
    (line,) = colour("a.py", [f"a = 1  # {sign}"])
    assert f'<mark class="unseen">[U+{ord(sign):04X}]</mark>' in line
    assert sign not in line


def test_lines_between_the_markers_are_marked_as_those_that_may_change():
    (file,) = show_files({"seed.py": BLOCKS})
    assert file.has_blocks
    assert [line.number for line in file.lines if line.in_block] == [3, 4]


def test_a_text_without_markers_has_no_marked_line():
    (file,) = show_files({"seed.py": "a = 1\n"})
    assert not file.has_blocks
    assert not any(line.in_block for line in file.lines)


def test_lines_of_two_files_have_different_anchors():
    assert [file.anchor for file in show_files({"a.py": "1\n", "b.py": "2\n"})] == ["L", "f2L"]


def test_a_long_file_is_cut_and_says_so():
    (file,) = show_files({"a.txt": "x\n" * (LINES + 5)})
    assert (len(file.lines), file.left_out) == (LINES, 5)


def test_a_long_line_is_cut_and_says_so():
    (line,) = colour("a.txt", ["x" * 3000])
    assert "1,000 more characters" in line


def test_a_large_file_is_shown_without_colours_and_escaped():
    html = colour("a.py", ["def f(): <b>" + "x" * 1000] * (COLOURED // 1000 + 1))
    assert "<span" not in html[0]
    assert "&lt;b&gt;" in html[0]


TEXTS = st.lists(st.sampled_from(["a = 1", "b = 2", "", "    return a"]), max_size=12).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


def said(change):
    """Rows without their colours."""
    return [(row.kind, row.old, row.new, row.html.striptags()) for row in change.rows]


def test_a_changed_line_is_there_twice_with_its_number_on_each_side():
    (change,) = compare_files({"a.py": "x\ny\nz\n"}, {"a.py": "x\nY\nz\n"})
    assert said(change) == [("same", 1, 1, "x"), ("old", 2, 0, "y"), ("new", 0, 2, "Y"), ("same", 3, 3, "z")]
    assert (change.added, change.removed, change.is_cut) == (1, 1, False)


def test_far_away_lines_that_are_equal_are_a_gap():
    before = "".join(f"{n}\n" for n in range(30))
    (change,) = compare_files({"a.txt": before}, {"a.txt": before.replace("15\n", "x\n")})
    assert [row.kind for row in change.rows] == ["gap", *["same"] * 3, "old", "new", *["same"] * 3, "gap"]


def test_files_that_are_alike_are_no_change_and_new_and_gone_ones_are():
    found = compare_files({"a.py": "1\n", "gone.py": "2\n"}, {"a.py": "1\n", "new.py": "3\n"})
    assert [(change.path, change.added, change.removed) for change in found] == [("gone.py", 0, 1), ("new.py", 1, 0)]


def test_what_a_line_holds_is_escaped():
    (change,) = compare_files({"a.html": ""}, {"a.html": "<script>alert(1)</script>\n"})
    assert "<script" not in change.rows[0].html


@given(TEXTS, TEXTS)
def test_what_is_left_of_both_without_the_marked_lines_is_equal(before, after):
    kept = [row for change in compare_files({"a.txt": before}, {"a.txt": after}) for row in change.rows]
    old, new = before.splitlines(), after.splitlines()
    shared_old = set(range(1, len(old) + 1)) - {row.old for row in kept if row.kind == "old"}
    shared_new = set(range(1, len(new) + 1)) - {row.new for row in kept if row.kind == "new"}
    if kept:
        assert [old[at - 1] for at in sorted(shared_old)] == [new[at - 1] for at in sorted(shared_new)]


def sides(before, after):
    """Rows of two texts side by side, with marks in brackets."""
    (change,) = compare_files({"a.txt": before}, {"a.txt": after})
    rows = [(row.old, marked(row.was), row.new, marked(row.now)) for row in change.sides]
    assert [row.kind for row in change.sides].count("gap") == 0
    return rows


def marked(html):
    return Markup(html.replace('<mark class="part">', "[").replace("</mark>", "]")).striptags()


def test_a_line_stands_beside_what_it_became_and_the_words_that_differ_are_marked():
    assert sides("x\nstep = 0.5 * gain\nz\n", "x\nstep = 0.7 * gain\nz\n") == [
        (1, "x", 1, "x"),
        (2, "step = [0.5] * gain", 2, "step = [0.7] * gain"),
        (3, "z", 3, "z"),
    ]


def test_a_line_that_came_or_went_stands_alone():
    assert sides("a\n", "a\nb\n") == [(1, "a", 1, "a"), (0, "", 2, "b")]
    assert sides("a\nb\n", "a\n") == [(1, "a", 1, "a"), (2, "b", 0, "")]


def test_of_a_block_the_lines_that_are_alike_stand_beside_each_other():
    before = "first = one(two)\nsecond = three(four, 1)\n"
    after = "nothing like it at all\nsecond = three(four, 2)\n"
    assert sides(before, after) == [
        (1, "first = one(two)", 0, ""),
        (0, "", 1, "nothing like it at all"),
        (2, "second = three(four, [1])", 2, "second = three(four, [2])"),
    ]


def test_marks_are_in_the_unified_change_too_and_cut_no_element():
    (change,) = compare_files({"a.py": "x = '<a>' + 1\n"}, {"a.py": "x = '<b>' + 1\n"})
    old, new = (row.html for row in change.rows)
    assert marked(old) == "x = '<[a]>' + 1"
    assert marked(new) == "x = '<[b]>' + 1"
    for html in (old, new):
        assert html.count("<span") == html.count("</span>")
        assert re.search(r'<mark class="part">[^<]*</mark>', html)


WORDS = st.text(st.sampled_from("ab <&\u202e="), max_size=20)


@given(WORDS, WORDS)
def test_what_is_not_marked_is_equal_on_both_sides(before, after):
    """And every text is there as a whole, whatever signs it has."""
    for change in compare_files({"a.py": f"{before}\n"}, {"a.py": f"{after}\n"}):
        for row in change.sides:
            for html, text in ((row.was, before if row.old else ""), (row.now, after if row.new else "")):
                assert re.sub("<[^>]*>", "", html).replace("&lt;", "<").replace("&amp;", "&") == show_unseen(text)
            if row.old and row.new and row.kind == "change":
                left, right = (
                    re.sub("<[^>]*>", "", re.sub(r'<mark class="part">[^<]*</mark>', "", html))
                    for html in (row.was, row.now)
                )
                assert left == right


@given(TEXTS, TEXTS)
def test_side_by_side_and_below_each_other_have_the_same_lines(before, after):
    for change in compare_files({"a.txt": before}, {"a.txt": after}):
        assert sorted(row.old for row in change.sides if row.old) == sorted(row.old for row in change.rows if row.old)
        assert sorted(row.new for row in change.sides if row.new) == sorted(row.new for row in change.rows if row.new)
        assert [row.old for row in change.sides if row.old] == sorted(row.old for row in change.sides if row.old)


def test_a_large_block_is_compared_without_delay():
    before, after = ("".join(f"{sign} = {n} + {n * n}\n" for n in range(2000)) for sign in "ab")
    (change,) = compare_files({"a.txt": before}, {"a.txt": after})
    assert (change.added, change.removed) == (2000, 2000)
    assert len(change.sides) == 2000
