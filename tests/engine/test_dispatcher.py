"""Jobs of steps: their limits, and their relative thresholds."""

import dataclasses
from dataclasses import replace

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, near_seven

from evolve.campaign.history import FEW
from evolve.engine import read_signatures, run
from evolve.evaluation import Job, Report
from evolve.types import Description, Evaluation, Outcome, Settled, Stage


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


SCREENING = Description(stages=("screen", "full"), hardware="fake", isolation="fake", tops={"screen": 0.5})


def screening(job):
    """The first stage finds the fitness; what is below the threshold that the job came with goes no further."""
    report = near_seven(job)
    found = report.evaluation.fitness
    if found < job.wanted.get("screen", -1e9):
        failed = Evaluation.failed(Outcome.BELOW_THRESHOLD, "", stage="screen", passed={"screen": found})
        return dataclasses.replace(report, evaluation=failed, texts={})
    return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, passed={"screen": found}))


def test_the_threshold_is_the_share_of_what_had_settled_when_the_program_was_asked_for(bench: Workbench, circle_task):
    """With few values everything passes; a step that runs again hands over the same number."""
    task = dataclasses.replace(circle_task, stages=(Stage("screen", top=0.5), Stage("full")))
    executor = FakeExecutor(screening, description=SCREENING)
    with bench.create(task=task, budget=["120programs"]) as campaign:
        run(campaign, executor, Seen())
        history = campaign.state.history
        proposals = [event.record for event in campaign_settled(campaign) if event.record.origin.kind == "proposal"]
        assert Outcome.BELOW_THRESHOLD in {record.evaluation.outcome for record in proposals}
        jobs = {job.id: job for job in executor.jobs}
        first = [jobs[f"{record.origin.step}.0"] for record in proposals if record.evaluation.passed][:FEW]
        assert [job.wanted for job in first] == [{}] * FEW
        last = proposals[-1]
        after = next(
            stamped.event.after
            for stamped in campaign.log.events()
            if getattr(stamped.event, "step", 0) == last.origin.step and hasattr(stamped.event, "after")
        )
        past = campaign.state.past(after)
        assert jobs[f"{last.origin.step}.0"].wanted == {"screen": past.least_of_top("screen", 0.5)}
        values = [record.evaluation.passed["screen"] for record in proposals if record.id <= len(history)]
        reached = [value for value in values if value >= history.least_of_top("screen", 0.5)]
        assert len(reached) / len(values) >= 0.5


def campaign_settled(campaign):
    """All settled events."""
    return [found.event for found in campaign.log.events(only=Settled)]


def test_a_measurement_passes_no_relative_threshold(bench: Workbench, circle_task):
    """It is known to be worth it."""
    task = dataclasses.replace(circle_task, deterministic=False, stages=(Stage("screen", top=0.5), Stage("full")))
    executor = FakeExecutor(screening, description=SCREENING)
    with bench.create(task=task, budget=["40programs"]) as campaign:
        run(campaign, executor, Seen())
        measured = {
            f"{event.record.origin.step}.0"
            for event in campaign_settled(campaign)
            if event.record.origin.kind == "measurement"
        }
    assert measured
    assert [job.wanted for job in executor.jobs if job.id in measured] == [{}] * len(measured)
