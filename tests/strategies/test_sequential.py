"""`sequential`: a greedy hill climb."""

from evolve.strategies.sequential import Sequential
from evolve.testing import Rehearsal, check_strategy
from evolve.types import Propose, Wait


def test_it_keeps_the_promises_of_a_strategy() -> None:
    check_strategy(Sequential)


def test_the_parent_is_the_best_so_far(rehearsal: Rehearsal) -> None:
    strategy, parents = Sequential(["first"]), list[float]()
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
    strategy, empty = Sequential(["first"]), Rehearsal()
    assert strategy.ask(empty, empty.rng(1)) == Wait()
    for event in rehearsal.events:
        strategy.tell(event)
    action = strategy.ask(empty, empty.rng(1))
    assert isinstance(action, Propose)
    assert action.selection.parents == (1,)
