"""A campaign that goes on on a machine of another hardware class: what was measured on one is never compared with what was measured on the other."""

import dataclasses

from loop_fakes import FakeExecutor, Seen, near_seven

from evolve.engine import run
from evolve.evaluation import Report
from evolve.types import Case, Description, MachineMeasured, Settled, Stage

HERE = Description(stages=("evaluate",), hardware="fake", isolation="fake")
THERE = dataclasses.replace(HERE, hardware="a faster one")


def on(description, speed):
    """A run on a machine where every program is worth `speed` more."""

    def judge(job):
        report = near_seven(job)
        return Report(dataclasses.replace(report.evaluation, fitness=report.evaluation.fitness + speed), report.texts)

    executor = FakeExecutor(judge, description=description)
    return lambda campaign: run(campaign, executor, Seen())


def arrive_elsewhere(campaign):
    """A run begins on another machine, and does nothing yet."""
    with campaign.log.transaction():
        campaign.write(MachineMeasured("another", None, "fake"))


def settled(campaign):
    return [found.event.record for found in campaign.log.events(only=Settled)]


def test_what_is_reported_of_the_best_was_measured_on_the_present_machine(bench, circle_task):
    """Although it was the best before, and nothing better comes; a replay says the same."""
    task = dataclasses.replace(circle_task, deterministic=False)
    with bench.create("confirm.share=0.5", task=task) as campaign:
        on(HERE, 0.0)(campaign)
        before = campaign.state.archive.best.reported.mean
    with bench.open() as campaign:
        campaign.change({"budget": ["80programs"]})
        on(THERE, 1000.0)(campaign)
        assert before <= 0.0
        assert campaign.state.archive.best.reported.mean > 900.0
        assert campaign.state.archive.best.estimate.mean > 900.0
        state = campaign.state.archive.state()
    with bench.open() as campaign:
        assert campaign.state.difference is None
        assert campaign.state.archive.state() == state


def test_held_out_cases_compare_a_program_with_the_seed_on_one_machine(bench, circle_task):
    """Both are evaluated again there, once each."""
    task = dataclasses.replace(circle_task, deterministic=False, held_out=(Case("wide", {}),))
    with bench.create("confirm.share=0.5", task=task) as campaign:
        on(HERE, 0.0)(campaign)
    with bench.open() as campaign:
        length = len(campaign.state.history)
        campaign.change({"budget": ["60programs"]})
        on(THERE, 1000.0)(campaign)
        again = [record.program for record in settled(campaign)[length:] if record.origin.case]
        assert again[0] == task.seed.id
        assert len(again) == len(set(again))
        best = campaign.state.archive.best
        results = campaign.state.cases.results(best.program)
        assert results
        assert all(result.seed is not None and result.seed > 900.0 for result in results)


def test_relative_thresholds_count_what_was_found_on_the_present_machine(bench, circle_task):
    """Until that is enough, everything goes on."""
    task = dataclasses.replace(circle_task, deterministic=False, stages=(Stage("screen", top=0.5), Stage("full")))
    here = dataclasses.replace(HERE, stages=("screen", "full"), tops={"screen": 0.5})

    def passing(job):
        report = near_seven(job)
        found = dataclasses.replace(report.evaluation, passed={"screen": report.evaluation.fitness})
        return dataclasses.replace(report, evaluation=found)

    with bench.create(task=task, budget=["80programs"]) as campaign:
        run(campaign, FakeExecutor(passing, description=here), Seen())
        assert campaign.state.history.least_of_top("screen", 0.5) is not None
    with bench.open() as campaign:
        arrive_elsewhere(campaign)
        assert campaign.state.history.least_of_top("screen", 0.5) is None


def test_a_deterministic_task_is_the_same_everywhere(bench, circle_task):
    """Equal programs have equal scores: nothing is evaluated again."""
    task = dataclasses.replace(circle_task, held_out=(Case("wide", {}),))
    with bench.create("confirm.share=0.5", task=task) as campaign:
        on(HERE, 0.0)(campaign)
        best = campaign.state.archive.best
    with bench.open() as campaign:
        arrive_elsewhere(campaign)
        assert campaign.state.archive.best == best
        assert campaign.state.cases.results(best.program)
