"""What a strategy may ask for: everything else is refused before it is in the log."""

import dataclasses

import numpy as np
import pytest
from loop_fakes import FakeExecutor, near_seven

from evolve.types import Asked, Child, Measure, PluginError, Program, Propose, Selection

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
    with campaign, pytest.raises(PluginError, match=f"strategy 'islands' asked .*{message}.*Do: mend its `ask`"):
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
    campaign.strategy.ask = proposal(operator="mutate_ast")
    with campaign, pytest.raises(PluginError, match="for operator 'mutate_ast', wanted one of tune_literals"):
        bench.run(campaign, FakeExecutor(judge))
