"""The simulation of strategies: what its tables rest on. No figure of it is tested, since it says nothing about a model."""

import importlib.util
import math
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.strategies import model_parents
from evolve.types import Outcome

_SPEC = importlib.util.spec_from_file_location(
    "strategy_simulation", Path(__file__).parents[1] / "benchmarks" / "strategy_simulation.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
simulation = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(simulation)

BASE = simulation.LAWS["base"]
REWARDING = replace(BASE, seen=50.0, helped=50.0, tried=0.0)
"""A law that pays much for what a prompt shows, on the same landscapes."""


def campaign_of(name: str, law=BASE, seed: int = 0, calls: int = 30):
    """A campaign of one arm, run to its end."""
    arm = simulation.ARMS[name]
    campaign = simulation.SimulatedCampaign(law, seed, arm.operators, islands=arm.islands, shared=arm.shared)
    return campaign.run(arm.make(arm.operators), calls)


@pytest.mark.parametrize("name", ["default", "best_of_n", "any program", "as without a model, 4 islands"])
def test_a_campaign_is_a_function_of_its_seed(name):
    """Another seed is another landscape."""
    assert campaign_of(name).history.records == campaign_of(name).history.records
    assert campaign_of(name).curve != campaign_of(name, seed=1).curve


def test_best_of_n_gains_nothing_from_what_others_see_or_are_made_of():
    """Nothing leaks from the search into independent samples, while the default is paid for it."""
    samples = [campaign_of("best_of_n", law, seed) for law in (BASE, REWARDING) for seed in range(5)]
    assert [one.curve for one in samples[:5]] == [one.curve for one in samples[5:]]
    assert {record.origin.parents for one in samples for record in one.history.records[1:]} == {(1,)}
    searches = [campaign_of("default", law, seed) for law in (BASE, REWARDING) for seed in range(5)]
    assert [one.curve for one in searches[:5]] != [one.curve for one in searches[5:]]


@pytest.mark.parametrize("name", ["default", "mostly rewrite (0.15, 0.6, 0.1, 0.15)", "crossover 0.5"])
def test_scores_lie_between_the_seed_and_the_best_that_there_is(name):
    """Every program is one of those of which the best is known."""
    for seed in range(5):
        campaign = campaign_of(name, seed=seed, calls=60)
        assert all(simulation.is_sound(point.ideas) for point in campaign._points.values())
        assert campaign.history.fitness(1) == 0.0
        assert max(campaign.curve) <= 1.0
        assert campaign.curve == sorted(campaign.curve)
        assert len(campaign.curve) == 60


def test_children_fail_repeat_others_and_are_repaired():
    """So that strategies meet what they meet with a model."""
    records = [record for seed in range(10) for record in campaign_of("default", seed=seed).history.records]
    assert {record.evaluation.outcome for record in records} == {Outcome.OK, Outcome.CRASHED, Outcome.SCREENED}
    assert {record.origin.operator for record in records} == {"", *simulation.OPERATORS}


def test_two_calls_are_in_flight_and_see_what_had_settled():
    """The second of a campaign was asked when nothing but the seed had settled."""
    asked = []

    class Watched:
        def __init__(self, strategy):
            self._strategy = strategy

        def ask(self, view, rng):
            asked.append((len(view.pending), len(view.history)))
            return self._strategy.ask(view, rng)

        def tell(self, event):
            self._strategy.tell(event)

    simulation.SimulatedCampaign(BASE, 0, simulation.OPERATORS).run(
        Watched(simulation.islands()(simulation.OPERATORS)), 4
    )
    assert asked == [(0, 1), (1, 1), (1, 2), (1, 3)]


def test_shares_and_elites_are_those_of_the_arm():
    """Neither has a setting: the simulation reaches into the strategy, and leaves nothing behind."""
    made = simulation.SimulatedCampaign(BASE, 0, simulation.OPERATORS)
    made.run(simulation.fixed(diff=0.5, rewrite=0.5)(simulation.OPERATORS), 30)
    assert {record.origin.operator for record in made.history.records[1:]} == {"diff", "rewrite"}
    before = model_parents.PROMISING
    few, usual = (simulation.Arm(simulation.islands(), elites=count).run(BASE, 0, 30) for count in (1, before))
    assert few != usual
    assert before == model_parents.PROMISING


def test_arms_are_compared_on_the_same_landscapes():
    """An arm differs from itself by nothing; the first is told as it is."""
    arms = {"first": simulation.ARMS["default"], "again": simulation.ARMS["default"]}
    told = dict(simulation.compare(BASE, arms, seeds=4, budgets=(5, 10)))
    assert told["again"] == [(0.0, 0.0)] * 4
    assert all(0.0 < figure.mean < 1.0 and math.isfinite(figure.half) for figure in told["first"])
