"""`random`: any successful program is a parent."""

from evolve.strategies.uniform import Uniform
from evolve.testing import Rehearsal, check_strategy
from evolve.types import Outcome, Propose, Wait


def test_it_keeps_the_promises_of_a_strategy() -> None:
    check_strategy(Uniform)


def test_parents_are_all_successful_programs_and_no_others(rehearsal: Rehearsal) -> None:
    strategy, told = Uniform(["first"]), 0
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
    assert Uniform(["first"]).ask(empty, empty.rng(1)) == Wait()
