"""Failures of the machinery: a program is never blamed for them, and a campaign waits for its judges as long as it makes sense."""

import itertools

import pytest
from loop_fakes import JUDGES, FakeExecutor, Seen, near_seven, number_of
from model_fakes import FakeModel, members, with_operators

from evolve.campaign.cases import CANARY
from evolve.engine import infrastructure, run
from evolve.engine.asking import Asking, Load
from evolve.engine.infrastructure import HOPELESS, IN_A_ROW, Infrastructure
from evolve.engine.jobs import Work
from evolve.evaluation import Job, Report
from evolve.types import (
    NOBODYS_FAULT,
    Evaluation,
    Measure,
    Origin,
    Outcome,
    Program,
    ProgramId,
    SandboxError,
    Settled,
    TaskError,
    text_id,
)

SEED = Program({"seed.py": ""})


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def work(kind="proposal", *, case="", tries=0):
    return Work(Origin(kind, 1, case=case), SEED, Job("1.0", "evaluate"), tries=tries)


def failing(patience=60.0):
    """A machinery that has just failed so often that it is in doubt, with its clock."""
    clock = Clock()
    machinery = Infrastructure(ProgramId("seed"), patience, clock)
    for _ in range(IN_A_ROW):
        assert not machinery.in_doubt
        machinery.record_outcome(work(), Outcome.INTERNAL)
    return machinery, clock


@pytest.mark.parametrize(
    ("tried", "again"),
    [
        (work(), True),
        (work(tries=1), False),
        (work("measurement"), True),
        (work("seed"), True),
        (work("measurement", case=CANARY), False),
    ],
)
def test_a_job_that_the_machinery_failed_is_tried_once_more(tried, again):
    """A canary is not: it comes again anyhow."""
    assert Infrastructure(ProgramId("seed"), 60.0, Clock()).may_retry(tried) is again


def test_after_failures_in_a_row_the_seed_is_judged_and_nothing_else():
    """One canary at a time."""
    machinery, _ = failing()
    assert machinery.in_doubt
    assert machinery.canary() == Measure(1, ProgramId("seed"), why="judges that fail", case=CANARY)
    assert machinery.canary() is None
    assert machinery.seconds_left is None


def test_a_success_in_between_ends_the_row():
    """Two failures and two more are none in a row."""
    machinery = Infrastructure(ProgramId("seed"), 60.0, Clock())
    for outcome in (Outcome.INTERNAL, Outcome.INTERNAL, Outcome.CRASHED, Outcome.INTERNAL, Outcome.INTERNAL):
        machinery.record_outcome(work(), outcome)
    assert not machinery.in_doubt


def test_while_the_seed_fails_too_the_canaries_come_less_and_less_often():
    """Twice as late each time, and at least once a minute."""
    machinery, clock = failing(patience=1e9)
    waited = []
    for _ in range(8):
        clock.now += machinery.seconds_left or 0.0
        assert machinery.canary() is not None
        machinery.record_outcome(work("measurement", case=CANARY), Outcome.INTERNAL)
        waited.append(machinery.seconds_left)
    assert waited == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    assert not machinery.hopeless


def test_it_is_hopeless_when_the_seed_has_failed_for_longer_than_is_patient():
    """Counted from the first canary that failed."""
    machinery, clock = failing(patience=60.0)
    for wait, hopeless in ((0.0, False), (59.0, False), (1.0, True)):
        clock.now += wait
        machinery.canary()
        machinery.record_outcome(work("measurement", case=CANARY), Outcome.INTERNAL)
        assert machinery.hopeless is hopeless


def test_a_canary_that_passes_lets_the_campaign_go_on():
    """The machine is well; it was the programs."""
    machinery, _ = failing()
    machinery.canary()
    machinery.record_outcome(work("measurement", case=CANARY), Outcome.OK)
    assert (machinery.in_doubt, machinery.hopeless, machinery.seconds_left) == (False, False, None)


def test_it_is_hopeless_when_nothing_but_the_seed_can_be_judged():
    """The evaluator fails on every program."""
    machinery, _ = failing()
    for turn in range(HOPELESS):
        assert not machinery.hopeless
        machinery.canary()
        machinery.record_outcome(work("measurement", case=CANARY), Outcome.OK)
        for _ in range(IN_A_ROW if turn < HOPELESS - 1 else 0):
            machinery.record_outcome(work(), Outcome.INTERNAL)
    assert machinery.hopeless


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


@pytest.mark.parametrize("load", [Load(6, {}), Load(22, {"fast": 0}), Load(22, {"fast": 20}), Load(0, {"fast": 20})])
@pytest.mark.parametrize("deterministic", [False, True])
def test_a_canary_waits_for_no_room(bench, load, deterministic):
    """Whether a model is free or not: the loop would look for it without a pause."""
    with_operators(bench)
    models = {"members": [{"name": "fast", "kind": "fake", "concurrency": 16}]}
    with bench.create(models=models, operators={"names": ["writes"]}, deterministic=deterministic) as campaign:
        run(campaign, FakeExecutor(), JUDGES, Seen(), members(campaign, FakeModel()))
        machinery, _ = failing()
        asking = Asking(campaign, machinery, members(campaign, FakeModel()))
        with campaign.log.transaction():
            (asked,) = asking.next_steps(load)
            assert asked.action == Measure(1, ProgramId("seed"), why="judges that fail", case=CANARY)
            assert machinery.seconds_left is None
            assert asking.next_steps(load) == []


def test_a_campaign_waits_for_its_judges_and_goes_on_when_they_are_back(bench, monkeypatch):
    """What failed meanwhile is a record that blames nobody, and takes nothing of a budget of programs."""
    monkeypatch.setattr(infrastructure, "_FIRST_WAIT", 0.01)
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


def test_judges_that_fail_for_too_long_stop_the_campaign_with_what_they_said(bench):
    """Here at once: nothing is waited for."""

    def judge(job):
        return near_seven(job) if job.id == "0.0" else broken("no device")

    with (
        bench.create("outage.wait_seconds=0") as campaign,
        pytest.raises(SandboxError, match=r"fail on the seed too, .*; the last failure: no device. Do: mend the evalu"),
    ):
        bench.run(campaign, FakeExecutor(judge))


def test_an_evaluator_that_fails_on_all_but_the_seed_stops_the_campaign(bench):
    """A run in which nothing could be judged never looks like one that succeeded."""

    def judge(job):
        return near_seven(job) if number_of(dict(job.files)) == 5.0 else broken("the evaluator raised KeyError: 'x'")

    with (
        bench.create() as campaign,
        pytest.raises(SandboxError, match=r"fail on everything but the seed, which passed 3 times .*: 'x'"),
    ):
        bench.run(campaign, FakeExecutor(judge))


def test_a_seed_that_the_machinery_failed_is_judged_again_by_the_next_run(bench):
    """Nothing was found out about it."""
    with bench.create() as campaign, pytest.raises(TaskError, match="fails its own evaluator: internal"):
        bench.run(campaign, FakeExecutor(lambda job: broken()))
    with bench.open() as campaign:
        assert bench.run(campaign).reason == "budget"
        assert campaign.state.archive.best.fitness > -2.0
    with bench.open(readonly=True) as campaign:
        assert campaign.state.difference is None


def test_an_interrupt_ends_the_waiting(bench):
    """A budget in time does, too."""

    def judge(job):
        return near_seven(job) if job.id == "0.0" else broken()

    with bench.create(budget=["1s"]) as campaign:
        ending = bench.run(campaign, FakeExecutor(judge))
        assert ending.reason == "budget"
        assert campaign.seconds < 10.0
