"""Choices that several methods make alike: operators that may be used, elites to show, the best program, and a proposal for a parent that is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from numpy.random import Generator

from evolve.archive import Elite
from evolve.protocols import View
from evolve.types import Action, ConfigError, Import, Propose, RecordId, Selection, Wait

_TRIES = 4
"""Elites that are drawn for each that is wanted."""


def list_usable(view: View, parents: int = 1) -> list[str]:
    """Returns the operators that may be used now and make programs of at most so many elites."""
    traits = {name: view.traits(name) for name in view.operators}
    return [
        name for name, one in traits.items() if one.parents <= parents and not (one.takes_failures or one.makes_notes)
    ]


def wait_or_refuse(view: View, operators: Sequence[str]) -> Wait:
    """Waits where steps under way, or operators that may be used later, could find parents; else raises `ConfigError`, since the campaign would
    stand still."""
    if view.pending or len(view.operators) < len(operators):
        return Wait()
    raise ConfigError(
        f"no operator makes a program of one program: got {', '.join(view.operators) or 'none'}. "
        "Try: name one more in operators.names, such as diff or tune_literals, or none at all"
    )


def find_best(view: View) -> Elite | None:
    """Returns the best program: the one that is confirmed or certified where the task asks for that, else the first of all elites."""
    firsts = [view.archive.best_elite(island) for island in range(view.archive.settings.islands)]
    found = [elite for elite in firsts if elite is not None]
    return view.archive.best or min(found, key=lambda elite: (elite.violation, -elite.fitness), default=None)


def draw_shown(
    view: View, island: int, parents: Sequence[RecordId], count: int, rng: Generator
) -> tuple[RecordId, ...]:
    """Draws up to `count` elites of an island to show beside the parents, by rank, of programs that all differ; where it has too few, the best
    of each island."""
    drawn: Sequence[Elite] = view.archive.sample_elites(island, _TRIES * count, rng)
    firsts = [view.archive.best_elite(number) for number in range(view.archive.settings.islands)]
    programs, found = {view.history.program_id(parent) for parent in parents}, list[RecordId]()
    for elite in (*drawn, *(elite for elite in firsts if elite is not None)):
        if elite.program not in programs:
            programs.add(elite.program)
            found.append(elite.record)
    return tuple(found[:count])


@dataclass(frozen=True, slots=True)
class Proposer:
    """Maker of proposals for one parent: an operator in proportion to `shares`, where one that they do not name counts 1; up to `inspirations` elites
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
        partners = draw_shown(view, island, (parent,), most - 1, rng) if most > 1 else ()
        names = [name for name, one in able.items() if one.parents <= 1 + len(partners)]
        weights = [self.shares.get(name, 1.0) for name in names]
        if not sum(weights):
            return wait_or_refuse(view, self.operators)
        operator = names[int(rng.choice(len(names), p=[weight / sum(weights) for weight in weights]))]
        parents = (parent, *partners[: max(0, able[operator].parents - 1)])
        shown = draw_shown(view, island, parents, self.inspirations, rng)
        return Propose(Selection(operator, island, parents, shown, samples=self.samples))

    def find_selection(self, action: Action | Import) -> Selection | None:
        """Returns what was selected where an action is a proposal of the strategy; the engine asks for lessons by steps of its own."""
        if not isinstance(action, Propose) or action.selection.operator not in self.operators:
            return None
        return action.selection if action.selection.parents else None
