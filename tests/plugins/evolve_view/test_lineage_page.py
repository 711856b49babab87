"""The lineage tree of a campaign."""

import re

import pytest

from tests.plugins.evolve_view.hostile import text_of, wrong_in
from tests.written import Written

VIEWS = [
    f"layout={layout}&colour={colour}"
    for layout in ("progress", "generations")
    for colour in ("fitness", "operator", "outcome")
]


def drawn(page):
    """The records of the dots, in their order."""
    return [int(found) for found in re.findall(r'<a href="/c/[^"/]+/programs/(\d+)" tabindex="-1">', page)]


@pytest.mark.parametrize("view", VIEWS)
def test_every_program_is_a_dot_that_opens_it(browse, looked_at, view):
    answer = browse(looked_at).get(f"/c/number/lineage?{view}")
    assert answer.status_code == 200
    assert drawn(answer.text) == [1, 2, 3, 4, 6]
    assert "6: nearness 6.5, tune_literals, holds a place, the best" in answer.text


def test_the_line_of_the_best_is_drawn_and_the_same_tree_is_a_list(browse, looked_at):
    page = browse(looked_at).get("/c/number/lineage").text
    assert re.search(r'class="best-line" d="(M[\d. ]+L[\d. ]+){2}"', page)
    listed = page.partition('id="strands">')[2]
    assert re.findall(r">(\d+)</a>", listed) == ["1", "2", "6", "3", "4"]
    assert text_of(listed.partition("<ul>")[0]).split() == ["1", "5", "→", "2", "→", "6", "6.5", "best"]


def test_colours_have_a_legend(browse, looked_at):
    client = browse(looked_at)
    assert (
        "tune_literals"
        in text_of(client.get("/c/number/lineage?colour=operator").text)
        .partition("the same as a list")[0]
        .rpartition("later")[2]
    )
    assert 'class="ramp"' in client.get("/c/number/lineage").text


def test_a_root_shows_its_descendants_alone(browse, looked_at):
    assert drawn(browse(looked_at).get("/c/number/lineage?root=2").text) == [2, 6]


def test_of_too_many_the_fittest_are_drawn_and_the_others_counted(browse, tmp_path, monkeypatch):
    monkeypatch.setattr("evolve_view.lineage.MOST", 20)
    written = Written(tmp_path, name="broad")
    written.seed(0.0)
    for number in range(2, 32):
        written.proposal(float(number))
    written.campaign.close()
    page = browse(tmp_path).get("/c/broad/lineage").text
    assert (len(drawn(page)), drawn(page)[0], drawn(page)[-1]) == (20, 1, 31)
    assert "11 are left out" in text_of(page)


@pytest.mark.parametrize("query", ["layout=circle", "colour=red", "root=x"])
def test_a_word_that_is_none_is_said(browse, looked_at, query):
    assert browse(looked_at).get(f"/c/number/lineage?{query}").status_code == 404


def test_a_campaign_without_programs_says_so(browse, tmp_path):
    Written(tmp_path, name="empty").campaign.close()
    assert "No program has settled yet" in text_of(browse(tmp_path).get("/c/empty/lineage").text)


@pytest.mark.parametrize("view", VIEWS)
def test_what_programs_and_operators_are_called_is_text(browse, hostile, view):
    assert wrong_in(browse(hostile).get(f"/c/hostile/lineage?{view}").text) == []
