"""The page of the lineage, and where the nodes of a tree stand."""

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolve.types import Outcome
from evolve_view import lineage
from evolve_view.lineage import HEIGHT, WIDTH, Node, find_best_line, find_scale, place_nodes, read_tree
from tests.plugins.evolve_view.hostile import text_of, wrong_in
from tests.written import Written


def drawn(page):
    """The records of the dots, in their order."""
    return [int(found) for found in re.findall(r'<a href="/c/[^"/]+/programs/(\d+)" tabindex="-1">', page)]


def test_every_program_is_a_dot_that_opens_it(browse, looked_at):
    answer = browse(looked_at).get("/c/number/lineage")
    assert answer.status_code == 200
    assert drawn(answer.text) == [1, 2, 3, 4, 6]
    assert "6: nearness 6.5, tune_literals, holds a place, the best" in answer.text


def test_of_too_many_the_fittest_are_drawn_and_the_others_counted(browse, tmp_path, monkeypatch):
    monkeypatch.setattr(lineage, "MOST", 20)
    written = Written(tmp_path, name="broad")
    written.seed(0.0)
    for number in range(2, 32):
        written.proposal(float(number))
    written.campaign.close()
    page = browse(tmp_path).get("/c/broad/lineage").text
    assert (len(drawn(page)), drawn(page)[0], drawn(page)[-1]) == (20, 1, 31)
    assert "11 are left out" in text_of(page)


def test_a_campaign_without_programs_says_so(browse, tmp_path):
    Written(tmp_path, name="empty").campaign.close()
    assert "No program has settled yet" in text_of(browse(tmp_path).get("/c/empty/lineage").text)


def test_what_programs_and_operators_are_called_is_text(browse, hostile):
    assert wrong_in(browse(hostile).get("/c/hostile/lineage").text) == []


def node(record, parent, fitness=1.0, *, best=False):
    return Node(
        record, parent, fitness, "ok" if fitness is not None else "crashed", "diff", is_elite=False, is_best=best
    )


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
    assert find_best_line(TREE) == {1, 2, 4}
    assert find_best_line(TREE[:2]) == set()


def test_the_fitter_is_higher_the_later_further_right_and_a_failure_lowest():
    spots = place_nodes(TREE, find_scale(TREE, "max"))
    assert spots[4][1] < spots[5][1] < spots[2][1] < spots[1][1] < spots[3][1]
    assert [record for record, spot in sorted(spots.items(), key=lambda item: item[1][0])] == [1, 2, 3, 4, 5, 7]


def test_where_less_is_better_the_smaller_is_higher():
    found = find_scale(TREE, "min")
    assert (found.low, found.high) == (4.0, 1.0)
    spots = place_nodes(TREE, found)
    assert spots[1][1] < spots[2][1] < spots[4][1]


def test_of_many_the_worst_quarter_lies_at_the_lower_end():
    many = tuple(node(record, 0, float(record)) for record in range(1, 101))
    found = find_scale(many, "max")
    assert (found.low, found.high) == (26.0, 100.0)
    assert {found.share(value) for value in (1.0, 20.0, 26.0)} == {0.0}


def test_the_scale_reaches_the_ancestors_of_the_best_unless_they_press_the_others_flat():
    many = tuple(node(record, 0, float(record)) for record in range(1, 101))
    assert find_scale(many, "max", {1, 100}).low == 1.0
    assert find_scale(many, "min", {1, 100}).low == 100.0
    far = (node(101, 0, -1e6), *many)
    assert find_scale(far, "max", {101, 100}).low == find_scale(far, "max").low


def test_without_a_fitness_there_is_no_scale():
    assert find_scale((node(1, 0, None),), "max") is None
    assert place_nodes((node(1, 0, None),), None)[1][1] > HEIGHT / 2


@ANY_SPEED
@given(nodes=trees())
def test_every_node_stands_inside_the_picture(nodes):
    spots = place_nodes(nodes, find_scale(nodes, "max"))
    assert set(spots) == {one.record for one in nodes}
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in spots.values())


def family(home, *, cousin=False):
    """1 has the children 2, 3, 4 (a crash) and 5 (screened); 2 has 6 and 7; 7 has 8, the best, and 9 measures 2 again, which has 10. A cousin, 11, is a child of 3."""
    written = Written(home)
    written.seed(5.0)
    written.proposal(6.0)
    written.proposal(4.0)
    written.failure(Outcome.CRASHED, "no")
    written.failure(Outcome.SCREENED, "duplicate")
    written.proposal(3.0, parents=(2,))
    written.proposal(6.5, parents=(2, 3))
    written.proposal(9.0, parents=(7,))
    written.again(2, 6.0)
    written.proposal(6.2, parents=(9,))
    if cousin:
        written.proposal(2.0, parents=(3,))
    return written.campaign


