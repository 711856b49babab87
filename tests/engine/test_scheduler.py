"""Scheduler: which operators are asked, what a strategy may ask, and how far models are asked ahead."""

import dataclasses
import threading
from collections import Counter
from concurrent.futures import Future

import numpy as np
import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, near_seven
from model_fakes import FakeModel, members, with_operators

from evolve.engine import run
from evolve.engine.scheduler import FreeRoom
from evolve.evaluation import decode_job
from evolve.types import (
    Asked,
    Child,
    Measure,
    PluginError,
    Program,
    ProgramId,
    Propose,
    Selection,
)

NOBODY = "0" * 64


def proposal(**changes):
    """A strategy that always asks for this proposal."""
    selection = Selection(**{"operator": "tune_literals", "parents": (1,), **changes})
    return lambda view, rng: Propose(selection)


def measurement(**changes):
    """A strategy that always asks for this measurement of the seed."""
    return lambda view, rng: Measure(**{"about": 1, "program": view.task.seed.id, **changes})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (proposal(operator="gone"), "for operator 'gone', wanted one of .*tune_literals"),
        (proposal(island=4), "for island 4, wanted 0 to 3"),
        (proposal(island=-1), "for island -1, wanted 0 to 3"),
        (proposal(parents=(1, 2)), "record 2, which has not settled or has no program"),
        (proposal(inspirations=(0,)), "record 0, which has not settled or has no program"),
        (proposal(samples=0), "for 0 samples, wanted 1 or more"),
        (proposal(parents=(np.int64(1),)), "a Propose that the log cannot hold"),
        (proposal(parents=1), "a Propose that the log cannot hold"),
        (lambda view, rng: Propose(None), "a Propose that the log cannot hold"),
        (lambda view, rng: "go on", "for a str, wanted Propose, Measure or Wait"),
        (measurement(about=2), "record 2, which has not settled or has no program"),
        (measurement(program=NOBODY), "record 1, which has another program"),
        (measurement(stage="gone"), "for stage 'gone', wanted one of 'evaluate' or ''"),
        (measurement(stage="certify"), "for stage 'certify', wanted one of 'evaluate' or ''"),
    ],
)
def test_an_action_that_cannot_be_done_is_never_in_the_log(bench, ask, message):
    """It stops the run and names the strategy; another run, of a mended strategy, goes on."""
    campaign = bench.create()
    campaign.strategy.ask = ask
    with campaign, pytest.raises(PluginError, match=f"strategy 'islands' asked .*{message}.*Try: mend its `ask`"):
        bench.run(campaign)
    with bench.open() as campaign:
        assert [found.event for found in campaign.log.events(only=Asked)] == []
        assert bench.run(campaign).reason == "budget"
        assert campaign.state.progress.programs == 30


@pytest.mark.parametrize(("promotion", "stage"), [("held_out", "evaluate"), ("certificate", "certify")])
def test_a_strategy_may_measure_by_a_stage_of_the_task(bench, circle_task, promotion, stage):
    """`certify` is one where the task has certificates."""
    campaign = bench.create(task=dataclasses.replace(circle_task, promotion=promotion))
    ask = campaign.strategy.ask
    wanted = Measure(1, circle_task.seed.id, stage, "again")
    campaign.strategy.ask = lambda view, rng: wanted if rng.random() < 0.3 else ask(view, rng)
    with campaign:
        bench.run(campaign)
        assert wanted in [found.event.action for found in campaign.log.events(only=Asked)]


class Either:
    """An operator that proposes numbers, whatever it is called."""

    def propose(self, selection, context):
        return [Child(Program({"seed.py": f"def value():\n    return {context.rng.random()}\n"}))]


def used(bench, name, seconds, **values):
    """The operators that a campaign used whose judgings took so long, and what its strategy was shown in the end."""

    def judge(job):
        report = near_seven(job)
        return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, seconds=seconds))

    campaign = bench.create(name=name, budget=["40programs"], **values)
    campaign.operator = lambda _: Either()
    with campaign:
        bench.run(campaign, FakeExecutor(judge))
        shown = campaign.view(0.0).operators
    with bench.open(name, readonly=True) as again:
        assert again.view(0.0).operators == shown
        return {again.state.history.operator(record) for record in range(2, 41)} - {""}, shown


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, ("tune_literals", "mutate_ast")),
        ({"strategy": {"name": "random"}}, ("mutate_ast", "perturb_literals")),
    ],
)
def test_structural_edits_are_for_tasks_that_are_judged_within_a_second(bench, values, names):
    """The seed's judging, which is in the log, decides for the whole campaign; what a user names is always used, and where two runs must
    agree seconds decide nothing."""
    rest = tuple(name for name in names if name != "mutate_ast")
    assert used(bench, "quick", 0.9, operators={}, **values) == (set(names), names)
    assert used(bench, "slow", 1.1, operators={}, **values) == (set(rest), rest)
    assert used(bench, "named", 1.1, operators={"names": names}, **values) == (set(names), names)
    assert used(bench, "equal", 1.1, operators={}, deterministic=True, **values) == (set(names), names)


