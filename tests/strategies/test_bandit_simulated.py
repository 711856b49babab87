"""The bandit in simulated campaigns: operators that need each other, and models of which one is better."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from evolve.stop import Resource
from evolve.strategies.bandit import FLOOR, Bandit
from evolve.types import (
    Asked,
    Call,
    Evaluation,
    Event,
    Insertion,
    Origin,
    Outcome,
    Placement,
    ProgramId,
    Propose,
    Record,
    Replied,
    Selection,
    Settled,
)
from tests.strategies.simulated import Simulated, median

NOWHERE = Placement(Insertion.NOT_ADDED)
BOTH = ("invent", "tune")
CAMPAIGNS = range(7)
BUDGETS: list[tuple[Resource, dict[str, int]]] = [
    ("programs", {"programs": 500}),
    ("seconds", {"programs": 500}),
    ("tokens", {"calls": 100}),
    ("money", {"calls": 100}),
]


def campaigns(operators: tuple[str, ...], resource: Resource, length: dict[str, int]) -> list[Simulated]:
    return [Simulated(operators, resource, seed).run(**length) for seed in CAMPAIGNS]


@cache
def best_alone(operator: str, length: tuple[tuple[str, int], ...]) -> float:
    """What campaigns of one operator reach, whatever it costs."""
    return median([one.best for one in campaigns((operator,), "programs", dict(length))])


@pytest.mark.parametrize(("resource", "length"), BUDGETS)
def test_who_invents_and_who_tunes_live_side_by_side_and_reach_more_than_either_alone(
    resource: Resource, length: dict[str, int]
) -> None:
    together = campaigns(BOTH, resource, length)
    alone = max(best_alone(operator, tuple(length.items())) for operator in BOTH)
    assert median([one.best for one in together]) > alone + 0.5
    assert 0.1 < median([one.shares["invent"] for one in together]) < 0.4
    assert min(min(one.shares.values()) for one in together) > FLOOR


@pytest.mark.parametrize(("resource", "length"), BUDGETS)
def test_a_model_that_never_helps_falls_to_the_floor_and_the_other_operator_lives(
    resource: Resource, length: dict[str, int]
) -> None:
    for seed in range(3):
        campaign = Simulated(BOTH, resource, seed, luck=0.0).run(programs=1_200)
        assert campaign.bandit.shares()["invent"] < 2 * FLOOR
        assert campaign.best > -0.1


def test_a_simulated_campaign_that_is_replayed_has_the_same_shares() -> None:
    lived = Simulated(BOTH, "tokens", seed=3).run(calls=60)
    replayed = Bandit(BOTH, "tokens")
    for event in lived.events:
        replayed.tell(event)
    assert replayed.shares() == lived.bandit.shares()


def settled(number: int, arm: str, outcome: Outcome, fitness: float | None, parent: int) -> Settled:
    origin = Origin("proposal", number, operator="diff", model=arm, parents=(parent,))
    return Settled(Record(number, origin, ProgramId(str(number)), Evaluation(outcome, fitness)), NOWHERE)


class Recorded(Bandit):
    """A bandit over models that remembers what it was told."""

    def __init__(self, models: tuple[str, ...], resource: Resource) -> None:
        super().__init__(models, resource, arm_of="model")
        self.told: list[Event] = []

    def tell(self, event: Event) -> None:
        self.told.append(event)
        super().tell(event)


def calls(luck: dict[str, float], length: int, resource: Resource = "money", price: float = 1.0) -> Counter[str]:
    """Which models are called, where the children of each are better than their parent with its luck, and unusable half of the time
    else; `price` is what a call of the first costs, in calls of the others. A replay of the same events has the same shares."""
    rng, bandit, drawn = np.random.default_rng(1), Recorded(tuple(luck), resource), Counter[str]()
    fitness, usable = {1: 0.0}, [1]
    bandit.tell(Settled(Record(1, Origin("seed", 0), ProgramId("1"), Evaluation.ok(0.0)), NOWHERE))
    for number in range(2, length + 2):
        model = bandit.choose(rng)
        drawn[model] += 1
        parent = max(rng.choice(usable[-50:], 4).tolist(), key=lambda record: fitness[record])
        cost = 0.01 * (price if model == next(iter(luck)) else 1.0)
        bandit.tell(Asked(number, Propose(Selection("diff", parents=(parent,), model=model)), number - 1))
        bandit.tell(Replied(number, 0, Call(model, prompt_tokens=1000, cost=cost)))
        better = rng.random() < luck[model]
        if better or rng.random() < 0.5:
            fitness[number] = fitness[parent] + abs(float(rng.normal())) * (1 if better else -1)
            usable.append(number)
            bandit.tell(settled(number, model, Outcome.OK, fitness[number], parent))
        else:
            bandit.tell(settled(number, model, Outcome.SCREENED, None, parent))
    replayed = Bandit(tuple(luck), resource, arm_of="model")
    for event in bandit.told:
        replayed.tell(event)
    assert replayed.shares() == bandit.shares()
    return drawn


def test_the_better_of_two_models_gets_most_of_the_calls() -> None:
    drawn = calls({"good": 0.2, "poor": 0.03}, 600)
    assert drawn["good"] > 0.65 * 600
    assert drawn["poor"] > FLOOR / 2 * 600


def test_a_model_that_is_never_usable_falls_to_the_floor_and_the_others_share_the_calls() -> None:
    drawn = calls({"fine": 0.15, "as fine": 0.15, "broken": 0.0}, 900)
    assert drawn["broken"] < 0.15 * 900
    assert min(drawn["fine"], drawn["as fine"]) > 0.25 * 900


def test_of_two_models_that_are_alike_the_cheaper_one_gets_more_calls() -> None:
    drawn = calls({"dear": 0.15, "cheap": 0.15}, 900, price=20.0)
    assert drawn["cheap"] > 0.6 * 900
    assert drawn["dear"] > FLOOR / 2 * 900


def test_a_models_operators_are_remembered_while_thousands_of_free_proposals_settle() -> None:
    """Forty replies of a good and a poor operator, then 5,000 proposals of a free one that gain nothing: what is known of the two is kept."""
    names = ("good", "poor", "free")
    bandit, events = Bandit(names, "tokens"), list[Event]()
    events.append(Settled(Record(1, Origin("seed", 0), ProgramId("1"), Evaluation.ok(0.0)), NOWHERE))
    for number in range(2, 42):
        operator, fitness = names[number % 2], float(number) if number % 2 == 0 else -1.0
        origin = Origin("proposal", number, operator=operator, parents=(max(1, number - 2 + number % 2),))
        events.append(Settled(Record(number, origin, ProgramId(str(number)), Evaluation.ok(fitness)), NOWHERE))
    for event in events:
        bandit.tell(event)
    before = bandit.shares(("good", "poor"))
    for number in range(42, 5_042):
        origin = Origin("proposal", number, operator="free", parents=(1,))
        bandit.tell(Settled(Record(number, origin, ProgramId(str(number)), Evaluation.ok(-2.0)), NOWHERE))
    after = bandit.shares(("good", "poor"))
    assert before["good"] > 0.65
    assert after["good"] >= before["good"]
