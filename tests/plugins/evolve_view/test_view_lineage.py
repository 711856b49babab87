"""The page of the lineage, and where the nodes of a tree stand."""

import math
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolve.report import Node
from evolve_view.lineage import (
    HEIGHT,
    WIDTH,
    find_best_line,
    find_scale,
    find_strands,
    place_by_generation,
    place_by_progress,
)
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


def node(record, parent, fitness=1.0, *, best=False):
    return Node(record, parent, fitness, "ok" if fitness is not None else "crashed", "diff", elite=False, best=best)


TREE = (
    node(1, 0, 1.0),
    node(2, 1, 2.0),
    node(3, 1, None),
    node(4, 2, 4.0, best=True),
    node(5, 2, 3.0),
    node(7, 4, 2.5),
)


ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def trees(draw):
    size = draw(st.integers(1, 60))
    return tuple(node(record, draw(st.integers(0, record - 1))) for record in range(1, size + 1))


def test_the_line_of_the_best_begins_at_the_root():
    assert find_best_line(TREE) == (1, 2, 4)
    assert find_best_line(TREE[:2]) == ()


def test_the_fitter_is_higher_the_later_further_right_and_a_failure_lowest():
    spots = place_by_progress(TREE, find_scale(TREE, "max"))
    assert spots[4].y < spots[5].y < spots[2].y < spots[1].y < spots[3].y
    assert [record for record, spot in sorted(spots.items(), key=lambda item: item[1].x)] == [1, 2, 3, 4, 5, 7]


def test_where_less_is_better_the_smaller_is_higher():
    found = find_scale(TREE, "min")
    assert (found.low, found.high) == (4.0, 1.0)
    spots = place_by_progress(TREE, found)
    assert spots[1].y < spots[2].y < spots[4].y


def test_of_many_the_worst_quarter_lies_at_the_lower_end():
    many = tuple(node(record, 0, float(record)) for record in range(1, 101))
    found = find_scale(many, "max")
    assert (found.low, found.high) == (26.0, 100.0)
    assert {found.share(value) for value in (1.0, 20.0, 26.0)} == {0.0}


def test_without_a_fitness_there_is_no_scale():
    assert find_scale((node(1, 0, None),), "max") is None
    assert place_by_progress((node(1, 0, None),), None)[1].y > HEIGHT / 2


def test_a_child_stands_to_the_right_of_its_parent_and_brothers_in_rows_of_their_own():
    spots = place_by_generation(TREE)
    assert all(spots[one.record].x > spots[one.parent].x for one in TREE if one.parent)
    assert len({spots[record].y for record in (3, 5, 7)}) == 3


def test_a_line_goes_on_with_whom_the_most_descend_from():
    (line,) = find_strands(TREE)
    assert [one.record for one in line.nodes] == [1, 2, 4, 7]
    assert [[one.record for one in branch.nodes] for branch in line.branches] == [[3], [5]]


def test_a_line_of_thousands_of_generations_is_one_line():
    chain = tuple(node(record, record - 1) for record in range(1, 5001))
    (line,) = find_strands(chain)
    assert (len(line.nodes), line.branches) == (5000, [])
    assert len(place_by_generation(chain)) == 5000


@ANY_SPEED
@given(trees())
def test_every_node_is_in_one_line_and_lines_are_nested_no_deeper_than_the_logarithm(nodes):
    def walk(found, depth):
        assert depth <= math.log2(len(nodes)) + 1
        yield from (one.record for one in found.nodes)
        for branch in found.branches:
            yield from walk(branch, depth + 1)

    records = [record for line in find_strands(nodes) for record in walk(line, 1)]
    assert sorted(records) == [one.record for one in nodes]


@pytest.mark.parametrize(
    "place", [place_by_generation, lambda nodes: place_by_progress(nodes, find_scale(nodes, "max"))]
)
@ANY_SPEED
@given(nodes=trees())
def test_every_node_stands_inside_the_picture(place, nodes):
    spots = place(nodes)
    assert set(spots) == {one.record for one in nodes}
    assert all(0 <= spot.x <= WIDTH and 0 <= spot.y <= HEIGHT for spot in spots.values())
