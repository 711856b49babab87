"""Parents for operators that call a model, drawn from the elites of all islands: calls are few, so they are not divided among islands.

An elite of rank r whose program was a parent n times is drawn in proportion to 1 / (r (1 + n)), as in DGM
(https://arxiv.org/abs/2505.22954) but by ranks, so that nothing depends on the scale of the fitness; a share of the draws is the best
program's whatever was made of it. The first proposals are drafts: children of the seed, independent of one another, since the first idea
decides much of what a short search finds. A search that stands still tries larger changes in turns with ordinary ones.

The state is a fold over the events: how often each record was a parent, which pairs were crossed, and how long nothing was found."""

from collections import Counter, deque
from collections.abc import Sequence

from numpy.random import Generator

from evolve.archive import Elite
from evolve.protocols import History, View
from evolve.strategies.sampling import sample_in_proportion
from evolve.types import (
    DRAFT,
    NOBODYS_FAULT,
    STAGNATION,
    Asked,
    Event,
    ProgramId,
    Propose,
    Record,
    RecordId,
    Settled,
    TaskChanged,
)

PROMISING = 4
"""The best elites, among which all are drawn. An archive is full of variations of weak programs, of which a model makes nothing good."""
RELATED = 100
"""Ancestors of a program that count as such, the nearest."""


class ModelParents:
    """Memory of what models were asked. `drafts`: children of the seed to begin with; `best_share`: least share of the best program as
    a parent; `stagnation`: evaluated proposals without a new best after which every second one is a larger change, 0 for never."""

    def __init__(self, drafts: int, best_share: float, stagnation: int) -> None:
        self._drafts = drafts
        self._best_share = best_share
        self._stagnation = stagnation
        self._begin()

    def _begin(self) -> None:
        self._seed: RecordId = 0
        self._asked = Counter[RecordId]()
        self._crossed = set[frozenset[RecordId]]()
        self._drafted = 0
        self._best = (float("-inf"), 0.0)
        self._fruitless = 0
        self._was_larger = False

    def tell(self, event: Event) -> None:
        """Folds one event at constant cost."""
        match event:
            case Asked(action=Propose(selection=selection)) if selection.model and selection.parents:
                self._asked[selection.parents[0]] += 1
                self._drafted += selection.why == DRAFT
                self._was_larger = selection.why == STAGNATION
                if len(selection.parents) > 1:
                    self._crossed.add(frozenset(selection.parents[:2]))
            case Settled(record=record) if not record.origin.case:
                self._settle(record)
            case TaskChanged():
                self._begin()

    def _settle(self, record: Record) -> None:
        evaluation = record.evaluation
        if evaluation.fitness is not None:
            self._seed = self._seed or (record.id if record.origin.kind == "seed" else 0)
            worth = (-evaluation.violation, evaluation.fitness)
            if worth > self._best:
                self._best, self._fruitless = worth, 0
                return
        if record.origin.model and record.origin.kind == "proposal" and evaluation.outcome not in NOBODYS_FAULT:
            self._fruitless += 1

    @property
    def reason(self) -> str:
        """Reason of the next selection; empty for an ordinary one."""
        if self._seed and self._drafted < self._drafts:
            return DRAFT
        overdue = self._stagnation and self._fruitless >= self._stagnation
        # In turns with ordinary ones, which tune what there is.
        return STAGNATION if overdue and not self._was_larger else ""

    def list_elites(self, view: View) -> list[Elite]:
        """Returns the best elites of all islands, one of each program, the best first; the seed only where there is nothing else. Drafts begin from it."""
        every = sorted(view.archive.elites(), key=lambda elite: (elite.violation, -elite.fitness, elite.record))
        found: dict[ProgramId, Elite] = {}
        for elite in every:
            found.setdefault(elite.program, elite)
        able = [elite for elite in found.values() if elite.record != self._seed]
        return able[:PROMISING] or list(found.values())

    def draw_parent(self, elites: Sequence[Elite], rng: Generator) -> RecordId:
        """Draws a parent by the law of the reason; `elites` as `list_elites` returns them, at least one."""
        if self.reason == DRAFT:
            return self._seed
        if self.reason != STAGNATION and rng.random() < self._best_share:
            return elites[0].record
        weights = [1 / (rank * (1 + self._asked[elite.record])) for rank, elite in enumerate(elites, 1)]
        return sample_in_proportion(elites, weights, 1, rng)[0].record

    def draw_partners(
        self, view: View, parent: RecordId, elites: Sequence[Elite], count: int, rng: Generator
    ) -> list[RecordId]:
        """Draws up to `count` elites of other lines than the parent, by their ranks: neither ancestors nor descendants, and never crossed with
        it before."""
        family = {parent, *_list_ancestors(view.history, parent)}
        able = [
            elite
            for elite in elites
            if elite.record not in family
            and parent not in _list_ancestors(view.history, elite.record)
            and frozenset((parent, elite.record)) not in self._crossed
        ]
        return _draw_by_rank(able, count, rng)

    def draw_inspirations(
        self, parents: Sequence[RecordId], elites: Sequence[Elite], count: int, rng: Generator
    ) -> list[RecordId]:
        """Draws up to `count` elites to show beside the parents, by their ranks."""
        shown = [elite for elite in elites if elite.record in parents]
        return _draw_by_rank([elite for elite in elites if elite.record not in parents], count, rng, shown)


def _draw_by_rank(elites: Sequence[Elite], count: int, rng: Generator, shown: Sequence[Elite] = ()) -> list[RecordId]:
    """Draws up to `count` different elites, that of rank r in proportion to 1 / r, those of a cell that is not shown yet before the others."""
    left, found = list(elites), list[Elite]()
    while left and len(found) < count:
        cells = {elite.cell for elite in (*shown, *found)}
        fresh = [elite for elite in left if elite.cell not in cells] or left
        weights = [1 / rank for rank in range(1, len(fresh) + 1)]
        found += sample_in_proportion(fresh, weights, 1, rng)
        left.remove(found[-1])
    return [elite.record for elite in found]


def _list_ancestors(history: History, record: RecordId) -> set[RecordId]:
    """Returns the nearest ancestors of a record, by all parents: a program that was crossed contains both."""
    found, left = set[RecordId](), deque([record])
    while left and len(found) < RELATED:
        child = left.popleft()
        # A parent is older than its child; the check ends the walk in a history that says otherwise.
        fresh = [parent for parent in history.parents(child) if parent < child and parent not in found]
        found.update(fresh)
        left.extend(fresh)
    return found
