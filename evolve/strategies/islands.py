"""The default strategy, `islands`: the operator by a bandit; for operators without a model the archive's islands in turn, and for those with
one the elites of all islands (see `model_parents`).

A strategy that differs in one law is this one with another function: see `docs/operators.md`."""

from collections.abc import Mapping, Sequence

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.archive import Elite
from evolve.protocols import View
from evolve.stop import Resource
from evolve.strategies.bandit import FLOOR, Bandit
from evolve.strategies.model_parents import ModelParents
from evolve.strategies.repairs import Repair, list_repairs
from evolve.strategies.sampling import (
    ParentSampler,
    sample_by_rank,
    sample_partners,
)
from evolve.types import Asked, ConfigError, Event, ProgramId, Propose, RecordId, Ruled, Selection, Traits, Wait

LARGE = "rewrite"
"""Operator of drafts and of larger changes, where the campaign has it."""


class IslandsSettings(BaseModel):
    """Settings of `islands`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    resource: Resource = "programs"
    """Resource that the bandit counts as cost: that of the campaign's tightest budget."""
    inspirations: int = Field(default=2, ge=0, le=16)
    """Most other elites of the island that an operator is shown."""
    floor: float = Field(default=FLOOR, ge=0.0, le=1.0)
    """The least share of the proposals that every operator keeps."""
    drafts: int = Field(default=4, ge=0)
    """Children of the seed that models are asked for to begin with."""
    best_share: float = Field(default=0.5, ge=0.0, le=1.0)
    """The least share of the best program among the parents that models are shown."""
    stagnation: int = Field(default=8, ge=0)
    """Evaluated proposals of models without a new best after which every second one is a larger change; 0: never."""


class Islands:
    """Evolves islands side by side; the archive moves programs between them.

    The state is the bandit, how often each island was asked, and which programs are quarantined: all are folds over the events."""

    def __init__(
        self,
        settings: IslandsSettings,
        operators: Sequence[str],
        *,
        sample_parents: ParentSampler | None = None,
    ) -> None:
        self._inspirations = settings.inspirations
        self._sample_parents = sample_parents
        self._count = len(operators)
        self._bandit = Bandit(operators, settings.resource, settings.floor)
        self._models = ModelParents(settings.drafts, settings.best_share, settings.stagnation)
        self._asked: dict[int, int] = {}
        self._quarantined: set[ProgramId] = set()

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a proposal on the least asked island that has an elite; Wait while none has one. Raises `ConfigError` where no
        operator of the campaign could ever be used."""
        islands = range(view.archive.settings.islands)
        for island in sorted(islands, key=lambda number: self._asked.get(number, 0)):
            sample = self._sample_parents or sample_by_rank
            elites = sample(view, island, 1 + self._inspirations, rng)
            if elites:
                return self._proposal(island, elites, view, rng)
        return Wait()

    def tell(self, event: Event) -> None:
        self._bandit.tell(event)
        self._models.tell(event)
        match event:
            case Asked(action=Propose(selection=selection)) if not selection.model:
                self._asked[selection.island] = self._asked.get(selection.island, 0) + 1
            case Ruled(what="quarantine", about=program):
                self._quarantined.add(program)
            case Ruled(what="release", about=program):
                self._quarantined.discard(program)

    def shares(self) -> Mapping[str, float]:
        """Returns the probability of each operator at the next proposal."""
        return self._bandit.shares()

    def _proposal(self, island: int, elites: Sequence[Elite], view: View, rng: Generator) -> Propose | Wait:
        """Proposes by one of the operators that find what they want: as many parents as that, or a failure that is worth a repair."""
        traits = {operator: view.traits(operator) for operator in view.operators}
        most = max((one.parents for one in traits.values()), default=1)
        parents = [elites[0], *sample_partners(view.archive, elites[0], most - 1, rng)]
        able = [name for name, one in traits.items() if self._finds_parents(view, one, len(parents))]
        if not able:
            return self._wait_or_refuse(view)
        operator = self._bandit.choose(rng, able)
        wanted = traits[operator]
        if wanted.takes_failures:
            return _propose_repair(operator, island, sorted(list_repairs(view, wanted, self._quarantined)), view, rng)
        if not wanted.needs_model:
            return Propose(_select(operator, island, parents[: max(1, wanted.parents)], elites[1:]))
        single = [name for name in able if traits[name].needs_model and traits[name].takes_one_elite]
        return self._propose_by_model(operator, single, elites[0], view, rng)

    def _propose_by_model(
        self, operator: str, single: Sequence[str], drawn: Elite, view: View, rng: Generator
    ) -> Propose:
        """Proposes by an operator with a model; by one of `single`, which want one parent, where there is no pair of different lines.
        `drawn` is the parent where the strategy has a law of its own."""
        models, elites, why = self._models, self._models.list_elites(view), ""
        if self._sample_parents is None:
            why = models.reason
            parents = [models.draw_parent(elites, rng)]
        else:
            parents = [drawn.record]
        if why and LARGE in single:
            operator = LARGE
        missing = view.traits(operator).parents - 1
        if missing > 0:
            parents += models.draw_partners(view, parents[0], elites, missing, rng)
            if len(parents) <= missing and single:
                operator = self._bandit.choose(rng, single)
        # The best program is in every prompt.
        count = max(0, self._inspirations - (elites[0].record not in parents))
        shown = models.draw_inspirations(parents, elites, count, rng)
        home = view.history.record(parents[0]).origin.island
        island = home if home < view.archive.settings.islands else 0
        return Propose(Selection(operator, island, tuple(parents), tuple(shown), why=why))

    def _finds_parents(self, view: View, wanted: Traits, elites: int) -> bool:
        """Reports whether there is a failure that is worth a repair, or as many elites as an operator wants."""
        if wanted.makes_notes:
            return False
        if wanted.takes_failures:
            return any(True for _ in list_repairs(view, wanted, self._quarantined))
        return wanted.parents <= elites

    def _wait_or_refuse(self, view: View) -> Wait:
        """Waits where steps under way, or operators that may be used later, could find parents; else the campaign would stand still."""
        if view.pending or len(view.operators) < self._count:
            return Wait()
        names = ", ".join(view.operators) or "none"
        raise ConfigError(
            f"no operator finds a parent that it can change: {names} {'wants' if len(view.operators) == 1 else 'want'} several parents, or a program that failed. "
            "Try: name one more in operators.names, such as diff or tune_literals"
        )


def _select(operator: str, island: int, parents: Sequence[Elite], others: Sequence[Elite]) -> Selection:
    """Selects inspirations whose programs are not those of the parents, each record once."""
    programs, inspirations = {parent.program for parent in parents}, list[RecordId]()
    for elite in others:
        if elite.program not in programs and elite.record not in inspirations:
            inspirations.append(elite.record)
    return Selection(operator, island, tuple(parent.record for parent in parents), tuple(inspirations))


def _propose_repair(operator: str, island: int, found: Sequence[Repair], view: View, rng: Generator) -> Propose:
    """Proposes a repair of one of the failures, of the first most often, as elites are drawn; on the island that it was made for."""
    repair = found[min(int((len(found) + 1) ** rng.random()), len(found)) - 1]
    # The archive may have fewer islands now than when the failure was made.
    home = view.history.record(repair.failure).origin.island
    place = home if home < view.archive.settings.islands else island
    return Propose(Selection(operator, place, (repair.failure,), repair.origin))
