"""Failures that make going on useless, and what is kept of the turn that found them."""

import dataclasses
import itertools

import pytest
from loop_fakes import FakeExecutor, near_seven

from evolve.engine.recorder import _find_cause
from evolve.evaluation import Report
from evolve.types import Evaluation, Outcome, Ruled, SandboxError, Settled, TaskError, text_id


def settled(campaign):
    """The settled records of the log."""
    return [found.event.record for found in campaign.log.events(only=Settled)]


def test_a_judge_that_breaks_does_not_lose_what_had_settled_in_the_same_turn(bench):
    """Two jobs are done at once; the second one has no result, and runs again."""
    calls = itertools.count(1)

    def judge(job):
        if next(calls) == 3:
            raise SandboxError("the judge is gone. Try: start it again")
        return near_seven(job)

    campaign = bench.create()
    with campaign, pytest.raises(SandboxError, match="the judge is gone"):
        bench.run(campaign, FakeExecutor(judge, hold=1))
    with bench.open() as campaign:
        assert [record.origin.kind for record in settled(campaign)][:2] == ["seed", "proposal"]
        bench.run(campaign)
        assert campaign.state.progress.programs == 30


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.WRONG])
def test_a_seed_that_fails_when_it_is_measured_again_is_the_tasks_error(bench, circle_task, outcome):
    """The noise floor would never be known, and the campaign would measure for ever."""
    calls = itertools.count(1)

    def judge(job):
        report = Report(Evaluation.failed(outcome, text_id("unlucky")), {text_id("unlucky"): "unlucky"})
        return near_seven(job) if next(calls) < 3 else report

    campaign = bench.create(task=dataclasses.replace(circle_task, deterministic=False))
    message = f"the seed of task 'one_number' fails its own evaluator at measurement 3 of 5: {outcome}. unlucky"
    with campaign, pytest.raises(TaskError, match=message):
        bench.run(campaign, FakeExecutor(judge))


def test_a_judge_that_fails_while_the_noise_is_measured_does_not_stop_a_campaign(bench, circle_task):
    """A failure of ours says nothing about the seed: it is measured once more."""

    def judge(job):
        report = Report(Evaluation.failed(Outcome.INTERNAL, text_id("ours")), {text_id("ours"): "ours"})
        return report if job.id == "2.0" else near_seven(job)

    with bench.create(task=dataclasses.replace(circle_task, deterministic=False)) as campaign:
        assert bench.run(campaign, FakeExecutor(judge)).reason == "budget"
        assert Outcome.INTERNAL in [record.evaluation.outcome for record in settled(campaign)]


def test_a_seed_that_cannot_be_certified_is_the_tasks_error(bench, circle_task):
    """A campaign in which nothing can ever be the best must not look like one that found nothing."""

    def judge(job):
        if job.kind != "certify":
            return near_seven(job)
        text = "the evaluator raised ValueError: boom"
        failed = Evaluation.failed(Outcome.INTERNAL, text_id(text), stage="certify")
        return Report(failed, {text_id(text): text})

    task = dataclasses.replace(circle_task, promotion="certificate")
    with bench.create(task=task) as campaign, pytest.raises(TaskError, match=r"cannot be certified: internal: .* boom"):
        bench.run(campaign, FakeExecutor(judge))


def deep(job) -> Report:
    """As `near_seven`, with a metric."""
    report = near_seven(job)
    return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, metrics={"depth": 0.3}))


def test_axes_of_the_settings_take_a_metric_of_their_name(bench):
    """Every program has the same, so that there is one cell."""
    with bench.create('archive.axes=[{name="depth", low=0, high=1, bins=4}]') as campaign:
        bench.run(campaign, FakeExecutor(deep))
        assert campaign.state.archive.best.descriptors == {"depth": 0.3}
        assert campaign.state.archive.stats().cells == 1
        assert set(campaign.log.settled(2).record.evaluation.descriptors) == {"size", "depth"}


def test_a_program_without_a_number_for_an_axis_is_invalid(bench):
    """And a seed without one is the task's error."""

    def sometimes(job):
        return deep(job) if job.id in ("0.0", "1.0") else near_seven(job)

    with bench.create('archive.axes=[{name="depth", low=0, high=1, bins=4}]') as campaign:
        bench.run(campaign, FakeExecutor(sometimes))
        failed = [
            one for number in range(3, 32) if (one := campaign.log.settled(number).record).evaluation.fitness is None
        ]
        assert {record.evaluation.outcome for record in failed} == {Outcome.INVALID}
        assert (
            campaign.log.text(failed[0].evaluation.feedback) == "neither a descriptor nor a metric for the axis 'depth'"
        )
    with (
        bench.create('archive.axes=[{name="depth", low=0, high=1, bins=4}]', name="other") as campaign,
        pytest.raises(TaskError, match="fails its own evaluator: invalid: neither a descriptor nor a metric"),
    ):
        bench.run(campaign)


