"""The strategy keeps its promises, and does what it says."""

import pytest
from evolve.testing import OPERATORS, Rehearsal, check_strategy
from evolve.types import Propose, Wait

from evolve_starter.strategy import Tournament


@pytest.mark.parametrize("size", [1, 3, 50])
def test_it_keeps_the_promises_of_a_strategy(size: int) -> None:
    """evolve's own suite: asking changes nothing, a replay rebuilds it, a quarantined program is left alone."""
    check_strategy(lambda operators: Tournament({"size": size}, operators))


def test_the_best_of_many_is_the_best_of_all() -> None:
    """A tournament of everybody is won by the best."""
    rehearsal, strategy = Rehearsal(), Tournament({"size": 1000}, OPERATORS)
    rehearsal.open()
    for step in range(1, 30):
        for event in rehearsal.events[-2:]:
            strategy.tell(event)
        action = strategy.ask(rehearsal, rehearsal.rng(step))
        assert isinstance(action, Propose)
        rehearsal.start(action)
        rehearsal.finish()
        known = [rehearsal.history.fitness(record) for record in range(1, len(rehearsal.history))]
        assert rehearsal.history.fitness(action.selection.parents[0]) == max(
            value for value in known if value is not None
        )


def test_it_waits_for_the_first_program() -> None:
    """There is nothing to draw from."""
    assert Tournament({}, OPERATORS).ask(Rehearsal(), Rehearsal().rng(1)) == Wait()
