"""The strategy `starter`: tournament selection. `--strategy starter` uses it."""

from collections.abc import Mapping, Sequence
from typing import Any

from evolve import Selection, hookimpl
from evolve.hookspecs import StrategyEntry
from evolve.protocols import View
from evolve.types import Event, ProgramId, Propose, RecordId, Ruled, Settled, Wait
from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field


class TournamentSettings(BaseModel):
    """Settings: `--set strategy.settings.size=5`. A key that is not here is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: int = Field(
        default=3, ge=1, le=1000, description="how many programs are drawn, of which the best is the parent"
    )


class Tournament:
    """A few programs are drawn evenly, and the best of them is the parent; the operator is drawn evenly, too.

    `operators` names those of the campaign. Not all of them may be used at any time: `view.operators` tells which may be now,
    and `view.traits` what they want: one that takes two parents, or a program that failed, is left out here."""

    def __init__(self, settings: Mapping[str, Any], operators: Sequence[str]) -> None:
        self._size = TournamentSettings(**settings).size
        self._programs: list[tuple[float, RecordId, ProgramId]] = []
        self._quarantined: set[ProgramId] = set()

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """A child of the winner. This changes nothing: the same view and generator give the same answer."""
        entrants = [entrant for entrant in self._programs if entrant[2] not in self._quarantined]
        if not entrants:
            return Wait()
        drawn = [entrants[int(number)] for number in rng.integers(len(entrants), size=self._size)]
        _, parent, _ = max(drawn)
        operators = [name for name in view.operators if view.traits(name).takes_one_elite]
        operator = operators[int(rng.integers(len(operators)))]
        return Propose(Selection(operator, parents=(parent,)))

    def tell(self, event: Event) -> None:
        """The only place where state changes; a campaign that goes on is told the same events again."""
        match event:
            case Settled(record=record) if record.origin.kind != "measurement":
                if record.program is not None and record.evaluation.fitness is not None:
                    self._programs.append((record.evaluation.fitness, record.id, record.program))
            case Ruled(what="quarantine", about=program):
                self._quarantined.add(program)
            case Ruled(what="release", about=program):
                self._quarantined.discard(program)


@hookimpl
def register_strategies() -> Sequence[StrategyEntry]:
    """The name, what makes the strategy from its settings and the operators' names, and the model of the settings."""
    return [StrategyEntry("starter", Tournament, TournamentSettings)]
