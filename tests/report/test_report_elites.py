"""The programs that hold places."""

from evolve import report
from tests.written import Written, short_campaign


def test_elites_come_best_first_and_each_once(tmp_path):
    """The seed enters every island, and is one line all the same."""
    with short_campaign(tmp_path) as campaign:
        lines = report.elites(campaign)
    assert lines[0].name == "number/6"
    assert [True, *[False] * (len(lines) - 1)] == [line.best for line in lines]
    assert sorted((line.fitness for line in lines), reverse=True) == [line.fitness for line in lines]
    seed = next(line for line in lines if line.record == 1)
    assert (0, 1, 2, 3)[-len(seed.islands) :] == seed.islands
    assert (seed.operator, seed.descriptors) == ("", {"size": 5.0})


def test_a_limit_keeps_the_best(tmp_path):
    """The first lines."""
    with short_campaign(tmp_path) as campaign:
        assert [line.name for line in report.elites(campaign, 1)] == ["number/6"]


def test_a_fresh_campaign_has_no_elites(tmp_path):
    """Nothing has settled."""
    with Written(tmp_path).campaign as campaign:
        assert report.elites(campaign) == ()
