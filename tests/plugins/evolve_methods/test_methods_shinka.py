"""The laws of ShinkaEvolve: parents by score and children, and the bandit over models."""

import math
from collections import Counter

import numpy as np
import pytest

from evolve.testing import Rehearsal
from evolve.types import ConfigError, Propose, RecordId, Selection, TaskChanged, Traits
from evolve_methods.shinka import ModelBandit, Shinka, ShinkaSettings, weigh_parents
from tests.plugins.evolve_methods.histories import asked, screened, settled, tell


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_weights_are_those_of_the_formula() -> None:
    """Median 2, MAD 1."""
    found = weigh_parents(np.array([1.0, 2.0, 3.0, 1.5, 9.0]), np.array([0.0, 1.0, 3.0, 0.0, 0.0]))
    assert found == pytest.approx([sigmoid(-10), sigmoid(0) / 2, sigmoid(10) / 4, sigmoid(-5), sigmoid(70)])


def test_equal_scores_are_told_apart_by_their_children_alone() -> None:
    assert weigh_parents(np.full(3, 5.0), np.array([0.0, 1.0, 4.0])) == pytest.approx([0.5, 0.25, 0.1])


def test_scores_that_are_far_apart_do_not_overflow() -> None:
    found = weigh_parents(np.array([-1e300, 0.0, 0.0, 0.0, 1e300]), np.zeros(5))
    assert found == pytest.approx([0.0, 0.5, 0.5, 0.5, 1.0])


def test_parents_are_drawn_in_proportion_to_the_weights() -> None:
    campaign, strategy = Rehearsal(), Shinka(ShinkaSettings(), ["diff"])
    campaign.operators = ("diff",)
    campaign.open()
    for _ in range(40):
        elite = campaign.archive.elites(0)[-1]
        campaign.start(Propose(Selection("diff", parents=(elite.record,))))
        campaign.finish()
    tell(strategy, *campaign.events)
    elites, weights = strategy.weigh(campaign, 0)
    scores = np.array([elite.fitness for elite in elites])
    evaluated = Counter(
        record.origin.parents[0]
        for record in campaign.history.records[1:]
        if record.evaluation.outcome not in {"screened", "internal"}
    )
    counted = np.array([float(evaluated[elite.record]) for elite in elites])
    assert weights == pytest.approx(weigh_parents(scores, counted))
    assert len(elites) > 1
    assert max(counted) > 0
    drawn = Counter[RecordId]()
    for step in range(6000):
        action = strategy.ask(campaign, campaign.rng(step, 5))
        assert isinstance(action, Propose)
        if action.selection.island == 0:
            drawn[action.selection.parents[0]] += 1
    total = sum(drawn.values())
    assert total == pytest.approx(2000, abs=150), "islands are drawn evenly"
    for elite, weight in zip(elites, weights, strict=True):
        share = weight / sum(weights)
        assert drawn[elite.record] / total == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / total))


def test_a_model_is_asked_by_its_upper_bound() -> None:
    """Mean of e^r - 1 over the largest so far, and sqrt(2 ln t / n)."""
    bandit = ModelBandit(epsilon=0.0, decay=1.0)
    for model, reward in (("a", 1.0), ("a", 0.0), ("b", 0.5)):
        bandit.ask(model)
        bandit.settle(model, reward)
    most = math.expm1(1.0)
    assert bandit.bounds(["a", "b", "c"]) == pytest.approx(
        {
            "a": (math.expm1(1.0) / 2) / most + math.sqrt(2 * math.log(3) / 2),
            "b": math.expm1(0.5) / most + math.sqrt(2 * math.log(3)),
            "c": math.inf,
        }
    )
    assert bandit.choose(["a", "b"], np.random.default_rng(0)) == "b"
    assert bandit.choose(["a"], np.random.default_rng(0)) == "", "the engine names the only one"


