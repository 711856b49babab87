"""What is different between two programs."""

from hypothesis import given
from hypothesis import strategies as st

from evolve_view.code import compare_files

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
