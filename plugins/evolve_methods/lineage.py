"""Lineages of programs, for strategies that value a program by what came of it: a fold over the events.

A program hangs from the first of its parents. What an earlier version of the task evaluated is forgotten; what is evaluated again
begins a lineage of its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from evolve.types import REJUDGED, Evaluation, Event, ProgramId, Record, RecordId, Ruled, Settled, TaskChanged

REACH = 100
"""Ancestors, the nearest, that learn of a descendant: so a settled record costs the same, however deep a lineage has become."""

Worth = tuple[float, float]
"""Minus how far the constraints are missed, and the fitness: the larger pair is better."""


def measure_worth(evaluation: Evaluation) -> Worth | None:
    """Returns the worth of a success; None for a failure."""
    return None if evaluation.fitness is None else (-evaluation.violation, evaluation.fitness)


@dataclass(slots=True, eq=False)
class LineageNode:
    """A program that succeeded, with the worth of its first evaluation."""

    record: RecordId
    program: ProgramId
    worth: Worth
    parent: Self | None
    quarantined: bool = False

    def line(self) -> Iterator[Self]:
        """Yields the program and its ancestors up to `REACH`, the nearest first."""
        node: Self | None = self
        for _ in range(1 + REACH):
            if node is None:
                return
            yield node
            node = node.parent


N = TypeVar("N", bound=LineageNode)


class Lineage(Generic[N]):
    """Nodes by their records, parents before children. `make(record, program, worth, parent)` is called for each success."""

    def __init__(self, make: Callable[[RecordId, ProgramId, Worth, N | None], N]) -> None:
        self.nodes: dict[RecordId, N] = {}
        self._make = make
        self._quarantined: set[ProgramId] = set()

    def tell(self, event: Event) -> N | None:
        """Folds an event, and returns the node that it made. Rulings, which are rare, walk through all nodes."""
        match event:
            case Settled(record=record) if _brings_a_program(record):
                return self._add(record)
            case TaskChanged():
                self.nodes.clear()
            case Ruled(what="quarantine", about=program):
                self._rule(self._quarantined | {program})
            case Ruled(what="release", about=program):
                self._rule(self._quarantined - {program})
        return None

    def find_parent(self, record: Record) -> N | None:
        """Returns the node of the first parent; None where it has none, or one of an earlier version of the task."""
        parents = record.origin.parents
        return self.nodes.get(parents[0]) if parents else None

    def _add(self, record: Record) -> N | None:
        worth = measure_worth(record.evaluation)
        if worth is None or record.program is None:
            return None
        node = self._make(record.id, record.program, worth, self.find_parent(record))
        node.quarantined = record.program in self._quarantined
        self.nodes[record.id] = node
        return node

    def _rule(self, quarantined: set[ProgramId]) -> None:
        self._quarantined = quarantined
        for node in self.nodes.values():
            node.quarantined = node.program in quarantined


def _brings_a_program(record: Record) -> bool:
    return record.origin.kind in {"seed", "proposal", "import"} or record.origin.why == REJUDGED
