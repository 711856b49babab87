"""Names of lines, in rows."""

from evolve.drawing.legend import entries, places, rows
from evolve.drawing.levels import Named


def test_a_single_line_needs_no_name() -> None:
    assert entries(["best so far"], []) == []
    assert rows(places([], 400)) == 0


def test_names_that_do_not_fit_stand_in_the_next_row_and_long_ones_are_cut() -> None:
    found = entries(["first", "second"], [Named("a name that is too long for the paper", "", 0, 0)])
    placed = places(found, 180)
    assert [(each.name, each.row) for each in placed] == [("first", 0), ("second", 0), ("a name that is too …", 1)]
    assert rows(placed) == 2


def test_lines_differ_without_colours() -> None:
    found = entries([str(place) for place in range(16)], [])
    assert len({(each.ink, each.dash) for each in found}) == 16
    assert found[0].dash != found[8].dash