def test_an_operator_that_may_not_be_used_now_cannot_be_asked_for(bench):
    """A strategy that overlooks `view.operators` is told so."""

    def judge(job):
        report = near_seven(job)
        return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, seconds=2.0))

    campaign = bench.create(operators={})
    campaign.strategy.ask = lambda view, rng: Propose(Selection("mutate_ast", parents=(1,)))
    with campaign, pytest.raises(PluginError, match="for operator 'mutate_ast', wanted one of tune_literals"):
        bench.run(campaign, FakeExecutor(judge))


ROOM, CALLS, AHEAD = 6, 16, 4
"""Steps that two judges have room for; calls in flight; and how many more proposals a model with so many calls is asked for."""


class Stuck(FakeExecutor):
    """Judges the seed, and nothing else before the run is over."""

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, Future[bytes]] = {}
        self.most = 0

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        files = decode_job(job).files
        if not self.jobs or files == self.jobs[0].files:
            return super().submit(job_id, job)
        self.left[job_id] = Future()
        self.most = max(self.most, len(self.left))
        return self.left[job_id]

    def cancel(self, job_id: str) -> None:
        future = self.left.pop(job_id)
        future.cancel()
        future.set_running_or_notify_cancel()


def asked(bench: Workbench, executor: FakeExecutor, fake: FakeModel, *operators: str, **values: object) -> Counter[str]:
    """For what a campaign of two seconds asks: by the operator, or "measure"."""
    with_operators(bench)
    section = {"name": "fast", "kind": "fake", "concurrency": CALLS}
    values = {"models": {"members": [section]}, "operators": {"names": operators}, "budget": ["2s"], **values}
    with bench.create(**values) as campaign:
        run(campaign, executor, Seen(), members(campaign, fake))
        actions = [stamped.event.action for stamped in campaign.log.events(only=Asked)]
    return Counter(action.selection.operator if isinstance(action, Propose) else "measure" for action in actions)


@pytest.mark.parametrize(
    ("judging", "calls", "measures", "writes", "left"),
    [
        (1, 0, True, True, True),
        (0, 1, False, True, True),
        (0, 0, False, True, False),
        (1 - AHEAD, 1, False, True, True),
        (-AHEAD, 1, False, True, False),
    ],
)
def test_a_measurement_needs_a_judge_and_a_proposal_its_model(
    judging: int, calls: int, measures: bool, writes: bool, left: bool
) -> None:
    """The proposal's model has been found when room is asked for it."""
    free = FreeRoom(judging, {"fast": calls}, AHEAD)
    action = Propose(Selection("writes", 0, (1,), model="fast"))
    assert free.is_left == left
    assert (free.take(Measure(1, ProgramId("a"))), free.take(action)) == (measures, writes)


def test_models_are_asked_ahead_of_the_judges(bench: Workbench) -> None:
    """Eight wait for two judges that have room for six, and a proposal is asked for in the place of each that was answered."""
    executor = Stuck()
    found = asked(bench, executor, FakeModel(hold=threading.Event(), free=8), "writes")
    assert (found["writes"], executor.most) == (CALLS + AHEAD + 8, 8)


def test_models_are_not_asked_for_ever_while_judges_are_stuck(bench: Workbench) -> None:
    """The last time with room for one."""
    executor = Stuck()
    found = asked(bench, executor, FakeModel(), "writes")
    assert ROOM + AHEAD <= found["writes"] <= (ROOM + AHEAD - 1) + (CALLS + AHEAD)
    assert executor.most == found["writes"]


def test_what_needs_no_model_waits_for_the_judges(bench: Workbench) -> None:
    """Although a model has room all the time."""
    executor = Stuck()
    found = asked(bench, executor, FakeModel(hold=threading.Event()), "writes", "tune_literals")
    assert (found["tune_literals"], executor.most) == (ROOM, ROOM)
    assert found["writes"] < CALLS + AHEAD
