"""Children, and the tree of first parents."""

from pathlib import Path

import pytest

from evolve import report
from evolve.types import Outcome, StoreError
from tests.written import Written


def family(home: Path) -> Written:
    """1 has the children 2, 3, 4 (a crash) and 5 (screened); 2 has 6 and 7; 7 has 8, the best."""
    written = Written(home)
    written.seed(5.0)
    written.proposal(6.0)
    written.proposal(4.0)
    written.failure(Outcome.CRASHED, "no")
    written.failure(Outcome.SCREENED, "duplicate")
    written.proposal(3.0, parents=(2,))
    written.proposal(6.5, parents=(2, 3))
    written.proposal(9.0, parents=(7,))
    return written


def test_children_are_the_proposals_that_had_it_as_a_parent(tmp_path: Path) -> None:
    """First parents or others; some of them, where a limit is given."""
    with family(tmp_path).campaign as campaign:
        assert [line.id for line in report.children(campaign, 1)] == [2, 3, 4, 5]
        assert [line.id for line in report.children(campaign, 3)] == [7]
        assert [line.id for line in report.children(campaign, 1, 2)] == [2, 3]
        assert report.children(campaign, 5) == ()
        assert report.offspring(campaign, 1) == report.OffspringCounts(4, failed=1, screened=1)
        assert report.offspring(campaign, 5) == report.OffspringCounts(0, 0, 0)
        with pytest.raises(StoreError, match="no record 9"):
            report.children(campaign, 9)


def test_children_of_a_later_judging_are_the_programs(tmp_path: Path) -> None:
    """Strategies name the record that judged a program last."""
    written = family(tmp_path)
    written.again(2, 6.0)
    written.proposal(6.2, parents=(9,))
    with written.campaign as campaign:
        assert [line.id for line in report.children(campaign, 2)] == [6, 7, 10]
        assert [line.id for line in report.children(campaign, 9)] == [6, 7, 10]
        assert [node.parent for node in report.tree(campaign).nodes if node.record == 10] == [2]
        assert [step.record for step in report.lineage(campaign, 10)] == [1, 9, 10]


def test_a_tree_has_each_program_under_its_first_parent(tmp_path: Path) -> None:
    """What was screened has no program."""
    with family(tmp_path).campaign as campaign:
        tree = report.tree(campaign)
        held = {elite.record for elite in campaign.state.archive.elites()}
    assert [(node.record, node.parent) for node in tree.nodes] == [
        (1, 0),
        (2, 1),
        (3, 1),
        (4, 1),
        (6, 2),
        (7, 2),
        (8, 7),
    ]
    assert [node.fitness for node in tree.nodes] == [5.0, 6.0, 4.0, None, 3.0, 6.5, 9.0]
    assert [node.record for node in tree.nodes if node.best] == [8]
    assert {node.record for node in tree.nodes if node.elite} == held
    assert (tree.nodes[3].outcome, tree.nodes[3].operator, tree.left_out) == ("crashed", "tune_literals", 0)
    assert {(node.isolation, node.trust) for node in tree.nodes} == {("reduced", "witnessed")}


def test_a_tree_from_a_root_has_its_descendants(tmp_path: Path) -> None:
    """The root has no parent there."""
    with family(tmp_path).campaign as campaign:
        assert [(node.record, node.parent) for node in report.tree(campaign, root=2).nodes] == [
            (2, 0),
            (6, 2),
            (7, 2),
            (8, 7),
        ]
        with pytest.raises(StoreError, match="no record 20"):
            report.tree(campaign, root=20)


def test_a_small_tree_has_the_line_of_the_best_and_counts_the_others(tmp_path: Path) -> None:
    """No node is without its parents."""
    with family(tmp_path).campaign as campaign:
        tree = report.tree(campaign, most=4)
        assert ([node.record for node in tree.nodes], tree.left_out) == ([1, 2, 7, 8], 3)
        assert report.tree(campaign, most=0).left_out == 7


def test_a_campaign_without_records_has_no_tree(tmp_path: Path) -> None:
    """And nothing is left out."""
    with Written(tmp_path).campaign as campaign:
        assert report.tree(campaign) == report.LineageTree((), 0)
