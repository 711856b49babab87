"""Stages that let only the best of what they have seen go on."""

import dataclasses

from loop_fakes import FakeExecutor, Seen, Workbench, near_seven

from evolve.campaign.history import FEW
from evolve.engine import run
from evolve.types import Description, Evaluation, Outcome, Settled, Stage

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
    with bench.create(task=task, budget=["60programs"]) as campaign:
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
