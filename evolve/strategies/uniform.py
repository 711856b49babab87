"""The baseline `random`: the parent is any successful program of the campaign, each equally likely.

Invariant: fitness has no influence, but that a failed program is never a parent."""

from collections.abc import Sequence

from numpy.random import Generator

from evolve.protocols import View
from evolve.strategies.baseline import EvenOperators, Pool
from evolve.types import Event, Propose, Wait


class Uniform:
    """Variation without selection."""

    def __init__(self, operators: Sequence[str]) -> None:
        self._operators = EvenOperators(operators)
        self._programs = Pool({"seed", "proposal", "import"})

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        parent = self._programs.draw(rng)
        return Wait() if parent is None else self._operators.propose(parent, view, rng)

    def tell(self, event: Event) -> None:
        self._programs.tell(event)