def test_a_tree_has_each_program_under_its_first_parent(tmp_path):
    """A screened proposal has no program, and a measurement is none."""
    with family(tmp_path) as campaign:
        tree = read_tree(campaign, 100)
        held = {elite.record for elite in campaign.state.archive.elites()}
    edges = [(one.record, one.parent) for one in tree.nodes]
    assert edges == [(1, 0), (2, 1), (3, 1), (4, 1), (6, 2), (7, 2), (8, 7), (10, 2)]
    assert [one.fitness for one in tree.nodes] == [5.0, 6.0, 4.0, None, 3.0, 6.5, 9.0, 6.2]
    assert [one.record for one in tree.nodes if one.is_best] == [8]
    assert {one.record for one in tree.nodes if one.is_elite} == held - {9}
    assert (tree.nodes[3].outcome, tree.nodes[3].operator, tree.left_out) == ("crashed", "tune_literals", 0)


def test_a_small_tree_has_the_line_of_the_best_and_counts_the_others(tmp_path):
    """No node is without its parents."""
    with family(tmp_path) as campaign:
        tree = read_tree(campaign, most=4)
        assert ([one.record for one in tree.nodes], tree.left_out) == ([1, 2, 7, 8], 4)
        assert read_tree(campaign, most=0).left_out == 8


def test_of_a_best_with_too_many_ancestors_the_nearest_are_drawn(browse, tmp_path, monkeypatch):
    """A chain of 30, each with one other child: 20 places have room for 11 of the line, and for 9 of the other children."""
    monkeypatch.setattr(lineage, "NEAR", 20)
    written = Written(tmp_path, name="deep")
    written.seed(0.0)
    best = 1
    for number in range(1, 30):
        written.proposal(number - 0.5, parents=(best,))
        written.proposal(float(number), parents=(best,))
        best = 2 * number + 1
    line = set(range(39, 60, 2))
    for part in ("best", "all"):
        tree = read_tree(written.campaign, 20, part)
        assert find_best_line(tree.nodes) == line
        assert (len(tree.nodes), tree.left_out, tree.older) == (20, 39, 19)
    written.campaign.close()
    assert "39 are left out, 19 of them ancestors of the best" in text_of(browse(tmp_path).get("/c/deep/lineage").text)


def test_the_line_of_the_best_is_drawn_and_operators_have_colours(browse, looked_at):
    page = browse(looked_at).get("/c/number/lineage").text
    assert re.search(r'class="best-line" d="(M[\d. ]+L[\d. ]+){2}"', page)
    assert "tune_literals" in text_of(page.partition('id="legend"')[2])


def test_the_tree_begins_with_the_ancestors_of_the_best_and_what_else_was_tried_on_them(tmp_path):
    """8 is the best, its line is 1, 2, 7; 6 and 10 are children of 2, 3 and 4 of 1, and 11 is a child of 3."""
    with family(tmp_path, cousin=True) as campaign:
        whole, near = read_tree(campaign, 100), read_tree(campaign, 100, "best")
        few = read_tree(campaign, 6, "best")
    assert {node.record for node in whole.nodes} - {node.record for node in near.nodes} == {11}
    assert near.left_out == 1
    assert {node.record for node in few.nodes} >= {1, 2, 7, 8}
    assert {
        parent: [node.record for node in few.nodes if node.parent == parent and node.record != 7] for parent in (1, 2)
    } == {
        1: [2, 3],
        2: [10],
    }


def test_all_programs_are_a_choice_of_the_lineage(browse, tmp_path):
    family(tmp_path, cousin=True).close()
    client = browse(tmp_path)
    near, whole = (client.get(f"/c/number/lineage{query}").text for query in ("", "?show=all"))
    assert 11 not in drawn(near)
    assert 11 in drawn(whole)
    assert "1 are left out" in text_of(near)
    assert 'href="/c/number/lineage?show=all"' in near


def test_before_any_program_has_a_score_all_are_drawn(browse, tmp_path):
    written = Written(tmp_path, name="failing")
    written.failure(Outcome.CRASHED, "no", parents=())
    written.campaign.close()
    assert drawn(browse(tmp_path).get("/c/failing/lineage").text) == [1]
