"""GEPA: parents from the front of the cases, the gate of a minibatch, merges of two lines."""

from collections import Counter
from dataclasses import replace

import numpy as np

from evolve.testing import Rehearsal
from evolve.types import Asked, Case, Evaluation, Propose, Selection, Settled, TaskChanged, Traits
from evolve_methods.gepa import CaseFront, Gepa, GepaSettings
from tests.plugins.evolve_methods.histories import MODEL_TRAITS, ruled, settled, tell

OPERATORS = ("diff", "rewrite", "crossover")


def on_cases(record: int, results: dict[str, float], parent: int = 0) -> Settled:
    """A program with these results on its cases."""
    event = settled(record, sum(results.values()) / len(results), parent)
    return replace(event, record=replace(event.record, evaluation=Evaluation.ok(0.0, cases=results)))


def gepa(**settings: int) -> Gepa:
    return Gepa(GepaSettings(**settings), OPERATORS)


def rehearsed(*names: str) -> Rehearsal:
    """A campaign on a task with these cases, and four records."""
    campaign = Rehearsal()
    campaign.task = replace(campaign.task, cases=tuple(Case(name) for name in names))
    campaign.operators = OPERATORS
    campaign.needs.update({**MODEL_TRAITS, "crossover": Traits(needs_model=True, parents=2)})
    campaign.open()
    for _ in range(3):
        campaign.start(Propose(Selection("diff", parents=(1,))))
        campaign.finish()
    return campaign


def test_a_program_that_is_best_on_no_case_is_no_parent():
    """And one that is among the best on two cases has two shares."""
    front = CaseFront()
    assert front.add(1, {"a": 1.0, "b": 1.0, "c": 1.0})
    assert front.add(2, {"a": 2.0, "b": 2.0, "c": 0.0})
    assert not front.add(3, {"a": 0.0, "b": 0.0, "c": 0.0})
    assert front.shares() == {1: 1, 2: 2}


def test_a_program_that_another_one_dominates_is_no_parent():
    """It ties on a case, and the other one is among the best on more."""
    front = CaseFront()
    front.add(1, {"a": 1.0, "b": 0.0})
    front.add(2, {"a": 1.0, "b": 1.0})
    assert front.shares() == {2: 2}


def test_parents_are_drawn_in_proportion_to_their_cases():
    """Two cases against one."""
    campaign, strategy = rehearsed("a", "b", "c"), gepa(merges=0)
    tell(strategy, on_cases(1, {"a": 1.0, "b": 0.0, "c": 0.0}), on_cases(2, {"a": 0.0, "b": 1.0, "c": 1.0}, 1))
    drawn = Counter(strategy.ask(campaign, np.random.default_rng(seed)).selection.parents[0] for seed in range(600))
    assert abs(drawn[2] / 600 - 2 / 3) < 0.06
    assert set(drawn) == {1, 2}


def test_a_gate_is_a_minibatch_of_the_cases_that_the_parent_knows():
    """Drawn anew for each proposal."""
    names = [f"c{number}" for number in range(6)]
    campaign, strategy = rehearsed(*names, "new"), gepa(minibatch=3, merges=0)
    tell(strategy, on_cases(1, dict.fromkeys(names, 1.0)))
    gates = [strategy.ask(campaign, np.random.default_rng(seed)).gate for seed in range(50)]
    assert {len(set(gate)) for gate in gates} == {3}
    assert {case for gate in gates for case in gate} == set(names)


def test_a_task_without_cases_has_no_gate():
    """Its fitness is the only case."""
    campaign, strategy = rehearsed(), gepa()
    tell(strategy, settled(1, 0.0), settled(2, 1.0, 1))
    assert strategy.shares() == {2: 1}
    assert strategy.ask(campaign, np.random.default_rng(0)).gate == ()


def test_a_child_that_entered_the_front_is_followed_by_a_merge_of_two_lines():
    """As often as the settings allow."""
    campaign, strategy = rehearsed("a", "b"), gepa(merges=1)
    seed = on_cases(1, {"a": 0.0, "b": 0.0})
    tell(strategy, seed, on_cases(2, {"a": 1.0, "b": 0.0}, 1), on_cases(3, {"a": 0.0, "b": 1.0}, 1))
    action = strategy.ask(campaign, np.random.default_rng(0))
    assert (action.selection.operator, set(action.selection.parents)) == ("crossover", {2, 3})
    tell(strategy, Asked(9, action, 3), on_cases(4, {"a": 2.0, "b": 0.0}, 2))
    assert strategy.ask(campaign, np.random.default_rng(0)).selection.operator != "crossover"


def test_an_ancestor_is_no_partner():
    """A merge with it would bring nothing."""
    campaign, strategy = rehearsed("a", "b"), gepa()
    tell(strategy, on_cases(1, {"a": 0.0, "b": 1.0}), on_cases(2, {"a": 1.0, "b": 0.0}, 1))
    operators = {strategy.ask(campaign, np.random.default_rng(seed)).selection.operator for seed in range(20)}
    assert operators == {"diff", "rewrite"}


def test_a_quarantined_program_leaves_its_cases_to_the_next_best():
    """And gets them back when it is released."""
    strategy = gepa()
    tell(strategy, on_cases(1, {"a": 0.0}), on_cases(2, {"a": 1.0}, 1))
    tell(strategy, ruled("quarantine", 2))
    assert strategy.shares() == {1: 1}
    tell(strategy, ruled("release", 2))
    assert strategy.shares() == {2: 1}


def test_a_newer_version_of_the_task_begins_an_empty_front():
    """Scores of the older one do not compare."""
    strategy = gepa()
    tell(strategy, on_cases(1, {"a": 0.0}), TaskChanged("2", ""))
    assert strategy.shares() == {}
