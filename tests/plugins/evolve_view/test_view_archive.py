"""The page of the archive: cells, shades, the front, elites."""

import re

import pytest

from evolve.types import Axis, Fitness
from evolve_view import archive as pages
from evolve_view.archive import BOTTOM, LEFT, RIGHT, SHADES, TOP, draw_map, thin_out
from tests.plugins.evolve_view.hostile import text_of
from tests.written import Written, aiming_campaign, number_task


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


AXES = (Axis("size", 0, 10, 5), Axis("depth", 0, 4, 2), Axis("width", 0, 1, 2))


def place_elites(home, **fields):
    """Three axes; 2 and 3 differ in the third alone, and 4 is beyond the border of the first."""
    written = Written(home, number_task(axes=AXES, **fields))
    written.seed(5.0, descriptors={"size": 5.0, "depth": 1.0, "width": 0.0})
    written.proposal(6.0, descriptors={"size": 1.0, "depth": 3.0, "width": 0.2})
    written.proposal(7.0, descriptors={"size": 1.5, "depth": 3.5, "width": 0.9})
    written.proposal(4.0, descriptors={"size": 99.0, "depth": 0.0, "width": 0.0})
    return written.campaign


def list_cells(found):
    return [(cell.column, cell.row, cell.elite.record) for cell in found.cells]


def test_each_pair_of_bins_has_its_best(tmp_path):
    """Of all that differ elsewhere, and how many these are; the first bin is at the left and at the bottom."""
    with place_elites(tmp_path) as campaign:
        found = draw_map(campaign)
    assert (found.x, found.y) == AXES[:2]
    assert list_cells(found) == [(0, 1, 3), (2, 0, 1), (4, 0, 4)]
    assert [cell.elites for cell in found.cells] == [2, 1, 1]
    first, _, last = found.cells
    assert (first.x, round(first.y)) == (LEFT, TOP)
    assert (round(last.x + found.width), round(last.y + found.height)) == (RIGHT, BOTTOM)


def test_any_two_axes_and_one_island(tmp_path):
    """The second is another one than the first, where it is not named."""
    with place_elites(tmp_path) as campaign:
        assert list_cells(draw_map(campaign, "width", "depth")) == [(0, 0, 1), (0, 1, 2), (1, 1, 3)]
        assert draw_map(campaign, "depth").y.name == "size"
        assert [cell.elite.record for cell in draw_map(campaign, island=1).cells] == [1]


@pytest.mark.parametrize(("direction", "best"), [("max", 3), ("min", 4)])
def test_the_lightest_colour_is_the_best_in_the_tasks_direction(tmp_path, direction, best):
    with place_elites(tmp_path, fitness=Fitness("score", direction, 4)) as campaign:
        found = draw_map(campaign)
    shades = {cell.elite.record: cell.shade for cell in found.cells}
    assert found.best is not None
    assert found.best.elite.record == best
    assert shades[best] == SHADES - 1 == max(shades.values())
    assert len({label.text for label in found.shades}) == len(found.shades)


def test_who_misses_a_constraint_is_never_the_best(browse, tmp_path):
    with aiming_campaign(tmp_path) as campaign:
        found = draw_map(campaign)
    assert found.best is not None
    assert found.best.elite.violation == 0.0


def test_an_empty_archive_has_no_cells_and_no_legend(tmp_path):
    with Written(tmp_path).campaign as campaign:
        found = draw_map(campaign)
    assert (found.cells, found.best, found.shades, found.y_ticks) == ((), None, (), ())


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (Axis("walls", 0.0, 26.0, 13), ["0", "4", "8", "12", "16", "20", "24", "26"]),
        (Axis("size", 0.0, 11.0, 11), ["0", "2", "4", "6", "8", "10", "11"]),
        (Axis("size", 0.0, 2.0, 2), ["0", "1", "2"]),
        (Axis("size", 10_000.0, 10_004.0, 2), ["10000", "10002", "10004"]),
        (Axis("size", 0.0, 29.0, 29), ["0", "4", "8", "12", "16", "20", "24", "29"]),
    ],
)
def test_the_numbers_of_an_axis_differ_and_stand_at_both_ends_inside_the_picture(tmp_path, axis, labels):
    with Written(tmp_path, number_task(axes=(axis,))).campaign as campaign:
        found = draw_map(campaign)
    assert [tick.text for tick in found.x_ticks] == labels
    assert found.x_ticks[-1].at == RIGHT


@pytest.mark.parametrize(("count", "most", "kept"), [(0, 5, 0), (5, 5, 5), (6, 5, 5), (100_000, 2_000, 2_000)])
def test_thinned_values_keep_the_first_and_the_last(count, most, kept):
    values = list(range(count))
    found = thin_out(values, most)
    assert len(found) == kept
    assert list(found[:1]) == values[:1]
    assert list(found[-1:]) == values[-1:]
    assert sorted(set(found)) == list(found)
