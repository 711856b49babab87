"""Baselines: `best_of_n`, `sequential` and `random`, their pool of parents, and operators that are drawn evenly."""

import dataclasses
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from evolve.protocols import Strategy
from evolve.strategies import Baseline, register_strategies
from evolve.testing import OPERATORS, Rehearsal, check_strategy
from evolve.types import (
    REJUDGED,
    ConfigError,
    Evaluation,
    Insertion,
    Origin,
    OriginKind,
    Outcome,
    Placement,
    ProgramId,
    Propose,
    Record,
    Ruled,
    Settled,
    TaskChanged,
    Traits,
    Wait,
)


def make(name: str, operators: Sequence[str] = ("first",)) -> Strategy:
    """Returns a registered baseline."""
    (entry,) = (entry for entry in register_strategies() if entry.name == name)
    return entry.factory({}, operators)


def settled(number: int, kind: OriginKind, program: str, outcome: Outcome = Outcome.OK) -> Settled:
    evaluation = Evaluation(outcome, 1.0 if outcome is Outcome.OK else None)
    return Settled(Record(number, Origin(kind, number), ProgramId(program), evaluation), Placement(Insertion.NEW))


@pytest.mark.parametrize("name", ["best_of_n", "sequential", "random"])
def test_it_keeps_the_promises_of_a_strategy(name: str) -> None:
    check_strategy(lambda operators: make(name, operators))


def test_the_pool_holds_the_successes_of_its_kinds() -> None:
    pool = Baseline(["first"], {"seed", "proposal"})
    pool.tell(settled(1, "seed", "a"))
    pool.tell(settled(2, "proposal", "b"))
    pool.tell(settled(3, "proposal", "c", Outcome.CRASHED))
    pool.tell(settled(4, "measurement", "b"))
    pool.tell(settled(5, "import", "d"))
    assert pool.records == [1, 2]


def test_a_quarantined_program_leaves_the_pool_and_comes_back_when_released() -> None:
    pool = Baseline(["first"], {"proposal"})
    for number, program in enumerate("aba", start=1):
        pool.tell(settled(number, "proposal", program))
    pool.tell(Ruled("quarantine", ProgramId("a"), "rule"))
    pool.tell(settled(4, "proposal", "a"))
    pool.tell(Ruled("promote", ProgramId("b"), "rule"))
    assert pool.records == [2]
    pool.tell(Ruled("release", ProgramId("a"), "person"))
    assert pool.records == [1, 2, 3, 4]


def test_a_newer_version_of_the_task_empties_the_pool_until_it_has_judged_again() -> None:
    """What belonged to it comes back under the record of the later judging; other measurements do not."""
    pool = Baseline(["first"], {"proposal"})
    pool.tell(settled(1, "seed", "a"))
    pool.tell(settled(2, "proposal", "b"))
    pool.tell(settled(3, "proposal", "c"))
    pool.tell(TaskChanged("2", ""))
    assert pool.records == []
    for number, program, why in (
        (4, "a", REJUDGED),
        (5, "b", REJUDGED),
        (6, "b", "challenger"),
        (7, "c", "noise floor"),
    ):
        event = settled(number, "measurement", program)
        pool.tell(
            dataclasses.replace(
                event, record=dataclasses.replace(event.record, origin=Origin("measurement", 1, why=why))
            )
        )
    assert pool.records == [5]


def test_records_and_operators_that_may_be_used_are_drawn_evenly() -> None:
    pool, view, rng = Baseline(OPERATORS, {"seed"}), Rehearsal(), np.random.default_rng(0)
    for number in (1, 2):
        pool.tell(settled(number, "seed", str(number)))
    view.operators = OPERATORS[1:]
    actions = [pool.ask(view, rng) for _ in range(2000)]
    counts = Counter(action.selection for action in actions if isinstance(action, Propose))
    assert {(selection.operator, selection.parents) for selection in counts} == {
        (operator, (record,)) for operator in ("second", "third") for record in (1, 2)
    }
    assert min(counts.values()) / 2000 == pytest.approx(0.25, abs=0.04)


def test_an_operator_that_wants_more_than_one_elite_is_none_for_a_baseline() -> None:
    pool, view, rng = Baseline(OPERATORS, {"seed"}), Rehearsal(), np.random.default_rng(0)
    pool.tell(settled(7, "seed", "a"))
    view.needs.update(first=Traits(parents=2), third=Traits(takes_failures=True))
    actions = [pool.ask(view, rng) for _ in range(50)]
    assert {action.selection.operator for action in actions if isinstance(action, Propose)} == {"second"}
    view.operators = ("first", "third")
    with pytest.raises(ConfigError, match=r"needs an operator that changes one program, got first, third\. Try: "):
        pool.ask(view, rng)


def test_a_baseline_without_operators_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"needs an operator that learns nothing, got none\. Try: "):
        Baseline((), {"seed"})


def test_every_parent_is_the_seed(rehearsal: Rehearsal) -> None:
    strategy, parents = make("best_of_n"), set()
    for step in range(40):
        for event in rehearsal.events[-2 if step else 0 :]:
            strategy.tell(event)
        action = strategy.ask(rehearsal, rehearsal.rng(step))
        assert isinstance(action, Propose)
        parents.add(action.selection.parents)
        rehearsal.start(action)
        rehearsal.finish()
    assert parents == {(1,)}


def test_it_waits_until_a_seed_has_settled() -> None:
    empty = Rehearsal()
    assert make("best_of_n").ask(empty, empty.rng(1)) == Wait()


def test_the_parent_is_the_best_so_far(rehearsal: Rehearsal) -> None:
    strategy, parents = make("sequential"), list[float]()
    for step in range(60):
        action = strategy.ask(rehearsal, rehearsal.rng(step))
        assert isinstance(action, Propose)
        fitness = [record.evaluation.fitness for record in rehearsal.history.records]
        parent = rehearsal.history.fitness(action.selection.parents[0])
        assert parent == max(value for value in fitness if value is not None)
        parents.append(parent)
        rehearsal.start(action)
        rehearsal.finish()
    assert parents == sorted(parents)
    assert parents[-1] > parents[0]


def test_before_the_archive_has_a_best_a_seed_is_the_parent(rehearsal: Rehearsal) -> None:
    strategy, empty = make("sequential"), Rehearsal()
    assert strategy.ask(empty, empty.rng(1)) == Wait()
    for event in rehearsal.events:
        strategy.tell(event)
    action = strategy.ask(empty, empty.rng(1))
    assert isinstance(action, Propose)
    assert action.selection.parents == (1,)


def test_parents_are_all_successful_programs_and_no_others(rehearsal: Rehearsal) -> None:
    strategy, told = make("random"), 0
    for step in range(40):
        for event in rehearsal.events[told:]:
            strategy.tell(event)
        told = len(rehearsal.events)
        action = strategy.ask(rehearsal, rehearsal.rng(step))
        assert isinstance(action, Propose)
        rehearsal.start(action)
        rehearsal.finish()
    for event in rehearsal.events[told:]:
        strategy.tell(event)
    successes = {record.id for record in rehearsal.history.records if record.evaluation.outcome is Outcome.OK}
    drawn: set[int] = set()
    for step in range(1000):
        action = strategy.ask(rehearsal, rehearsal.rng(step))
        assert isinstance(action, Propose)
        drawn.update(action.selection.parents)
    assert len(successes) < 41
    assert drawn == successes


def test_it_waits_until_a_program_has_settled() -> None:
    empty = Rehearsal()
    assert make("random").ask(empty, empty.rng(1)) == Wait()
