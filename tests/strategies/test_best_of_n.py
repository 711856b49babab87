"""`best_of_n`: independent children of the seed."""

from evolve.strategies.best_of_n import BestOfN
from evolve.testing import Rehearsal, check_strategy
from evolve.types import Propose, Wait


def test_it_keeps_the_promises_of_a_strategy() -> None:
    check_strategy(BestOfN)


def test_every_parent_is_the_seed(rehearsal: Rehearsal) -> None:
    strategy, parents = BestOfN(["first"]), set()
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
    assert BestOfN(["first"]).ask(empty, empty.rng(1)) == Wait()
