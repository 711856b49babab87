"""Outages of the machine: retries, the seed as a canary, and the end of a run in which nothing but failures happens."""

import dataclasses
import itertools

import pytest
from loop_fakes import FakeExecutor, Seen, near_seven, number_of
from model_fakes import FakeModel, members, with_operators

from evolve.cli.summary import failure_of
from evolve.engine import loop, outage, run
from evolve.engine.outage import CANARY, IN_A_ROW, PASSES, Outage, may_retry
from evolve.engine.scheduler import BudgetWatch, Scheduler
from evolve.evaluation import Report
from evolve.types import (
    NOBODYS_FAULT,
    Evaluation,
    Measure,
    Origin,
    Outcome,
    ProgramId,
    SandboxError,
    Settled,
    TaskError,
    text_id,
)

SEED = ProgramId("seed")
PROGRAM = Origin("proposal", 1)
SEED_AGAIN = Origin("measurement", 1, case=CANARY)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def start_outage(wait_seconds=60.0, seed=SEED):
    """Returns an outage that is suspected, with its clock."""
    clock = Clock()
    failures = Outage(seed, wait_seconds, clock)
    for _ in range(IN_A_ROW):
        assert not failures.is_suspected
        failures.record(PROGRAM, Outcome.INTERNAL)
    return failures, clock


@pytest.mark.parametrize(
    ("origin", "tries", "again"),
    [
        (PROGRAM, 0, True),
        (PROGRAM, 1, False),
        (Origin("measurement", 1), 0, True),
        (Origin("seed", 0), 0, True),
        (SEED_AGAIN, 0, False),
    ],
)
def test_a_job_that_the_machinery_failed_is_tried_once_more(origin, tries, again):
    """A canary is not: it comes again anyhow."""
    assert may_retry(origin, tries) is again


def test_after_failures_in_a_row_one_canary_is_asked_for():
    """No second one before the first has ended."""
    failures, _ = start_outage()
    assert failures.is_suspected
    assert failures.canary(1) == Measure(1, SEED, why="evaluations that fail", case=CANARY)
    assert failures.canary(1) is None


def test_another_outcome_in_between_ends_the_row():
    """Two failures and two more are none in a row."""
    failures = Outage(SEED, 60.0, Clock())
    for outcome in (Outcome.INTERNAL, Outcome.INTERNAL, Outcome.CRASHED, Outcome.INTERNAL, Outcome.INTERNAL):
        failures.record(PROGRAM, outcome)
    assert not failures.is_suspected


def test_while_the_seed_fails_the_canaries_come_less_and_less_often():
    """Twice as late each time, and at least once a minute."""
    failures, clock = start_outage(wait_seconds=1e9)
    for seconds in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0):
        assert failures.canary(1) is not None
        failures.record(SEED_AGAIN, Outcome.INTERNAL)
        clock.now += seconds - 0.5
        assert failures.canary(1) is None
        clock.now += 0.5
    assert failures.verdict == ""


def test_the_run_ends_when_the_seed_has_failed_for_too_long():
    """Counted from the first canary that failed, and never while another one may still pass."""
    failures, clock = start_outage(wait_seconds=60.0)
    for seconds, ends in ((0.0, False), (58.0, False), (2.0, True)):
        clock.now += seconds
        failures.canary(1)
        assert failures.verdict == ""
        failures.record(SEED_AGAIN, Outcome.INTERNAL)
        assert bool(failures.verdict) is ends
    assert "fails on the seed too" in failures.verdict


@pytest.mark.parametrize("passed", [SEED_AGAIN, PROGRAM])
def test_an_evaluation_that_passes_ends_the_outage(passed):
    """The next outage begins anew, with all its time and the shortest wait."""
    failures, clock = start_outage(wait_seconds=60.0)
    failures.canary(1)
    failures.record(SEED_AGAIN, Outcome.INTERNAL)
    clock.now += 50.0
    failures.canary(1)
    failures.record(passed, Outcome.OK)
    assert (failures.is_suspected, failures.verdict) == (False, "")
    if passed is PROGRAM:
        failures.record(SEED_AGAIN, Outcome.INTERNAL)
    clock.now += 1000.0
    for _ in range(IN_A_ROW):
        failures.record(PROGRAM, Outcome.INTERNAL)
    assert failures.canary(1) is not None
    failures.record(SEED_AGAIN, Outcome.INTERNAL)
    assert failures.verdict == ""
    clock.now += 1.0
    assert failures.canary(1) is not None


@pytest.mark.parametrize("between", [None, Outcome.WRONG])
def test_the_run_ends_when_nothing_but_the_seed_can_be_evaluated(between):
    """Another program that is evaluated in between shows that the evaluator works."""
    failures, _ = start_outage()
    for turn in range(PASSES):
        assert failures.verdict == ""
        failures.canary(1)
        failures.record(SEED_AGAIN, Outcome.OK)
        if between and turn == 1:
            failures.record(PROGRAM, between)
        for _ in range(IN_A_ROW if turn < PASSES - 1 else 0):
            failures.record(PROGRAM, Outcome.INTERNAL)
    assert ("everything but the seed" in failures.verdict) is (between is None)


# --- in a campaign


def broken(text="the node is gone"):
    return Report(Evaluation.failed(Outcome.INTERNAL, text_id(text)), {text_id(text): text})


def records(campaign):
    """The settled records of the log."""
    return [found.event.record for found in campaign.log.events(only=Settled)]


