"""The default strategy, `islands`: the archive's islands in turn, an elite as parent, and the operator by the bandit.

Invariant: the only state is the bandit and how often each island was asked; both are folds over the events."""

from collections.abc import Mapping, Sequence

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.archive import Elite
from evolve.protocols import View
from evolve.stop import Resource
from evolve.strategies.bandit import FLOOR, Bandit
from evolve.types import Asked, Event, Propose, RecordId, Selection, Wait


class IslandsSettings(BaseModel):
    """Settings of `islands`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    resource: Resource = "programs"
    """What the bandit counts as cost: the resource of the campaign's tightest budget."""
    inspirations: int = Field(default=2, ge=0, le=16)
    """How many other elites of the island an operator is shown at most."""
    floor: float = Field(default=FLOOR, ge=0.0, le=1.0)
    """The least share of the proposals that every operator keeps."""


class Islands:
    """Evolves islands side by side; what moves between them is the archive's business."""

    def __init__(self, settings: IslandsSettings, operators: Sequence[str]) -> None:
        self._inspirations = settings.inspirations
        self._bandit = Bandit(operators, settings.resource, settings.floor)
        self._asked: dict[int, int] = {}

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """A proposal on the least asked island that has an elite; Wait while none has one."""
        islands = range(view.archive.settings.islands)
        for island in sorted(islands, key=lambda number: self._asked.get(number, 0)):
            elites = view.archive.sample_elites(island, 1 + self._inspirations, rng)
            if elites:
                return Propose(self._select(island, elites, self._bandit.choose(rng, view.operators)))
        return Wait()

    def tell(self, event: Event) -> None:
        self._bandit.tell(event)
        match event:
            case Asked(action=Propose(selection=selection)):
                self._asked[selection.island] = self._asked.get(selection.island, 0) + 1

    def shares(self) -> Mapping[str, float]:
        """The probability of each operator at the next proposal."""
        return self._bandit.shares()

    def _select(self, island: int, elites: Sequence[Elite], operator: str) -> Selection:
        parent, inspirations = elites[0], list[RecordId]()
        for elite in elites[1:]:
            if elite.program != parent.program and elite.record not in inspirations:
                inspirations.append(elite.record)
        return Selection(operator, island, (parent.record,), tuple(inspirations))
