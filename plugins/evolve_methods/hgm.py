"""Huxley-Gödel Machine (Wang and others 2025, https://arxiv.org/abs/2510.21614): a program is worth what its clade is worth, which is the program
with all its descendants, since a good score today is not what a good lineage is made of.

*Law.* Each evaluation of a program is a success or a failure. A parent is drawn by Thompson sampling: of each program a draw from Beta(1 + successes, 1 + failures) of
its clade, and the largest wins. With N evaluations so far, a new program is asked for where N^alpha is at least the number of programs that were made or are under way; else
one is measured again, drawn in the same way by its own successes and failures.

*Faithful:* clade values that are exact sums over the tree, both Thompson draws, the rule between the two with the paper's alpha = 0.6, steps that are not waited for.

*Not faithful.* The paper's programs are agents, and an evaluation is one of many tasks that an agent solves or not. Here **a success is an evaluation that is better than the mean of the
parent's**, and one that fails, or is no better, is a failure: "better than the best of the campaign" would hardly ever happen. The seed has no outcomes of its own. On a deterministic task, where a second
measurement says what the first said, nothing is measured again. The optional cool-down of the draws towards the end is left out, and so is the choice of a final program,
which is the engine's. An outcome counts for the nearest 100 ancestors, and parents are drawn among at most `candidates` programs: where there are more, the one whose clade has the least posterior mean is no
parent any more; its outcomes still count for its ancestors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.hookspecs import PresetEntry, StrategyEntry
from evolve.protocols import View
from evolve.types import (
    NOBODYS_FAULT,
    REJUDGED,
    Event,
    Measure,
    Propose,
    Record,
    Ruled,
    Settled,
    TaskChanged,
    Wait,
)
from evolve_methods.choices import Proposer
from evolve_methods.lineage import Lineage, LineageNode, Worth, measure_worth

WHY = "clade"
"""Reason of the measurements."""


class HgmSettings(BaseModel):
    """Settings of `hgm`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    alpha: float = Field(default=0.6, gt=0.0, le=1.0)
    """Exponent of the rule between a new program and a measurement; 1: hardly ever a measurement."""
    candidates: int = Field(default=1000, ge=2, le=10_000)
    """Programs among which parents are drawn, at most."""
    inspirations: int = Field(default=2, ge=0, le=16)
    """Elites that an operator is shown, at most."""


@dataclass(slots=True)
class Tally:
    """Successes and failures."""

    successes: int = 0
    failures: int = 0

    def count(self, success: bool, times: int = 1) -> None:
        """Adds outcomes that are alike."""
        if success:
            self.successes += times
        else:
            self.failures += times

    @property
    def mean(self) -> float:
        """Mean of the posterior, with an even prior."""
        return (1 + self.successes) / (2 + self.successes + self.failures)


@dataclass(slots=True, eq=False)
class HgmNode(LineageNode):
    """A program with its own outcomes, those of its clade, the failures that were made of it, and the sum of its later measurements."""

    own: Tally = field(default_factory=Tally)
    clade: Tally = field(default_factory=Tally)
    broken: int = 0
    more: Worth = (0.0, 0.0)
    measurements: int = 1

    @property
    def mean(self) -> Worth:
        """Mean of its evaluations."""
        return (self.worth[0] + self.more[0]) / self.measurements, (self.worth[1] + self.more[1]) / self.measurements


