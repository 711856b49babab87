"""GEPA (Agrawal et al. 2025, https://arxiv.org/abs/2507.19457): parents from the front of the cases, and children that must be better on a few cases
before they are evaluated on all.

*Parents.* For each case the best score is known, and the programs that reach it. A program that is among the best on no case, or on no case that another one of the
front is not among the best on as well, is no parent; the others are drawn in proportion to the number of cases that they are among the best on.

*Gate.* A child is evaluated on a minibatch of cases first, drawn for each proposal, and goes on only if it is better than its parent on their mean.

*Merge.* After a child that entered the front, the next proposal joins two programs of the front of which neither descends from the other, at most `merges` times in a campaign.

*Faithful:* selection by cases without dominated programs, the gate with the paper's minibatch of 3, the merges and their number.

*Not faithful.* Prompts are the engine's: they show feedback and results of all cases, the parent's beside the best of all, and not those of the minibatch alone. A merge is a
`crossover` by a model and passes the same gate, where the paper picks modules of common ancestors. A front keeps the first 32 programs that are equally good on a case. Without cases the fitness is the only one,
and there is no gate."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.hookspecs import PresetEntry, StrategyEntry
from evolve.protocols import View
from evolve.types import Asked, Event, Propose, RecordId, Ruled, Selection, Settled, TaskChanged, Wait
from evolve_methods.choices import Proposer
from evolve_methods.lineage import Lineage, LineageNode

TIES = 32
"""Programs that a case keeps of those that are equally good on it."""
_MERGE = "crossover"


class GepaSettings(BaseModel):
    """Settings of `gepa`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    minibatch: int = Field(default=3, ge=1, le=1000)
    """Cases of the gate."""
    merges: int = Field(default=5, ge=0)
    """Merges of a campaign, at most; 0: none."""
    inspirations: int = Field(default=1, ge=0, le=16)
    """Elites that an operator is shown, at most."""


class CaseFront:
    """Best programs of each case: a fold over results. Larger results are better."""

    def __init__(self) -> None:
        self._best: dict[str, tuple[float, list[RecordId]]] = {}

    def add(self, record: RecordId, results: Mapping[str, float]) -> bool:
        """Takes a program's results; returns whether it is now among the best on a case."""
        entered = False
        for case, result in results.items():
            best, records = self._best.get(case, (-math.inf, []))
            if result > best:
                self._best[case] = (result, [record])
                entered = True
            elif result == best and len(records) < TIES:
                records.append(record)
                entered = True
        return entered

    def shares(self) -> Mapping[RecordId, int]:
        """Returns the programs that may be parents, in the order of their records, with the number of cases that each is among the best on."""
        wins: dict[RecordId, set[str]] = {}
        for case, (_, records) in self._best.items():
            for record in records:
                wins.setdefault(record, set()).add(case)
        kept: dict[RecordId, set[str]] = {}
        # The strongest first: what is left out is dominated by what is kept.
        for record in sorted(wins, key=lambda record: (-len(wins[record]), record)):
            if not any(wins[record] <= other for other in kept.values()):
                kept[record] = wins[record]
        return {record: len(kept[record]) for record in sorted(kept)}


class Gepa:
    """Strategy on the front of the cases, on the first island. Only `tell` changes its state."""

    def __init__(self, settings: GepaSettings, operators: Sequence[str]) -> None:
        self._settings = settings
        self._proposer = Proposer(operators, settings.inspirations, shares={_MERGE: 0.0})
        self._lineage = Lineage[LineageNode](LineageNode)
        self._begin()

    def _begin(self) -> None:
        self._results: dict[RecordId, Mapping[str, float]] = {}
        self._front = CaseFront()
        self._merges_left = self._settings.merges
        self._merge_due = False

    def shares(self) -> Mapping[RecordId, int]:
        """Returns the possible parents with the number of cases that each is among the best on."""
        return self._front.shares()

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a merge where one is due, else a proposal of a program of the front; Wait while no program has settled."""
        shares = self.shares()
        if not shares:
            return Wait()
        records, total = list(shares), sum(shares.values())
        parent = records[int(rng.choice(len(records), p=[share / total for share in shares.values()]))]
        action = self._merge(view, parent, records, rng) or self._proposer.propose(view, parent, 0, rng)
        if not isinstance(action, Propose) or not view.task.cases:
            return action
        # A parent that came to no case has nothing to compare with.
        known = [
            case.name for case in view.task.cases if case.name in self._results.get(action.selection.parents[0], {})
        ]
        count = min(self._settings.minibatch, len(known))
        drawn = sorted(int(place) for place in rng.choice(len(known), count, replace=False)) if count else []
        return Propose(action.selection, gate=tuple(known[place] for place in drawn))

    def _merge(self, view: View, parent: RecordId, records: Sequence[RecordId], rng: Generator) -> Propose | None:
        if not self._merge_due or not self._merges_left or _MERGE not in view.operators:
            return None
        others = [record for record in records if self._are_of_two_lines(parent, record)]
        if not others:
            return None
        other = others[int(rng.integers(len(others)))]
        return Propose(Selection(_MERGE, parents=(parent, other)))

    def _are_of_two_lines(self, one: RecordId, other: RecordId) -> bool:
        first, second = self._lineage.nodes.get(one), self._lineage.nodes.get(other)
        if first is None or second is None:
            return False
        return second not in first.line() and first not in second.line()

    def tell(self, event: Event) -> None:
        """Folds an event at the cost of the program's cases; rulings walk through all programs."""
        node = self._lineage.tell(event)
        match event:
            case Asked(action=Propose(selection=selection)) if selection.operator == _MERGE:
                self._merge_due, self._merges_left = False, max(0, self._merges_left - 1)
            case Settled(record=record) if node is not None:
                evaluation = record.evaluation
                # A fitness alone is the only case.
                results = evaluation.cases or {"": evaluation.fitness or 0.0}
                self._results[record.id] = results
                entered = not node.quarantined and self._front.add(record.id, results)
                self._merge_due = self._merge_due or (entered and record.origin.kind == "proposal")
            case TaskChanged():
                self._begin()
            case Ruled():
                self._front = CaseFront()
                for number, one in self._lineage.nodes.items():
                    if not one.quarantined:
                        self._front.add(number, self._results[number])


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> Gepa:
    return Gepa(GepaSettings(**settings), operators)


ENTRIES = (
    StrategyEntry("gepa", _make, GepaSettings, operators=("diff", "rewrite", _MERGE)),
    PresetEntry(
        "gepa",
        {"strategy": {"name": "gepa"}, "archive": {"islands": 1}},
        "parents from the front of the cases, and children that pass a minibatch first",
        "GEPA, https://arxiv.org/abs/2507.19457",
    ),
)
