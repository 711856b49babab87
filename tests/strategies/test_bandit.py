"""The bandit over operators: what it pays for, what it charges, and that it is a fold."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.stop import Resource
from evolve.strategies.bandit import FLOOR, WINDOW, ArmKind, Bandit, Ranks
from evolve.types import (
    REJUDGED,
    Asked,
    Call,
    ConfigError,
    Evaluation,
    Event,
    Insertion,
    Measure,
    Origin,
    Outcome,
    Placement,
    Previewed,
    ProgramId,
    Propose,
    Record,
    Replied,
    Selection,
    Settled,
    TaskChanged,
)

NOWHERE = Placement(Insertion.NOT_ADDED)


def settled(number: int, operator: str, parent: int, evaluation: Evaluation) -> Settled:
    origin = Origin("proposal", number, operator=operator, parents=(parent,)) if operator else Origin("seed", 0)
    return Settled(Record(number, origin, ProgramId(str(number)), evaluation), NOWHERE)


def called(step: int, operator: str, call: Call) -> tuple[Event, ...]:
    return Asked(step, Propose(Selection(operator)), step - 1), Replied(step, 0, call)


def campaign(yields: Callable[[int], Sequence[float]], length: int, seed: int = 0) -> tuple[list[str], list[Event]]:
    """Draws and events of a campaign where operator i improves on its parent with probability `yields(step)[i]`."""
    rng, bandit, draws = np.random.default_rng(seed), Bandit("abcd"[: len(yields(0))]), list[str]()
    events: list[Event] = [settled(1, "", 0, Evaluation.ok(0.0))]
    fitness = {1: 0.0}
    bandit.tell(events[0])
    for number in range(2, length + 2):
        operator = bandit.choose(rng)
        recent = rng.integers(max(1, number - 50), number, size=4).tolist()
        parent = max(recent, key=lambda record: fitness[record])
        improves = rng.random() < yields(number)["abcd".index(operator)]
        fitness[number] = fitness[parent] + abs(float(rng.normal())) * (1 if improves else -1)
        events.append(settled(number, operator, parent, Evaluation.ok(fitness[number])))
        bandit.tell(events[-1])
        draws.append(operator)
    return draws, events


def told(events: Sequence[Event], operators: Sequence[str] = "ab", resource: Resource = "programs") -> Bandit:
    bandit = Bandit(operators, resource)
    for event in events:
        bandit.tell(event)
    return bandit


def test_operators_begin_alike() -> None:
    assert Bandit("abcd").shares() == dict.fromkeys("abcd", 0.25)


def test_only_those_that_may_be_used_are_drawn() -> None:
    """Among them the values decide, each keeps the floor, and what is learnt of the others is kept."""
    _, events = campaign(lambda step: (0.3, 0.1, 0.0), 300)
    bandit = told(events, "abc")
    everyone, two = bandit.shares(), bandit.shares(["c", "b"])
    assert list(two) == ["b", "c"]
    assert sum(two.values()) == pytest.approx(1.0)
    assert min(two.values()) >= FLOOR
    assert (two["b"] - FLOOR) / (two["c"] - FLOOR) == pytest.approx((everyone["b"] - FLOOR) / (everyone["c"] - FLOOR))
    rng = np.random.default_rng(0)
    draws = Counter(bandit.choose(rng, ["b", "c"]) for _ in range(1000))
    assert draws["b"] / 1000 == pytest.approx(two["b"], abs=0.05)
    assert bandit.shares(["a"]) == {"a": 1.0}
    assert bandit.shares() == everyone


def test_a_bandit_without_operators_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"needs an operator, got none\. Try: "):
        Bandit(())


@pytest.mark.parametrize(
    ("others", "parent", "child", "gain"),
    [
        ([], 1.0, 2.0, 1.0),
        ([], 1.0, 1.0, 0.0),
        ([], 1.0, 0.5, 0.0),
        ([5.0, 6.0, 7.0], 1.0, 8.0, math.log2(5)),
        ([5.0, 6.0, 7.0], 1.0, 2.0, math.log2(5 / 4)),
        ([5.0, 5.0, 5.0], 5.0, 6.0, 1.0),
    ],
)
def test_a_gain_is_how_often_the_number_of_better_results_is_halved(
    others: list[float], parent: float, child: float, gain: float
) -> None:
    ranks = Ranks()
    for number, fitness in enumerate([parent, *others, child], start=1):
        ranks.add(number, (0.0, fitness))
    assert ranks.gain((1,), (0.0, child)) == pytest.approx(gain)


def test_who_repairs_a_failure_gains_on_the_last_success_among_its_ancestors() -> None:
    """Failures of failures too, and the best parent where there are several; a failure whose ancestors are not known is worse than everything."""
    ranks = Ranks()
    for number, fitness in enumerate([1.0, 2.0, 3.0, 4.0], start=1):
        ranks.add(number, (0.0, fitness))
    ranks.inherit(5, (1, 3))
    ranks.inherit(6, (5,))
    ranks.inherit(7, (99,))
    ranks.add(8, (0.0, 4.0))
    assert ranks.gain((6,), (0.0, 4.0)) == ranks.gain((3,), (0.0, 4.0)) == pytest.approx(math.log2(3))
    assert ranks.gain((6,), (0.0, 3.0)) == 0.0
    assert ranks.gain((7,), (0.0, 4.0)) == pytest.approx(math.log2(6))


@pytest.mark.parametrize(("repaired", "gains"), [(5.0, False), (6.0, True)])
def test_an_operator_is_paid_for_a_repair_only_where_it_beats_what_was_there_before(
    repaired: float, gains: bool
) -> None:
    """Record 3 fails; operator b makes a program of it that is as good as record 2, its parent, or better."""
    events = [
        settled(1, "", 0, Evaluation.ok(0.0)),
        settled(2, "a", 1, Evaluation.ok(5.0)),
        settled(3, "a", 2, Evaluation.failed(Outcome.CRASHED, "")),
        settled(4, "b", 3, Evaluation.ok(repaired)),
    ]
    without = told([*events[:3], settled(4, "b", 3, Evaluation.ok(-1.0))]).shares()["b"]
    assert (told(events).shares()["b"] > without) is gains


def test_the_best_of_several_parents_counts_and_a_failed_one_is_worse_than_everything() -> None:
    ranks = Ranks()
    for number, fitness in enumerate([1.0, 2.0, 3.0, 4.0], start=1):
        ranks.add(number, (0.0, fitness))
    assert ranks.gain((1, 3), (0.0, 4.0)) == pytest.approx(1.0)
    assert ranks.gain((99,), (0.0, 4.0)) == ranks.gain((), (0.0, 4.0)) == pytest.approx(math.log2(5))


def test_only_recent_results_are_ranked() -> None:
    ranks = Ranks()
    for number in range(1, 2 * WINDOW + 1):
        ranks.add(number, (0.0, 100.0 if number <= WINDOW else number / WINDOW))
    assert ranks.gain((WINDOW + 1,), (0.0, 2.0)) == pytest.approx(math.log2(WINDOW))


def test_a_better_operator_gets_most_of_the_draws() -> None:
    draws, _ = campaign(lambda step: (0.02, 0.02, 0.2, 0.02), 1500)
    counts = Counter(draws[500:])
    assert counts["c"] > 1000 / 2
    assert counts["c"] > 2.5 * max(counts[other] for other in "abd")


def test_an_operator_that_never_gains_keeps_its_floor() -> None:
    draws, events = campaign(lambda step: (0.2, 0.0), 1500)
    assert 0.05 <= told(events).shares()["b"] < 0.2
    assert 0.04 * 1000 <= Counter(draws[500:])["b"] < 0.2 * 1000


def test_an_operator_that_becomes_good_later_is_found() -> None:
    draws, _ = campaign(lambda step: (0.2, 0.0) if step < 800 else (0.0, 0.2), 2000)
    assert Counter(draws[500:800])["a"] > 200
    assert Counter(draws[-300:])["b"] > 200


def test_without_any_gain_operators_are_alike() -> None:
    events = [settled(1, "", 0, Evaluation.ok(0.0))]
    events += [settled(number, "ab"[number % 2], 1, Evaluation.ok(-1.0)) for number in range(2, 50)]
    assert told(events).shares() == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize(("count", "least"), [(2, 0.05), (10, 0.05), (40, 0.025)])
def test_every_operator_keeps_a_floor_and_the_shares_sum_to_one(count: int, least: float) -> None:
    names = [f"operator {number}" for number in range(count)]
    events = [settled(1, "", 0, Evaluation.ok(0.0))]
    events += [settled(number, names[0], number - 1, Evaluation.ok(float(number))) for number in range(2, 400)]
    shares = told(events, names).shares()
    assert sum(shares.values()) == pytest.approx(1.0)
    assert min(shares.values()) >= least - 1e-12
    assert shares[names[0]] == max(shares.values())


@pytest.mark.parametrize("transformation", [lambda x: 1000 * x + 7, math.atan, lambda x: x**3])
def test_an_increasing_transformation_of_the_fitness_changes_nothing(transformation: Callable[[float], float]) -> None:
    _, events = campaign(lambda step: (0.3, 0.1), 400)
    other = []
    for event in events:
        assert isinstance(event, Settled)
        fitness = event.record.evaluation.fitness
        assert fitness is not None
        changed = Evaluation.ok(transformation(fitness))
        other.append(settled(event.record.id, event.record.origin.operator, event.record.id - 1, changed))
    same = [
        settled(event.record.id, event.record.origin.operator, event.record.id - 1, event.record.evaluation)
        for event in events
        if isinstance(event, Settled)
    ]
    assert told(other).shares() == told(same).shares()


def in_turn(cost: Callable[[str, int], tuple[Sequence[Event], Evaluation]], length: int = 200) -> list[Event]:
    """Operators a and b in turn, every success a new best; `cost` makes a step's calls and its evaluation."""
    events: list[Event] = [settled(1, "", 0, Evaluation.ok(0.0))]
    for number in range(2, length):
        operator = "ab"[number % 2]
        calls, evaluation = cost(operator, number)
        events += [*calls, settled(number, operator, number - 1, evaluation)]
    return events


