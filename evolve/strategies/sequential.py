"""The baseline `sequential`: a greedy hill climb. Every proposal is a child of the best program so far.

Invariant: the parent is the archive's best, so it is confirmed or certified where the task asks for that, and never
quarantined."""

from collections.abc import Sequence

from numpy.random import Generator

from evolve.protocols import View
from evolve.strategies.baseline import EvenOperators, Pool
from evolve.types import Event, Propose, Wait


class Sequential:
    """Children of the best; of a seed, until the archive has a best."""

    def __init__(self, operators: Sequence[str]) -> None:
        self._operators = EvenOperators(operators)
        self._seeds = Pool({"seed"})

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        best = view.archive.best
        parent = self._seeds.draw(rng) if best is None else best.record
        return Wait() if parent is None else self._operators.propose(parent, view, rng)

    def tell(self, event: Event) -> None:
        self._seeds.tell(event)
