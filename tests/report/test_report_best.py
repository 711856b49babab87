"""The best program against the seed and the anchors."""

from dataclasses import replace

import pytest

from evolve import report
from evolve.types import Fitness
from tests.written import Written, number_task, short_campaign


def test_an_unbegun_campaign_has_no_best(tmp_path):
    """None, not a zero."""
    with Written(tmp_path).campaign as campaign:
        assert report.best(campaign) is None


def test_the_best_is_compared_with_the_seed_and_the_anchors(tmp_path):
    """The gain is best minus seed; an anchor that the best is no worse than is reached."""
    with short_campaign(tmp_path) as campaign:
        best = report.best(campaign)
        assert report.certificate(campaign, best.record) == ""
    assert (best.name, best.fitness, best.seed, best.gain, best.improved) == ("number/6", 6.5, 5.0, 1.5, True)
    assert [(anchor.by, anchor.difference, anchor.reached) for anchor in best.anchors] == [
        ("Early", 3.5, True),
        ("Later", -1.5, False),
    ]
    assert not best.certified
    # `print(campaign.best)` in Python is one short line.
    assert repr(best) == "<Best number/6: 6.5, +1.5 to the seed>"


def test_a_seed_that_nothing_beats_is_no_improvement(tmp_path):
    """The seed itself is the best then."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(4.0)
    with written.campaign as campaign:
        best = report.best(campaign)
    assert (best.name, best.gain, best.improved) == ("number/1", 0.0, False)
    assert repr(replace(best, standard_error=0.01, measurements=4)) == (
        "<Best number/1: 5 +- 0.01 of 4 measurements, no better than the seed>"
    )


def test_a_task_that_minimises_is_told_in_its_own_direction(tmp_path):
    """A better fitness is smaller, so the gain is negative and the lower anchor is harder."""
    written = Written(tmp_path, number_task(fitness=Fitness("error", "min", 6)))
    written.seed(5.0)
    written.proposal(4.0)
    with written.campaign as campaign:
        best = report.best(campaign)
    assert (best.fitness, best.seed, best.gain, best.improved) == (4.0, 5.0, -1.0, True)
    assert [(anchor.by, anchor.reached) for anchor in best.anchors] == [("Later", True), ("Early", False)]


def test_a_certified_best_names_the_record_that_proves_it(tmp_path):
    """The certificate is a measurement, a record of its own."""
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed(5.0)
    written.certificate(1, 5.0)
    with written.campaign as campaign:
        best = report.best(campaign)
        assert (best.name, best.certified) == ("number/1", True)
        assert report.certificate(campaign, best.record) == "number/2"


@pytest.mark.parametrize(
    ("fitness", "expected"),
    [(2.0, ["Early"]), (3.0, ["Early", "Later"]), (5.0, ["Early", "Later"]), (9.0, ["Later"])],
)
def test_the_nearest_anchors_are_one_on_each_side(fitness, expected):
    """The hardest that is reached, the easiest that is not."""
    gaps = report.anchor_gaps(number_task(), fitness)
    assert expected == [anchor.by for anchor in report.nearest(gaps)]


def test_a_task_without_anchors_has_no_nearest():
    """Nothing is made up."""
    assert report.nearest(report.anchor_gaps(number_task(anchors=()), 1.0)) == ()