def test_gains_being_equal_the_operator_that_uses_fewer_tokens_is_drawn_more_often() -> None:
    events = in_turn(
        lambda operator, number: (
            called(number, operator, Call("model", prompt_tokens=900 if operator == "a" else 90, completion_tokens=10)),
            Evaluation.ok(float(number)),
        )
    )
    assert told(events, resource="tokens").shares()["b"] > 0.6
    assert told(events).shares()["b"] == pytest.approx(0.5, abs=0.01)


def test_gains_being_equal_the_operator_that_makes_fewer_calls_is_drawn_more_often() -> None:
    events = in_turn(
        lambda operator, number: (
            [
                *called(number, operator, Call("model")),
                *([Replied(number, 1, Call("model"))] * 4 if operator == "a" else []),
            ],
            Evaluation.ok(float(number)),
        )
    )
    assert told(events, resource="calls").shares()["b"] > 0.6


def test_gains_being_equal_the_operator_that_evaluates_less_while_it_proposes_is_drawn_more_often() -> None:
    def looked(operator: str, number: int) -> tuple[Sequence[Event], Evaluation]:
        looks = [Previewed(number, index, ProgramId("p"), Evaluation.ok(1.0)) for index in range(4)]
        asked = Asked(number, Propose(Selection(operator)), number - 1)
        return [asked, *(looks if operator == "a" else [])], Evaluation.ok(float(number))

    assert told(in_turn(looked)).shares()["b"] > 0.6


