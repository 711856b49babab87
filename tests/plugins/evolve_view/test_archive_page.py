"""The archive over any two axes, with links to its programs."""

import re

from evolve.types import Axis
from evolve_view import archive as pages
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
