"""What is known of a program's early stages is used again where a task is deterministic: they do not run twice."""

import dataclasses

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, near_seven, number_of

from evolve.engine import run
from evolve.evaluation import Description
from evolve.types import Evaluation, Outcome, Settled, Stage, text_id

JUDGES = Description(stages=("screen", "full"), hardware="fake", isolation="fake")
SEED = 5.0


def cascading(outcome, seconds=0.5):
    """The second stage is never reached but by the seed: all else ends there with an outcome, after the first stage found its fitness."""

    def judge(job):
        report = near_seven(job)
        passed = {"screen": report.evaluation.fitness}
        changes = {"passed": passed, "seconds": seconds, "stage": "full"}
        if number_of(dict(job.files)) != SEED and outcome is not Outcome.OK:
            failed = Evaluation.failed(outcome, text_id("late"), **changes)
            return dataclasses.replace(report, evaluation=failed, texts={text_id("late"): "late"})
        return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, **changes))

    return judge


@pytest.fixture
def task(circle_task):
    """Two stages."""
    return dataclasses.replace(circle_task, stages=(Stage("screen"), Stage("full")))


def searched(bench: Workbench, task, name, executor, judges=JUDGES, **values):
    """A campaign that proposes the same each time; its records."""
    with bench.create(name=name, task=task, strategy={"name": "best_of_n"}, **values) as campaign:
        run(campaign, executor, judges, Seen())
        return [found.event.record for found in campaign.log.events(only=Settled)]


def fitness_of(job):
    return near_seven(job).evaluation.fitness


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.BELOW_THRESHOLD])
def test_a_program_that_passed_the_first_stage_before_is_told_so_when_it_is_judged_again(bench, task, outcome):
    """What it came to later is tried again; nothing of the whole is taken over."""
    first, second = FakeExecutor(cascading(outcome)), FakeExecutor(cascading(outcome))
    searched(bench, task, "one", first)
    records = searched(bench, task, "two", second)
    proposed = [job for job in second.jobs if number_of(dict(job.files)) != SEED]
    assert len(proposed) >= 20
    assert all(job.passed == {} for job in first.jobs)
    assert [job.passed for job in proposed] == [{"screen": fitness_of(job)} for job in proposed]
    assert {record.evaluation.cached_from for record in records} == {""}


@pytest.mark.parametrize("changes", [{"cache": False}, {"seconds": 0.001}, {"deterministic": False}])
def test_nothing_is_told_where_nothing_may_be_kept_or_it_is_not_worth_it(bench, task, changes):
    """A noisy task's stage may find something else the next time."""
    judge = cascading(Outcome.TIMED_OUT, changes.get("seconds", 0.5))
    chosen = dataclasses.replace(task, deterministic=changes.get("deterministic", True))
    values = {"cache": changes.get("cache", True)}
    searched(bench, chosen, "one", FakeExecutor(judge), **values)
    second = FakeExecutor(judge)
    searched(bench, chosen, "two", second, **values)
    assert [job.passed for job in second.jobs] == [{}] * len(second.jobs)


def test_a_judging_that_the_machinery_failed_goes_on_where_it_was(bench, task):
    """The stages that had passed do not run again."""
    seen = []

    def judge(job):
        seen.append((job.id, job.passed))
        failed = len(seen) == 4
        return cascading(Outcome.INTERNAL if failed else Outcome.OK)(job)

    searched(bench, task, "one", FakeExecutor(judge))
    ours, again = seen[3], [entry for entry in seen[4:] if entry[0] == seen[3][0]]
    assert (ours[1], len(again)) == ({}, 1)
    assert set(again[0][1]) == {"screen"}


def test_whole_results_are_taken_over_below_no_relative_threshold_of_today(bench, task):
    """What was good enough to go on then may not be now, and then it is judged; the other way round it has gone as far as it would now."""
    judges = dataclasses.replace(JUDGES, tops={"screen": 0.3})
    chosen = dataclasses.replace(task, stages=(Stage("screen", top=0.3), Stage("full")))
    first, second = FakeExecutor(cascading(Outcome.OK)), FakeExecutor(cascading(Outcome.OK))
    searched(bench, chosen, "one", first, judges)
    records = searched(bench, chosen, "two", second, judges)
    kept = [record for record in records if record.evaluation.cached_from]
    assert kept
    assert any(job.wanted for job in first.jobs)
    judged_again = [job for job in second.jobs if number_of(dict(job.files)) != SEED]
    assert judged_again
    assert all(fitness_of(job) < job.wanted["screen"] for job in judged_again)
    assert len(judged_again) + len(kept) + 1 == len(records)