def test_an_operator_without_a_model_costs_less_than_one_with_but_cannot_starve_it() -> None:
    events = in_turn(
        lambda operator, number: (
            called(number, operator, Call("model", cost=0.01)) if operator == "a" else (),
            Evaluation.ok(float(number)),
        )
    )
    shares = told(events, resource="money").shares()
    assert 0.3 < shares["a"] < 0.45


def test_seconds_count_where_they_are_the_only_budget() -> None:
    events = in_turn(
        lambda operator, number: ((), Evaluation(Outcome.OK, float(number), seconds=4.0 if operator == "a" else 1.0))
    )
    assert told(events, resource="seconds").shares()["b"] > 0.65
    assert told(events, resource="programs").shares()["b"] == pytest.approx(0.5, abs=0.01)


def test_gpu_seconds_count_on_a_gpu_only() -> None:
    def on(device: str) -> list[Event]:
        return in_turn(
            lambda operator, number: (
                (),
                Evaluation(Outcome.OK, float(number), seconds=4.0 if operator == "a" else 1.0, device=device),
            )
        )

    assert told(on("cuda:0"), resource="gpu_seconds").shares()["b"] > 0.55
    assert told(on("cpu"), resource="gpu_seconds").shares()["b"] == pytest.approx(0.5, abs=0.01)