class Hgm:
    """Strategy with one tree for the whole campaign, on the first island. Only `tell` changes its state."""

    def __init__(self, settings: HgmSettings, operators: Sequence[str]) -> None:
        self._alpha = settings.alpha
        self._most = settings.candidates
        self._proposer = Proposer(operators, settings.inspirations)
        self._lineage = Lineage[HgmNode](HgmNode)
        self.candidates: list[HgmNode] = []
        """Programs that may be parents, in the order in which they settled."""
        self._evaluations = 0
        self._made = 0

    def ask(self, view: View, rng: Generator) -> Propose | Measure | Wait:
        """Returns a proposal or a measurement by the rule; Wait while no program has settled."""
        if not self.candidates:
            return Wait()
        measurable = [] if view.task.deterministic else [node for node in self.candidates if node.parent is not None]
        under_way = sum(self._proposer.find_selection(step.action) is not None for step in view.pending)
        if measurable and not self.expands(under_way):
            node = draw(measurable, lambda one: one.own, rng)
            return Measure(node.record, node.program, why=WHY)
        return self._proposer.propose(view, draw(self.candidates, lambda one: one.clade, rng).record, 0, rng)

    def expands(self, under_way: int) -> bool:
        """Returns whether a new program is due, with so many under way, and not a measurement."""
        return bool(self._evaluations**self._alpha >= self._made + under_way)

    def tell(self, event: Event) -> None:
        """Folds an event at the cost of the candidates and of `REACH` ancestors; rulings walk through all programs."""
        node = self._lineage.tell(event)
        match event:
            case Settled(record=record) if record.origin.kind == "measurement" and record.origin.why != REJUDGED:
                self._measure(record)
            case Settled(record=record) if record.evaluation.outcome not in NOBODYS_FAULT:
                self._settle(record, node)
            case TaskChanged():
                self.candidates, self._evaluations, self._made = [], 0, 0
            case Ruled():
                self._count_again()

    def _settle(self, record: Record, node: HgmNode | None) -> None:
        self._evaluations += 1
        self._made += record.origin.kind == "proposal"
        parent = self._lineage.find_parent(record)
        if node is None:
            if parent is not None:
                parent.broken += 1
                _credit(parent, success=False)
            return
        if parent is not None:
            self._count_outcome(node, node.worth > parent.mean)
        if not node.quarantined:
            self._offer(node)

    def _measure(self, record: Record) -> None:
        """Counts a measurement of the search; one of a case says nothing about the search's score."""
        node, evaluation = self._lineage.nodes.get(record.origin.about), record.evaluation
        if node is None or record.origin.case or evaluation.outcome in NOBODYS_FAULT:
            return
        self._evaluations += 1
        worth = measure_worth(evaluation)
        if worth is not None:
            node.more = (node.more[0] + worth[0], node.more[1] + worth[1])
            node.measurements += 1
        if node.parent is not None:
            self._count_outcome(node, worth is not None and worth > node.parent.mean)

    def _count_outcome(self, node: HgmNode, success: bool) -> None:
        node.own.count(success)
        _credit(node, success=success and not node.quarantined)

    def _offer(self, node: HgmNode) -> None:
        self.candidates.append(node)
        if len(self.candidates) > self._most:
            self.candidates.remove(min(self.candidates[:-1], key=lambda one: one.clade.mean))

    def _count_again(self) -> None:
        """Counts the clades again: a success of a quarantined program was a failure."""
        nodes = self._lineage.nodes.values()
        for node in nodes:
            node.clade = Tally()
        for node in nodes:
            _credit(node, success=not node.quarantined, times=node.own.successes)
            _credit(node, success=False, times=node.own.failures + node.broken)
        self.candidates = []
        for node in nodes:
            if not node.quarantined:
                self._offer(node)


def _credit(node: HgmNode, *, success: bool, times: int = 1) -> None:
    for one in node.line():
        one.clade.count(success, times)


def draw(nodes: Sequence[HgmNode], tally: Callable[[HgmNode], Tally], rng: Generator) -> HgmNode:
    """Draws a node by Thompson sampling with an even prior; of equal draws the first."""
    tallies = [tally(node) for node in nodes]
    successes = np.array([one.successes for one in tallies])
    failures = np.array([one.failures for one in tallies])
    return nodes[int(np.argmax(rng.beta(1 + successes, 1 + failures)))]


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> Hgm:
    return Hgm(HgmSettings(**settings), operators)


ENTRIES = (
    StrategyEntry("hgm", _make, HgmSettings, operators=("diff", "rewrite")),
    PresetEntry(
        "hgm",
        {"strategy": {"name": "hgm"}, "archive": {"islands": 1}},
        "lineages by what came of them, on noisy tasks",
        "Huxley-Gödel Machine, https://arxiv.org/abs/2510.21614",
    ),
)
