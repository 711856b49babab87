"""The page of the archive: cells, shades, the front, elites."""

import re

import pytest

from evolve.report import AxisLine, Heat, HeatCell
from evolve.types import Axis
from evolve_view import archive as pages
from evolve_view.archive import BOTTOM, LEFT, RIGHT, SHADES, TOP, lay_out, thin_out
from tests.plugins.evolve_view.hostile import text_of
from tests.written import Written, number_task


def test_each_cell_leads_to_its_best_program(browse, looked_at):
    page = browse(looked_at).get("/c/number/archive").text
    cells = re.findall(r'href="/c/number/programs/(\d+)" id="cell-(\d)-0"', page)
    assert cells == [("1", "2"), ("6", "3")]
    assert "nearness 6.5, record 6" in text_of(page)


def test_the_query_chooses_axes_and_an_island(browse, tmp_path):
    written = Written(tmp_path, number_task(axes=(Axis("size", 0, 10, 5), Axis("depth", 0, 10, 2))))
    written.seed(5.0, descriptors={"size": 1.0, "depth": 9.0})
    written.campaign.close()
    client = browse(tmp_path)
    assert 'id="cell-0-1"' in client.get("/c/number/archive").text
    assert 'id="cell-1-0"' in client.get("/c/number/archive?x=depth&y=size").text
    assert 'value="3" selected' in client.get("/c/number/archive?island=3").text


def test_links_keep_the_axes_that_were_chosen(browse, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "LINES", 1)
    written = Written(tmp_path, number_task(axes=(Axis("size", 0, 10, 5), Axis("depth", 0, 10, 2))))
    written.seed(5.0, descriptors={"size": 1.0, "depth": 9.0})
    written.proposal(6.0, descriptors={"size": 5.0, "depth": 1.0})
    written.campaign.close()
    links = re.findall(r'href="(\?[^"]*)"', browse(tmp_path).get("/c/number/archive?x=depth&y=size").text)
    assert links == [
        *(f"?x=depth&amp;y=size&amp;island={number}" for number in range(4)),
        "?x=depth&amp;y=size&amp;start=1",
    ]


def test_what_there_is_not_is_said(browse, looked_at):
    client = browse(looked_at)
    for query in ("x=fame", "island=99", "island=-1", "start=two", "fx=fame"):
        assert client.get(f"/c/number-2/archive?{query}").status_code == 404, query


def test_the_front_of_a_task_with_objectives_is_a_scatter(browse, looked_at):
    page = browse(looked_at).get("/c/number-2/archive").text
    assert "record 2: length 2, seconds 8" in text_of(page)
    assert page.count('class="f-line-2"') == 2 * (3 + 1)
    assert "Pareto front" not in browse(looked_at).get("/c/number/archive").text


def test_a_task_without_axes_has_the_default_ones(browse, tmp_path):
    written = Written(tmp_path, number_task(axes=()))
    written.seed(5.0, descriptors={"size_log2": 5.0, "seed_distance": 0.0})
    written.campaign.close()
    page = text_of(browse(tmp_path).get("/c/number/archive").text)
    assert "The task declares no axes" in page
    assert "size_log2" in page


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