def test_a_judge_that_fails_now_and_then_costs_no_program_its_score(bench):
    """The jobs of every third step fail at first."""
    seen = {"0.0"}

    def judge(job):
        fails = job.id not in seen and int(job.id.partition(".")[0]) % 3 == 0
        seen.add(job.id)
        return broken() if fails else near_seven(job)

    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(judge))
        assert campaign.state.progress.programs == 30
        assert {record.evaluation.outcome for record in records(campaign)} <= {Outcome.OK, Outcome.SCREENED}


@pytest.mark.parametrize("load", [(6, {}), (22, {"fast": 0}), (22, {"fast": 20}), (0, {"fast": 20})])
@pytest.mark.parametrize("deterministic", [False, True])
def test_a_canary_waits_for_no_room(bench, load, deterministic):
    """Not for a model, and not for a worker."""
    with_operators(bench)
    models = {"members": [{"name": "fast", "kind": "fake", "concurrency": 16}]}
    with bench.create(models=models, operators={"names": ["writes"]}, deterministic=deterministic) as campaign:
        model = members(campaign, FakeModel())
        run(campaign, FakeExecutor(), Seen(), model)
        seed = campaign.task.seed.id
        scheduler = Scheduler(campaign, BudgetWatch(campaign), start_outage(seed=seed)[0], model)
        with campaign.log.transaction():
            (asked,) = scheduler.next_steps(*load)
            assert asked.action == Measure(campaign.state.seed_record, seed, why="evaluations that fail", case=CANARY)
            assert scheduler.next_steps(*load) == []


def test_a_campaign_waits_for_its_machine_and_goes_on(bench, monkeypatch):
    """Failures of the machinery are records that blame no program, and count for no budget of programs."""
    monkeypatch.setattr(outage, "_FIRST_WAIT", 0.001)
    monkeypatch.setattr(loop, "INTERVAL", 0.001)
    calls = itertools.count(1)

    def judge(job):
        return broken() if 5 < next(calls) < 25 else near_seven(job)

    with bench.create() as campaign:
        ending = bench.run(campaign, FakeExecutor(judge))
        assert (ending.reason, campaign.state.progress.programs) == ("budget", 30)
        canaries = [record.evaluation.outcome for record in records(campaign) if record.origin.case == CANARY]
        assert canaries[-1] is Outcome.OK
        assert Outcome.INTERNAL in canaries
        proposed = [record.evaluation.outcome for record in records(campaign) if record.origin.kind == "proposal"]
        assert Outcome.INTERNAL in proposed
        assert len([outcome for outcome in proposed if outcome not in NOBODYS_FAULT]) == 30
        assert campaign.state.archive.best.fitness > -2.0
    with bench.open(readonly=True) as campaign:
        assert campaign.state.difference is None


def test_what_would_fail_alike_is_not_tried_again(bench):
    """Such as an evaluator that hangs: another try would take as long."""
    retries = {}
    for retry in (True, False):
        executor = FakeExecutor(lambda job, retry=retry: dataclasses.replace(broken(), retry=retry))
        with bench.create(name=f"retry-{retry}") as campaign, pytest.raises(TaskError):
            bench.run(campaign, executor)
        retries[retry] = len(executor.jobs)
    assert retries == {True: 2, False: 1}


def test_an_outage_that_is_too_long_stops_the_campaign_with_the_last_error(bench, caplog):
    """At once where the settings allow no wait; that evaluations fail was said when it began."""

    def judge(job):
        return near_seven(job) if job.id == "0.0" else broken("no device")

    with (
        bench.create(outage={"wait_seconds": 0}) as campaign,
        pytest.raises(
            SandboxError, match=r"fails on the seed too, .*; the last failure: no device. Try: mend the evalu"
        ),
    ):
        bench.run(campaign, FakeExecutor(judge))
    assert "nothing but the seed is evaluated until it passes. The last one: no device" in caplog.text


def test_an_evaluator_that_fails_on_all_but_the_seed_stops_the_campaign(bench):
    """A run in which nothing could be evaluated never looks like one that succeeded."""

    def judge(job):
        return near_seven(job) if number_of(dict(job.files)) == 5.0 else broken("the evaluator raised KeyError: 'x'")

    with (
        bench.create() as campaign,
        pytest.raises(SandboxError, match=r"fails on everything but the seed, which passed 3 times .*: 'x'. Try: "),
    ):
        bench.run(campaign, FakeExecutor(judge))


def test_a_budget_in_time_ends_the_wait(bench):
    """So does an interrupt: the run has a reason to end."""

    def judge(job):
        return near_seven(job) if job.id == "0.0" else broken()

    with bench.create(budget=["1s"]) as campaign:
        ending = bench.run(campaign, FakeExecutor(judge))
        assert ending.reason == "budget"
        assert campaign.seconds < 10.0
        assert "evaluated no program in this run" in str(failure_of(campaign, ending))


def test_a_seed_that_the_machinery_failed_is_judged_again_by_the_next_run(bench):
    """Nothing was found out about it."""
    with bench.create() as campaign, pytest.raises(TaskError, match="fails its own evaluator: internal"):
        bench.run(campaign, FakeExecutor(lambda job: broken()))
    with bench.open() as campaign:
        assert bench.run(campaign).reason == "budget"
        assert campaign.state.archive.best.fitness > -2.0
    with bench.open(readonly=True) as campaign:
        assert campaign.state.difference is None