def failing_half_of_the_time(outcome: Outcome) -> list[Event]:
    """Operator a fails at every second of its steps; else a and b are equal."""
    return in_turn(
        lambda operator, number: (
            (),
            Evaluation.failed(outcome, "") if operator == "a" and number % 4 == 0 else Evaluation.ok(float(number)),
        )
    )


def test_a_proposal_that_fails_early_costs_what_it_used() -> None:
    screened, crashed, infrastructure = (
        told(failing_half_of_the_time(outcome)).shares()["a"]
        for outcome in (Outcome.SCREENED, Outcome.CRASHED, Outcome.INTERNAL)
    )
    assert crashed < screened < infrastructure < 0.55


@pytest.mark.parametrize("resource", ["programs", "seconds", "tokens", "money"])
def test_answers_that_are_never_any_good_are_not_free_whatever_the_budget_is_in(resource: Resource) -> None:
    """After forty of them their arm has almost come to its floor."""
    bandit = Bandit("ab", resource, arm_of="model")
    bandit.tell(settled(1, "", 0, Evaluation.ok(0.0)))
    for number in range(2, 82):
        arm = "ab"[number % 2]
        origin = Origin("proposal", number, operator="diff", model=arm, parents=(max(1, number - 2),))
        bandit.tell(Asked(number, Propose(Selection("diff", model=arm)), number - 1))
        bandit.tell(Replied(number, 0, Call(arm, prompt_tokens=100, cost=0.01)))
        fine = Evaluation(Outcome.OK, float(number), seconds=1.0)
        evaluation = fine if arm == "a" and number % 4 == 0 else Evaluation.failed(Outcome.SCREENED, "it refuses")
        bandit.tell(Settled(Record(number, origin, ProgramId(str(number)), evaluation), NOWHERE))
    assert bandit.shares()["b"] < 0.2


def test_what_ends_by_nobodys_fault_changes_nothing_not_even_by_its_calls() -> None:
    _, events = campaign(lambda step: (0.3, 0.1), 100)
    bandit = told(events, resource="tokens")
    before = dict(bandit.shares())
    for event in called(500, "a", Call("model", prompt_tokens=10_000)):
        bandit.tell(event)
    bandit.tell(settled(500, "a", 1, Evaluation.failed(Outcome.INTERNAL, "")))
    assert bandit.shares() == before