def test_counts_fade_and_the_largest_reward_does_not() -> None:
    bandit = ModelBandit(epsilon=0.0, decay=0.5)
    for model, reward in (("a", 2.0), ("b", 1.0), ("b", 0.0)):
        bandit.ask(model)
        bandit.settle(model, reward)
    # Two children have settled since a's, and one since b's first. Who asks counts before what settles fades.
    spread = 2 * math.log(0.125 + 0.75)
    assert spread < 0, "less than one proposal is remembered, so that nothing is known to be explored"
    assert bandit.bounds(["a", "b"]) == pytest.approx({"a": 1.0, "b": (0.5 * math.expm1(1.0)) / 1.5 / math.expm1(2.0)})


def test_rewards_of_any_size_are_counted() -> None:
    bandit = ModelBandit(epsilon=0.0, decay=0.95)
    for model, reward in (("a", 1e6), ("b", 1e-12)):
        bandit.ask(model)
        bandit.settle(model, reward)
    assert all(math.isfinite(bound) for bound in bandit.bounds(["a", "b"]).values())


def test_epsilon_is_how_often_any_model_is_asked() -> None:
    bandit, rng = ModelBandit(epsilon=0.2, decay=0.95), np.random.default_rng(1)
    for model, reward in (("a", 1.0), ("b", 0.0)):
        bandit.ask(model)
        bandit.settle(model, reward)
    drawn = Counter(bandit.choose(["a", "b"], rng) for _ in range(4000))
    assert drawn["b"] == pytest.approx(400, abs=80)


@pytest.mark.parametrize(
    ("score", "parent", "reward"),
    [(5.0, 2, 2.0), (5.0, 3, 4.0), (2.0, 2, 0.0), (None, 2, 0.0)],
    ids=["better than its parent", "than the seed, which beats its parent", "worse", "failed"],
)
def test_a_model_earns_what_a_child_gains_on_parent_and_seed(score: float | None, parent: int, reward: float) -> None:
    strategy = Shinka(ShinkaSettings(decay=1.0, epsilon=0.0), ["diff"])
    tell(strategy, settled(1, 1.0), settled(2, 3.0, 1), settled(3, 0.5, 1), asked(4, parent, "a"))
    tell(strategy, settled(4, score, parent, model="a"))
    tell(strategy, asked(5, 1, "b"), settled(5, 1.0 + 4.0, 1, model="b"))
    value = strategy._models.bounds(["a", "b"])["a"] - math.sqrt(2 * math.log(2))
    assert value == pytest.approx(math.expm1(reward) / math.expm1(4.0))


def test_a_screened_proposal_is_no_child_and_earns_nothing() -> None:
    strategy = Shinka(ShinkaSettings(), ["diff"])
    tell(strategy, settled(1, 1.0), screened(2, 1), settled(3, None, 1))
    assert strategy._children == {1: 1}, "one that crashed is a child"


def test_the_strategy_names_a_model_for_operators_that_call_one() -> None:
    campaign, strategy = Rehearsal(), Shinka(ShinkaSettings(), ["diff", "tune"])
    campaign.operators, campaign.needs = ("diff", "tune"), {"diff": Traits(needs_model=True)}
    campaign.open()
    tell(strategy, *campaign.events)
    actions = [strategy.ask(campaign, campaign.rng(step)) for step in range(60)]
    named = {action.selection.operator: action.selection.model for action in actions if isinstance(action, Propose)}
    assert named["tune"] == ""
    assert named["diff"] in campaign.models


def test_a_newer_version_of_the_task_forgets_scores_children_and_rewards() -> None:
    strategy = Shinka(ShinkaSettings(), ["diff"])
    tell(strategy, settled(1, 1.0), asked(2, 1, "a"), settled(2, 2.0, 1, model="a"), TaskChanged("2", ""))
    fresh = Shinka(ShinkaSettings(), ["diff"])
    assert strategy._models.bounds(["a"]) == fresh._models.bounds(["a"])
    assert not strategy._children


def test_a_share_below_zero_is_refused() -> None:
    with pytest.raises((ConfigError, ValueError), match="a share is 0 or more"):
        ShinkaSettings(mix={"diff": -1.0})
