"""PUCT over the tree of programs, after TTT-Discover (Yuksekgonul and others 2026, https://arxiv.org/abs/2601.16175) and SimpleTES
(https://arxiv.org/abs/2604.19341).

*Law.* The next parent is the program i with the largest

    Q(i) + c P(i) sqrt(1 + T) / (1 + n(i))

Q is the best that came of the program, its own score while nothing has; P is a probability that falls linearly with the rank of the score; n counts the
proposals of the program and of its descendants, T all proposals.

*Faithful:* the formula; the maximum in the place of a mean, since a search wants the best and not the usual; the prior by rank; visits that
count for all ancestors; groups, as children of one prompt, which are one visit; a buffer of the best 1,000.

*As in SimpleTES, and not in TTT-Discover:* Q is the share of the buffer that is no better, so that nothing depends on the scale of the score, and the
factor (R_max - R_min) is 1.

*Not faithful:* nothing is trained, and a group is but several answers to one prompt. A visit counts when its step is asked and not when it has settled: steps under way keep
others from the same parent, as a virtual loss would. Q looks at all descendants up to 100 generations away, without a discount. A program's first measurement is its
score. No limit on the children that a parent keeps in the buffer."""

import math
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.hookspecs import PresetEntry, StrategyEntry
from evolve.protocols import View
from evolve.types import Asked, Event, Propose, Ruled, TaskChanged, Wait
from evolve_methods.choices import Proposer
from evolve_methods.lineage import Lineage, LineageNode, Worth


class PuctSettings(BaseModel):
    """Settings of `puct`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    exploration: float = Field(default=1.0, ge=0.0, allow_inf_nan=False)
    """The factor c."""
    group: int = Field(default=1, ge=1, le=256)
    """Answers to each prompt: children of one proposal."""
    buffer: int = Field(default=1000, ge=1, le=10_000)
    """Programs that may be parents, the best; what has no parent always stays."""
    inspirations: int = Field(default=2, ge=0, le=16)
    """Elites that an operator is shown, at most."""


@dataclass(slots=True, eq=False)
class PuctNode(LineageNode):
    """A program with what was made of it: the best of its descendants, and the proposals that began from it or from one of them."""

    best: Worth | None = None
    visits: int = 0

    @property
    def value(self) -> Worth:
        """Best of its descendants; its own while there is none."""
        return self.worth if self.best is None else self.best


_BY_WORTH = attrgetter("worth")


class Puct:
    """Strategy with one tree for the whole campaign, on the first island. Only `tell` changes its state."""

    def __init__(self, settings: PuctSettings, operators: Sequence[str]) -> None:
        self._exploration = settings.exploration
        self._size = settings.buffer
        self._proposer = Proposer(operators, settings.inspirations, settings.group)
        self._lineage = Lineage[PuctNode](PuctNode)
        self._buffer: list[PuctNode] = []
        """Possible parents, the worst first."""
        self._total = 0

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a proposal with the parent of the largest score; Wait while no program has settled."""
        scores = self.scores()
        if not scores:
            return Wait()
        parent = max(scores, key=lambda node: (scores[node], node.record))
        return self._proposer.propose(view, parent.record, 0, rng)

    def scores(self) -> Mapping[PuctNode, float]:
        """Returns the PUCT score of every possible parent; the cost is that of the buffer."""
        worths = [node.worth for node in self._buffer]
        # Equal scores have equal ranks, the highest of theirs.
        ranks = {worth: rank for rank, worth in enumerate(worths, 1)}
        total = sum(ranks[worth] for worth in worths)
        bonus = self._exploration * math.sqrt(1 + self._total)
        found = {}
        for node in self._buffer:
            value = node.value
            # The best that came of a program may have left the buffer.
            best = ranks[value] if value in ranks else bisect_right(worths, value)
            found[node] = best / len(worths) + bonus * ranks[node.worth] / total / (1 + node.visits)
        return found

    def tell(self, event: Event) -> None:
        """Folds an event at the cost of one buffer and `REACH` ancestors; rulings walk through all programs."""
        node = self._lineage.tell(event)
        if node is not None and not node.quarantined:
            self._back_up(node)
            self._offer(node)
        match event:
            case Asked(action=action):
                selection = self._proposer.find_selection(action)
                self._visit(self._lineage.nodes.get(selection.parents[0]) if selection else None)
            case TaskChanged():
                self._buffer, self._total = [], 0
            case Ruled():
                self._value_again()

    def _visit(self, node: PuctNode | None) -> None:
        if node is not None:
            self._total += 1
            for one in node.line():
                one.visits += 1

    def _back_up(self, node: PuctNode) -> None:
        for one in node.line():
            if one is not node and (one.best is None or one.best < node.worth):
                one.best = node.worth

    def _offer(self, node: PuctNode) -> None:
        insort(self._buffer, node, key=_BY_WORTH)
        if len(self._buffer) > self._size:
            worst = next((place for place, one in enumerate(self._buffer) if one.parent is not None), None)
            if worst is not None:
                del self._buffer[worst]

    def _value_again(self) -> None:
        """Computes values and the buffer again without what is quarantined: it may have been the best of many."""
        self._buffer = []
        for node in self._lineage.nodes.values():
            node.best = None
        for node in self._lineage.nodes.values():
            if not node.quarantined:
                self._back_up(node)
                self._offer(node)


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> Puct:
    return Puct(PuctSettings(**settings), operators)


ENTRIES = (
    StrategyEntry("puct", _make, PuctSettings, operators=("diff", "rewrite")),
    PresetEntry(
        "puct",
        {"strategy": {"name": "puct"}, "archive": {"islands": 1}},
        "one tree of programs, whose best descendant counts",
        "TTT-Discover, https://arxiv.org/abs/2601.16175; SimpleTES, https://arxiv.org/abs/2604.19341",
    ),
)