def test_axes_of_the_settings_may_be_the_default_ones(bench):
    """Read from the text of every program."""
    with bench.create('archive.axes=[{name="size_log2", low=0, high=8, bins=8}]') as campaign:
        bench.run(campaign)
        assert set(campaign.state.archive.best.descriptors) == {"size_log2"}
        assert campaign.state.progress.programs == 30


def test_a_record_that_has_just_settled_is_known_as_the_log_has_it(bench):
    """With what it maps in the same order: prompts before and after a crash tell the same of it."""

    def judge(job):
        numbers = {"zeta": 1.0, "alpha": 2.0, "whole": 3}
        words = Report(Evaluation.failed(Outcome.WRONG, text_id("no")), {text_id("no"): "no"})
        good = near_seven(job).evaluation
        found = dataclasses.replace(
            good, metrics=numbers, descriptors={"b": 0.0, "a": -0.0, **good.descriptors}, standard_error=0.5
        )
        return words if job.id.startswith("5.") else dataclasses.replace(near_seven(job), evaluation=found)

    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(judge))
        reader, count = campaign.state.reader, len(campaign.state.history)
        kept = [repr(reader.settled(number)) for number in range(1, count + 1)]
        stored = [repr(campaign.log.settled(number)) for number in range(1, count + 1)]
    assert kept == stored
    assert "'zeta': 1.0" in kept[-1]


def tagging(*jobs, outcome=Outcome.OK):
    """A judge that tags what it judges in these jobs."""

    def judge(job):
        report = near_seven(job)
        if job.id not in jobs:
            return report
        if outcome is Outcome.OK:
            return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, tag="late write"))
        return Report(Evaluation.failed(outcome, text_id("no"), tag="late write"), {text_id("no"): "no"})

    return FakeExecutor(judge)


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.WRONG])
def test_a_tagged_program_is_quarantined_and_its_evaluation_keeps_its_outcome(bench, outcome):
    """A success, too: it is never the best, and a replay knows it as well."""
    with bench.create() as campaign:
        bench.run(campaign, tagging("3.0", outcome=outcome))
        (ruling,) = [found.event for found in campaign.log.events(only=Ruled)]
        assert (ruling.what, ruling.by, ruling.why) == ("quarantine", "integrity", "late write")
        (record,) = [one for one in settled(campaign) if one.evaluation.tag]
        assert (record.program, record.evaluation.outcome) == (ruling.about, outcome)
        assert campaign.state.archive.best.program != ruling.about
    with bench.open(readonly=True) as campaign:
        assert campaign.state.difference is None
        assert set(campaign.state.quarantined) == {ruling.about}


def test_a_failure_of_ours_quarantines_nothing(bench):
    """It says nothing about the program that was evaluated."""
    with bench.create() as campaign:
        bench.run(campaign, tagging("3.0", outcome=Outcome.INTERNAL))
        assert list(campaign.log.events(only=Ruled)) == []


def test_a_seed_that_its_own_evaluator_tags_is_the_tasks_error(bench):
    """It is the evaluator's example of an honest program; without it there would be no parent."""
    message = "the evaluator of task 'one_number' tags its own seed as 'late write'"
    with bench.create() as campaign, pytest.raises(TaskError, match=message):
        bench.run(campaign, tagging("0.0", "1.0"))
    with bench.open(readonly=True) as campaign:
        assert campaign.state.quarantined == {}


@pytest.mark.parametrize(
    ("feedback", "cause"),
    [
        (
            "cc failed with exit code 1:\na.c: In function 'f':\na.c:4:5: error: 'retrn' undeclared\n    4 | retrn\n      | ^",
            "a.c:4:5: error: 'retrn' undeclared",
        ),
        (
            'the evaluator raised ZeroDivisionError: no.\n\nTraceback:\n  File "/t/e.py", line 11, in evaluate\n    1 / 0',
            "the evaluator raised ZeroDivisionError: no (/t/e.py, line 11)",
        ),
        ("the answer is no list", "the answer is no list"),
        (
            "Case 'n=4': Traceback (most recent call last):\n  File \"seed.py\", line 3, in f\nZeroDivisionError: no.",
            "ZeroDivisionError: no (seed.py, line 3), on case 'n=4'",
        ),
        ('Case "a\'b": the answer is no list', 'the answer is no list, on case "a\'b"'),
    ],
)
def test_the_cause_of_a_failure_is_the_line_that_helps(feedback: str, cause: str) -> None:
    assert _find_cause(feedback) == cause
