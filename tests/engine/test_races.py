"""Cases in a campaign: what a child is compared with, what a gate asks for, and what is counted."""

import dataclasses

import pytest
from loop_fakes import FakeExecutor, near_seven

from evolve.engine.dispatcher import Jobs
from evolve.engine.scheduler import check_action
from evolve.evaluation import Report
from evolve.types import Case, Description, Evaluation, Outcome, Propose, Selection, text_id

CASES = tuple(Case(f"c{number}") for number in range(4))


@pytest.fixture
def task(circle_task):
    """A task with four cases."""
    return dataclasses.replace(circle_task, cases=CASES)


def stop_worse(job):
    """Evaluates on all cases, but for a program that is worse than its parent: on one."""
    report = near_seven(job)
    fitness = report.evaluation.fitness
    if fitness is None:
        return report
    if job.rival and fitness < min(job.rival.values()):
        stopped = Evaluation.failed(Outcome.BELOW_THRESHOLD, text_id("worse"), cases={"c0": fitness})
        return Report(stopped, {text_id("worse"): "worse"})
    return dataclasses.replace(
        report, evaluation=dataclasses.replace(report.evaluation, cases={case.name: fitness for case in CASES})
    )


def test_a_child_is_compared_with_its_first_parent_on_each_case(bench, task):
    """And the seed, a measurement and a held-out case with nobody."""
    executor = FakeExecutor(stop_worse)
    with bench.create(task=task) as campaign:
        bench.run(campaign, executor)
        history = campaign.state.history
        rivals = {job.id.partition(".")[0]: job.rival for job in executor.jobs}
        proposals = [record for record in range(1, len(history) + 1) if history.operator(record)]
        compared = [record for record in proposals if history.outcome(record) is not Outcome.SCREENED]
        assert compared
        for record in compared:
            origin = history.record(record).origin
            assert rivals[str(origin.step)] == history.cases(origin.parents[0])
        assert rivals["0"] == {}


def test_what_stopping_saves_is_counted(bench, task):
    """Cases that a stopped program did not come to; all others are the cases that were evaluated."""
    with bench.create(task=task) as campaign:
        bench.run(campaign, FakeExecutor(stop_worse))
        history, progress = campaign.state.history, campaign.state.progress
        outcomes = [history.outcome(record) for record in range(1, len(history) + 1)]
        stopped, passed = outcomes.count(Outcome.BELOW_THRESHOLD), outcomes.count(Outcome.OK)
        assert stopped > 0
        assert progress.evaluations == stopped + passed
        assert (progress.cases, progress.saved_cases) == (stopped + 4 * passed, 3 * stopped)


def test_no_child_is_compared_where_the_campaign_does_not_race(bench, task):
    """Then every program is evaluated on all cases."""
    executor = FakeExecutor(stop_worse)
    with bench.create("race=false", task=task) as campaign:
        bench.run(campaign, executor)
        assert {len(job.rival) for job in executor.jobs} == {0}
        assert campaign.state.progress.saved_cases == 0


def test_a_gate_names_cases_of_the_task(bench, task):
    """Another name is the strategy's mistake, before anything is logged."""
    with bench.create(task=task) as campaign:
        bench.run(campaign, FakeExecutor(stop_worse))
        selection = Selection(campaign.operator_names[0], parents=(1,))
        assert check_action(campaign, Propose(selection, gate=("c1",))).gate == ("c1",)
        with pytest.raises(ValueError, match="for case 'c9', wanted one of 'c0', 'c1', 'c2', 'c3'"):
            check_action(campaign, Propose(selection, gate=("c9",)))


def test_a_gate_compares_on_its_own_cases_alone_where_the_campaign_does_not_race(bench, task):
    """On the others nothing is stopped."""
    with bench.create("race=false", task=task) as campaign:
        bench.run(campaign, FakeExecutor(stop_worse))
        jobs = Jobs(campaign, Description())
        assert jobs._find_rival((1,), ("c1", "c3")).keys() == {"c1", "c3"}
        assert jobs._find_rival((1,), ()) == {}
