"""Which of a campaign's operators may be used now."""

import dataclasses

import pytest
from loop_fakes import FakeExecutor, near_seven

from evolve.types import Child, PluginError, Program, Propose, Selection


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
