"""The baseline `best_of_n`: every proposal is a child of the seed, and the best one is kept.

Invariant: no proposal depends on the result of another."""

from collections.abc import Sequence

from numpy.random import Generator

from evolve.protocols import View
from evolve.strategies.baseline import EvenOperators, Pool
from evolve.types import Event, Propose, Wait


class BestOfN:
    """Independent children of the seed (of any seed, where a task has several)."""

    def __init__(self, operators: Sequence[str]) -> None:
        self._operators = EvenOperators(operators)
        self._seeds = Pool({"seed"})

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        seed = self._seeds.draw(rng)
        return Wait() if seed is None else self._operators.propose(seed, view, rng)

    def tell(self, event: Event) -> None:
        self._seeds.tell(event)
