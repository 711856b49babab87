"""Choices that several methods make alike: operators that may be used, elites to show, and the best program."""

from collections.abc import Sequence

from numpy.random import Generator

from evolve.archive import Elite
from evolve.protocols import View
from evolve.types import ConfigError, RecordId, Wait

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
    of all islands."""
    drawn: Sequence[Elite] = view.archive.sample_elites(island, _TRIES * count, rng)
    best = find_best(view)
    programs, found = {view.history.program_id(parent) for parent in parents}, list[RecordId]()
    for elite in (*drawn, *([best] if best else [])):
        if elite.program not in programs:
            programs.add(elite.program)
            found.append(elite.record)
    return tuple(found[:count])
