"""Objectives, the front and constraints, in the user's direction."""

import pytest

from evolve import report
from tests.written import Written, aimed, aiming_campaign, aiming_task, short_campaign


@pytest.fixture
def campaign(tmp_path):
    """Six records on a task with two objectives and a constraint."""
    with aiming_campaign(tmp_path) as campaign:
        yield campaign


def test_the_front_is_told_with_the_seeds_values_as_its_reference(campaign):
    """What is covered beyond length 1 and seconds 10, as steps: 2 * 1, then 1 * 1, then 0.5 * 3."""
    line = report.front_line(campaign)
    assert line == report.FrontLine(3, 2.0 * 1 + 1.0 * 1 + 0.5 * 3, {"length": 1.0, "seconds": 10.0})
    assert report.overview(campaign).front == line


def test_the_front_is_listed_with_each_objective(campaign):
    """The best in the first objective first; the cheat is not on it, and the dominated one neither."""
    lines = report.front(campaign)
    assert [line.record for line in lines] == [3, 2, 4]
    assert lines[0].objectives == (
        report.ObjectiveLine("length", 3.0, "max", 4),
        report.ObjectiveLine("seconds", 9.0, "min", 3),
    )
    assert [line.record for line in report.front(campaign, 1)] == [3]


def test_the_best_meets_the_constraints_and_has_its_objectives(campaign):
    """Although another program has a larger fitness."""
    best = report.best(campaign)
    assert (best.record, best.fitness, best.improved) == (2, 7.0, True)
    assert [(line.name, line.value) for line in best.objectives] == [("length", 2.0), ("seconds", 8.0)]
    assert report.closest(campaign) is None


def test_a_program_that_misses_a_constraint_comes_last_of_those_that_passed(campaign):
    """In the list of records, and of elites."""
    assert [line.id for line in report.page(campaign, report.Wanted()).lines] == [2, 3, 4, 5, 1, 6]
    assert [line.violation for line in report.page(campaign, report.Wanted()).lines][-1] == 0.5
    assert report.page(campaign, report.Wanted()).lines[0].objectives == {"length": 2.0, "seconds": 8.0}
    assert report.elites(campaign)[-1].violation == 0.5


def test_an_improvement_is_no_larger_fitness_that_misses_a_constraint(campaign):
    """So the operator's yield does not count it."""
    assert [line.improved for line in report.Tally.of(campaign.state.history).yields()] == [4]


def test_while_none_meets_the_constraints_the_closest_is_named(tmp_path):
    """With what it misses; the best that comes then is an improvement, whatever its fitness."""
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1.0, 10.0, 400.0))
    written.proposal(9.0, **aimed(2.0, 8.0, 300.0))
    missed = report.MissedLine("memory", 300.0, None, 200.0, 0.5)
    assert report.closest(written.campaign) == report.Closest("number/2", 2, 0.5, (missed,))
    assert report.best(written.campaign) is None
    written.proposal(1.0, **aimed(2.0, 8.0))
    with written.campaign as campaign:
        assert report.closest(campaign) is None
        assert report.best(campaign).improved


def test_before_anything_has_passed_nobody_is_close(tmp_path):
    """Nor is there a hypervolume."""
    with Written(tmp_path, aiming_task()).campaign as campaign:
        assert report.closest(campaign) is None
        assert report.front_line(campaign) == report.FrontLine(0, None, None)


def test_a_task_without_objectives_has_no_front(tmp_path):
    """None, not an empty one."""
    with short_campaign(tmp_path) as campaign:
        assert report.front_line(campaign) is None
        assert report.front(campaign) == ()
