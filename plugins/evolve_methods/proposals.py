"""Proposals of a strategy that has found its parent: the operator by fixed shares, and the elites that it is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from numpy.random import Generator

from evolve.archive import Elite
from evolve.protocols import View
from evolve.types import Action, ConfigError, Import, Propose, RecordId, Selection, Wait

_TRIES = 4
"""Elites that are drawn for each that is wanted."""


@dataclass(frozen=True, slots=True)
class Proposer:
    """What is asked of a parent: an operator in proportion to `shares`, where one that they do not name counts 1; up to `inspirations` elites
    to show; and the children of one proposal, `samples`. `operators` are the campaign's."""

    operators: Sequence[str]
    inspirations: int
    samples: int = 1
    shares: Mapping[str, float] = field(default_factory=dict)

    def propose(self, view: View, parent: RecordId, island: int, rng: Generator) -> Propose | Wait:
        """Proposes children of a record by an operator that finds as many parents as it wants. Raises `ConfigError` where none ever will."""
        able = {name: view.traits(name) for name in view.operators}
        able = {name: one for name, one in able.items() if not (one.takes_failures or one.makes_notes)}
        most = max((one.parents for one in able.values()), default=1)
        partners = draw_elites(view, island, parent, most - 1, rng) if most > 1 else []
        names = [name for name, one in able.items() if one.parents <= 1 + len(partners)]
        weights = [self.shares.get(name, 1.0) for name in names]
        if not sum(weights):
            return self._wait_or_refuse(view)
        operator = names[int(rng.choice(len(names), p=[weight / sum(weights) for weight in weights]))]
        parents = (parent, *partners[: max(0, able[operator].parents - 1)])
        shown = [
            record for record in draw_elites(view, island, parent, self.inspirations, rng) if record not in parents
        ]
        return Propose(Selection(operator, island, parents, tuple(shown), samples=self.samples))

    def asked(self, action: Action | Import) -> Selection | None:
        """Returns what was selected where an action is a proposal of the strategy; the engine asks for lessons by steps of its own."""
        if not isinstance(action, Propose) or action.selection.operator not in self.operators:
            return None
        return action.selection if action.selection.parents else None

    def _wait_or_refuse(self, view: View) -> Wait:
        if view.pending or len(view.operators) < len(self.operators):
            return Wait()
        raise ConfigError(
            f"no operator makes a child of one program: got {', '.join(view.operators) or 'none'}. "
            "Try: name one more in operators.names, such as diff or tune_literals, with a share above 0"
        )


def draw_elites(view: View, island: int, parent: RecordId, count: int, rng: Generator) -> list[RecordId]:
    """Draws up to `count` elites of an island by rank, of programs that all differ, and differ from the parent's; where it has too few, the
    best of all islands."""
    drawn: Sequence[Elite] = view.archive.sample_elites(island, _TRIES * count, rng)
    best = [view.archive.best_elite(number) for number in range(view.archive.settings.islands)]
    programs, found = {view.history.program_id(parent)}, list[RecordId]()
    for elite in (*drawn, *(elite for elite in best if elite is not None)):
        if elite.program not in programs:
            programs.add(elite.program)
            found.append(elite.record)
    return found[:count]
