"""Programs as lines of HTML, and what differs between two of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