def test_the_calls_of_a_step_are_shared_by_its_children() -> None:
    """Of 48 children, those that came four from a call have cost less than those that came one from a call each."""

    def share(count: int) -> float:
        bandit = told([settled(1, "", 0, Evaluation.ok(0.0))], resource="tokens")
        for step in range(2, 2 + 48 // count):
            for event in called(step, "a", Call("model", prompt_tokens=1_000)):
                bandit.tell(event)
            for index in range(count):
                number = 2 + count * (step - 2) + index
                origin = Origin("proposal", step, index, count, operator="a", parents=(number - 1,))
                bandit.tell(
                    Settled(Record(number, origin, ProgramId(str(number)), Evaluation.ok(float(number))), NOWHERE)
                )
        for number in range(1_000, 1_048):
            bandit.tell(settled(number, "b", number - 1, Evaluation.ok(float(number))))
        return bandit.shares()["a"]

    assert share(4) > share(2) > share(1)


def test_a_model_pays_for_its_own_calls_alone() -> None:
    """What a novelty model takes in the same step is no cost of the model that proposed; of the operator it is."""

    def share(arm_of: ArmKind, checked: int) -> float:
        bandit = Bandit("ab", "tokens", arm_of=arm_of)
        bandit.tell(settled(1, "", 0, Evaluation.ok(0.0)))
        for number in range(2, 60):
            arm = "ab"[number % 2]
            origin = Origin("proposal", number, operator=arm, model=arm, parents=(number - 1,))
            bandit.tell(Asked(number, Propose(Selection(arm, model=arm)), number - 1))
            bandit.tell(Replied(number, 0, Call(arm, prompt_tokens=100)))
            if arm == "a":
                bandit.tell(Replied(number, 1, Call("checker", "novelty", prompt_tokens=checked)))
            bandit.tell(Settled(Record(number, origin, ProgramId(arm), Evaluation.ok(float(number))), NOWHERE))
        return bandit.shares()["a"]

    assert share("model", 10_000) == share("model", 1)
    assert share("operator", 10_000) < share("operator", 1)


def test_steps_that_make_no_programs_are_neither_paid_nor_charged() -> None:
    """A model that writes lessons has screened records, and is no worse for it."""
    bandit = Bandit("ab", "tokens", arm_of="model", besides=("reflect",))
    events: list[Event] = [settled(1, "", 0, Evaluation.ok(0.0))]
    for number in range(2, 20):
        origin = Origin("proposal", number, operator="diff", model="ab"[number % 2], parents=(number - 1,))
        events.append(Settled(Record(number, origin, ProgramId("1"), Evaluation.ok(float(number))), NOWHERE))
    for event in events:
        bandit.tell(event)
    before = bandit.shares()
    for number in range(20, 60):
        bandit.tell(Asked(number, Propose(Selection("reflect", model="a")), number - 1))
        bandit.tell(Replied(number, 0, Call("a", "reflect", prompt_tokens=10_000)))
        origin = Origin("proposal", number, operator="reflect", model="a")
        bandit.tell(Settled(Record(number, origin, None, Evaluation.failed(Outcome.SCREENED, "")), NOWHERE))
    assert bandit.shares() == before


def test_a_bandit_over_models_takes_no_notice_of_steps_without_one() -> None:
    bandit = Bandit("ab", arm_of="model")
    bandit.tell(settled(1, "", 0, Evaluation.ok(0.0)))
    bandit.tell(settled(2, "a", 1, Evaluation.ok(1.0)))
    assert bandit.shares() == {"a": 0.5, "b": 0.5}
    with pytest.raises(ConfigError, match=r"needs a model, got none\. Try: "):
        Bandit((), arm_of="model")


def test_what_says_nothing_about_an_operator_changes_nothing() -> None:
    _, events = campaign(lambda step: (0.3, 0.1), 100)
    bandit = told(events)
    before = dict(bandit.shares())
    measurement = Record(999, Origin("measurement", 999, about=1), ProgramId("1"), Evaluation.ok(1e9))
    bandit.tell(Asked(999, Measure(1, ProgramId("1")), 100))
    bandit.tell(Settled(measurement, NOWHERE))
    bandit.tell(Replied(12345, 0, Call("model", cost=1.0)))
    bandit.tell(Asked(1000, Propose(Selection("unknown")), 100))
    assert bandit.shares() == before


def test_choosing_changes_no_state_and_follows_the_shares() -> None:
    _, events = campaign(lambda step: (0.3, 0.05), 300)
    bandit, rng = told(events), np.random.default_rng(5)
    before = dict(bandit.shares())
    counts = Counter(bandit.choose(rng) for _ in range(4000))
    assert bandit.shares() == before
    assert counts["a"] / 4000 == pytest.approx(before["a"], abs=0.03)


def test_a_draw_at_the_very_end_is_still_an_operator() -> None:
    class Last(np.random.Generator):
        def random(self, *_: object, **__: object) -> float:  # type: ignore[override]
            return 1.0

    assert Bandit("abc").choose(Last(np.random.PCG64(0))) == "c"


outcomes = st.sampled_from([Outcome.OK, Outcome.CRASHED, Outcome.SCREENED, Outcome.INTERNAL])
steps = st.lists(st.tuples(st.sampled_from("ab"), outcomes, st.integers(-5, 5), st.integers(0, 300)), max_size=60)


@given(steps, st.sampled_from(["programs", "tokens", "seconds"]), st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_a_replay_equals_what_was_lived(
    drawn: list[tuple[str, Outcome, int, int]], resource: Resource, cut: int
) -> None:
    events: list[Event] = [settled(1, "", 0, Evaluation.ok(0.0))]
    for number, (operator, outcome, value, tokens) in enumerate(drawn, start=2):
        fitness = float(value) if outcome is Outcome.OK else None
        events += called(number, operator, Call("model", prompt_tokens=tokens))
        events.append(settled(number, operator, 1 + number // 2, Evaluation(outcome, fitness, seconds=tokens / 100)))
    live = Bandit("ab", resource)
    for place, event in enumerate(events):
        live.tell(event)
        live.choose(np.random.default_rng(place))
        if place == cut:
            assert told(events[: cut + 1], resource=resource).shares() == live.shares()
    assert told(events, resource=resource).shares() == live.shares()
    assert sum(live.shares().values()) == pytest.approx(1.0)
    assert min(live.shares().values()) >= 0.05 - 1e-12


def test_a_newer_version_of_the_task_begins_the_ranks_anew() -> None:
    """Gains are counted against what it has evaluated: a child of a parent that it evaluated again gains over that value alone."""
    before = [settled(number, "a", 1, Evaluation.ok(float(number))) for number in range(2, 30)]
    again = Record(40, Origin("measurement", 40, about=5, why=REJUDGED), ProgramId("5"), Evaluation.ok(0.5))
    child = settled(41, "b", 40, Evaluation.ok(0.6))
    worse = settled(41, "b", 40, Evaluation.ok(0.4))
    changed = [settled(1, "", 0, Evaluation.ok(0.0)), *before, TaskChanged("2", ""), Settled(again, NOWHERE)]
    assert told([*changed, child]).shares()["b"] > told([*changed, worse]).shares()["b"]
    ranks = Ranks()
    ranks.add(40, (0.0, 0.5))
    ranks.add(41, (0.0, 0.6))
    assert ranks.gain((40,), (0.0, 0.6)) == 1.0


def test_a_smaller_violation_is_a_gain_and_a_larger_fitness_that_misses_more_is_none() -> None:
    ranks = Ranks()
    for record, worth in enumerate([(-0.5, 9.0), (-0.5, 8.0), (0.0, 1.0), (-0.1, 5.0)], 1):
        ranks.add(record, worth)
    assert ranks.gain([1], (-0.1, 5.0)) == math.log2(3 / 2)
    assert ranks.gain([3], (-0.1, 99.0)) == 0.0
    ranks.add(5, (0.0, 2.0))
    assert ranks.gain([3], (0.0, 2.0)) == 1.0
