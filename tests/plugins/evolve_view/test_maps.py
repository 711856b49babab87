"""Where cells and dots lie, and which colour is the best."""

import pytest

from evolve.report import AxisLine, Heat, HeatCell
from evolve_view.archive import BOTTOM, LEFT, RIGHT, SHADES, TOP, lay_out, thin_out

SIZE, DEPTH = AxisLine("size", 0.0, 10.0, 5), AxisLine("depth", 0.0, 4.0, 4)


def heat(*cells: HeatCell) -> Heat:
    return Heat(SIZE, DEPTH, cells)


def test_the_first_bin_is_at_the_left_and_at_the_bottom():
    found = lay_out(heat(HeatCell(0, 0, 1, 5.0, 1), HeatCell(4, 3, 2, 6.0, 1)), "max")
    first, last = found.cells
    assert (first.x, round(first.y + found.height)) == (LEFT, BOTTOM)
    assert (round(last.x + found.width), round(last.y)) == (RIGHT, TOP)


@pytest.mark.parametrize(("direction", "best"), [("max", 3), ("min", 1)])
def test_the_lightest_colour_is_the_best_in_the_tasks_direction(direction, best):
    found = lay_out(heat(*(HeatCell(n, 0, n, float(n), 1) for n in (1, 2, 3))), direction)
    shades = {cell.record: cell.shade for cell in found.cells}
    assert max(shades, key=shades.__getitem__) == best
    assert shades[best] == SHADES - 1
    assert found.best is not None
    assert found.best.record == best


def test_who_misses_a_constraint_is_never_the_best():
    found = lay_out(heat(HeatCell(0, 0, 1, 9.0, 1, 0.5), HeatCell(1, 0, 2, 5.0, 1)), "max")
    assert found.best is not None
    assert found.best.record == 2


def test_equal_values_have_one_colour_and_one_line_in_the_legend():
    found = lay_out(heat(HeatCell(0, 0, 1, 5.0, 1), HeatCell(1, 0, 2, 5.0, 1)), "max")
    assert {cell.shade for cell in found.cells} == {SHADES - 1}
    assert [shade.says for shade in found.shades] == ["5"]


def test_the_legend_tells_values_apart_that_differ_late():
    cells = [HeatCell(n, 0, n, 2.5 + n * 1e-9, 1) for n in range(5)]
    says = [shade.says for shade in lay_out(heat(*cells), "max").shades]
    assert len(set(says)) == len(says)
    many = [HeatCell(n % 5, n // 5, n, 2.5 + n * 1e-9, 1) for n in range(20)]
    says = [shade.says for shade in lay_out(heat(*many), "max").shades]
    assert len(says) == SHADES
    assert all(said.split(" to ")[0] != said.split(" to ")[1] for said in says)


def test_only_what_lies_near_another_value_has_many_digits():
    values = (1.0, 2.0, 2.541421356, 2.541421357)
    cells = [HeatCell(n, 0, n, value, 1) for n, value in enumerate(values)]
    assert [shade.says for shade in lay_out(heat(*cells), "max").shades] == ["1", "2", "2.541421356", "2.541421357"]


def test_an_empty_archive_has_no_cells_and_no_legend():
    found = lay_out(heat(), "max")
    assert (found.cells, found.best, found.shades) == ((), None, ())


def test_an_axis_without_a_name_has_no_numbers():
    found = lay_out(Heat(SIZE, AxisLine("", 0.0, 1.0, 1), (HeatCell(0, 0, 1, 5.0, 1),)), "max")
    assert (found.y_ticks, [tick.says for tick in found.x_ticks]) == ((), ["0", "2", "4", "6", "8", "10"])


@pytest.mark.parametrize(
    ("axis", "says"),
    [
        (AxisLine("walls", 0.0, 26.0, 13), ["0", "4", "8", "12", "16", "20", "24", "26"]),
        (AxisLine("size", 0.0, 11.0, 11), ["0", "2", "4", "6", "8", "10", "11"]),
        (AxisLine("size", 0.0, 2.0, 2), ["0", "1", "2"]),
        (AxisLine("size", 10_000.0, 10_004.0, 2), ["10000", "10002", "10004"]),
        (AxisLine("size", 0.0, 29.0, 29), ["0", "4", "8", "12", "16", "20", "24", "29"]),
    ],
)
def test_the_numbers_of_an_axis_differ_and_stand_at_both_ends_inside_the_picture(axis, says):
    found = lay_out(Heat(axis, DEPTH, ()), "max")
    assert [tick.says for tick in found.x_ticks] == says
    assert found.x_ticks[-1].at == RIGHT


@pytest.mark.parametrize(("count", "most", "kept"), [(0, 5, 0), (5, 5, 5), (6, 5, 5), (100_000, 2_000, 2_000)])
def test_thinned_values_keep_the_first_and_the_last(count, most, kept):
    values = list(range(count))
    found = thin_out(values, most)
    assert len(found) == kept
    assert list(found[:1]) == values[:1]
    assert list(found[-1:]) == values[-1:]
    assert sorted(set(found)) == list(found)
