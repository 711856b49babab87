"""Jobs for the evaluation workers."""

from dataclasses import replace

import pytest
from loop_fakes import FakeExecutor, Workbench, near_seven

from evolve.engine import read_signatures
from evolve.evaluation import Job, Report
from evolve.types import Evaluation, Outcome


def timed_out(job: Job) -> Report:
    """Children time out where they are given less than their stage's time; the seed took 40 ms."""
    report = near_seven(job)
    if not job.limit:
        return replace(report, evaluation=replace(report.evaluation, seconds=0.04))
    return Report(Evaluation.failed(Outcome.TIMED_OUT, "", limit=job.limit))


@pytest.mark.parametrize(("seconds", "limit"), [(0.002, 1.0), (0.25, 5.0)])
def test_children_without_a_model_get_time_in_proportion_to_the_seeds(
    bench: Workbench, seconds: float, limit: float
) -> None:
    """And at least a second; the seed has all the time of its stage."""

    def judge(job: Job) -> Report:
        report = near_seven(job)
        return replace(report, evaluation=replace(report.evaluation, seconds=seconds))

    executor = FakeExecutor(judge)
    with bench.create(budget=["3programs"]) as campaign:
        bench.run(campaign, executor)
    assert [job.limit for job in executor.jobs] == [0.0, limit, limit, limit]


def test_where_two_runs_must_agree_seconds_limit_nothing(bench: Workbench) -> None:
    executor = FakeExecutor()
    with bench.create(budget=["3programs"], deterministic=True) as campaign:
        bench.run(campaign, executor)
    assert {job.limit for job in executor.jobs} == {0.0}


def test_a_program_that_ran_out_of_less_time_may_be_proposed_again(bench: Workbench) -> None:
    """In the same run and in later ones; neither a repair nor a duplicate rests on it, and a replay knows it."""
    with bench.create(budget=["4programs"]) as campaign:
        bench.run(campaign, FakeExecutor(timed_out))
        hurried, seed = set(campaign.state.hurried), campaign.task.seed.id
        assert hurried == {program for program in campaign.state.columns.programs if program} - {seed}
        assert list(campaign.state.columns.failed) == []
        assert set(read_signatures(campaign).values()) == {seed}
    with bench.open() as campaign:
        assert campaign.state.hurried == hurried
        assert campaign.log.settled(2).record.evaluation.limit == 1.0
