"""Which of several models is asked next."""

from collections import Counter

import numpy as np

from evolve.campaign.folds import Ensemble
from evolve.config import ModelsSection
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


def section(**values: object) -> ModelsSection:
    members = [{"name": "strong", "weight": 3.0}, {"name": "weak"}]
    return ModelsSection.model_validate({"members": members, **values})


def proposal(record: int, model: str, fitness: float | None) -> list[Event]:
    """A proposal of `model` on the seed, and how it ended; None: it never came to a program."""
    origin = Origin("proposal", record, operator="diff", model=model, parents=(1,))
    found = Evaluation.failed(Outcome.SCREENED, "no edit") if fitness is None else Evaluation.ok(fitness)
    program = None if fitness is None else ProgramId(f"{record:064}")
    asked = Asked(record, Propose(Selection("diff", parents=(1,), model=model)), record - 1)
    return [asked, Settled(Record(record, origin, program, found), Placement(Insertion.NOT_ADDED))]


def seed() -> Event:
    return Settled(Record(1, Origin("seed", 0), ProgramId("1" * 64), Evaluation.ok(0.0)), Placement(Insertion.NEW))


def told(ensemble: Ensemble, events: list[Event]) -> Ensemble:
    for event in events:
        ensemble.tell(event)
    return ensemble


def test_fixed_weights_are_the_shares() -> None:
    ensemble = Ensemble(section(choice="weights"))
    assert ensemble.shares() == {"strong": 0.75, "weak": 0.25}
    assert ensemble.shares(["weak"]) == {"weak": 1.0}
    drawn = Counter(ensemble.choose(np.random.default_rng(seed), ("strong", "weak")) for seed in range(400))
    assert 270 < drawn["strong"] < 330


def test_fixed_weights_learn_nothing() -> None:
    ensemble = told(Ensemble(section(choice="weights")), [seed(), *proposal(2, "weak", 5.0)])
    assert ensemble.shares() == {"strong": 0.75, "weak": 0.25}


def test_the_bandit_moves_to_the_model_whose_children_gain() -> None:
    events: list[Event] = [seed()]
    for record in range(2, 80):
        events += proposal(record, "strong" if record % 2 else "weak", record / 10 if record % 2 else -1.0)
    shares = told(Ensemble(section()), events).shares()
    assert shares["strong"] > 0.8
    assert shares["weak"] >= 0.05


def test_a_model_that_never_works_keeps_its_floor_and_no_more() -> None:
    events: list[Event] = [seed()]
    for record in range(2, 200):
        events += proposal(record, "strong" if record % 4 == 0 else "weak", record / 10 if record % 4 == 0 else None)
    shares = told(Ensemble(section()), events).shares()
    assert 0.05 <= shares["weak"] < 0.25


def test_one_model_is_always_drawn() -> None:
    alone = Ensemble(ModelsSection.model_validate({"members": [{"name": "only"}]}))
    assert (alone.shares(), alone.choose(np.random.default_rng(0), ["only"])) == ({"only": 1.0}, "only")


def test_a_member_with_another_purpose_does_not_propose() -> None:
    other = section(choice="weights", purposes={"novelty": "weak"})
    assert Ensemble(other).shares() == {"strong": 1.0}
    both = section(choice="weights", purposes={"novelty": "weak", "propose": "weak"})
    assert Ensemble(both).shares() == {"strong": 0.75, "weak": 0.25}


def test_what_a_busy_model_has_no_time_for_goes_to_a_free_one_that_is_worth_it() -> None:
    """One whose answers are never usable is asked at its own turn alone, however often it is free."""
    ensemble = Ensemble(section(floor=0.05))
    both, rngs = ("strong", "weak"), [np.random.default_rng(seed) for seed in range(400)]
    assert {ensemble.choose(rng, ["weak"], both) for rng in rngs} == {"weak"}
    events: list[Event] = []
    for number in range(2, 200):
        model, fitness = both[number % 2], None if number % 2 else float(number)
        asked, settled = proposal(number, model, fitness)
        events += [asked, Replied(number, 0, Call(model)), settled]
    told(ensemble, [seed(), *events])
    drawn = Counter(ensemble.choose(rng, ["weak"], both) for rng in rngs)
    assert 0 < drawn["weak"] < 60
    assert drawn[None] == 400 - drawn["weak"]
    assert ensemble.choose(rngs[0], ["weak"], ["weak"]) == "weak"
