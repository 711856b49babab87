"""What the tests of methods share: campaigns that are rehearsed with companions, events of one's own, and requests as a model reads them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evolve.hookspecs import OperatorEntry, PresetEntry, StrategyEntry
from evolve.protocols import Operator, Strategy
from evolve.testing import Rehearsal, RehearsedHistory, ScriptedModel, rehearsed_step
from evolve.types import (
    Asked,
    Evaluation,
    Event,
    Insertion,
    Origin,
    Outcome,
    Placement,
    Program,
    Propose,
    Record,
    Selection,
    Settled,
    Traits,
)
from evolve_methods import METHODS

SEED = Program({"seed.py": "def pack(items):\n    return sorted(items)\n"})
ENTRIES = {entry.name: entry for method in METHODS for entry in method.ENTRIES if not isinstance(entry, PresetEntry)}


def operator_entry(name: str) -> OperatorEntry:
    entry = ENTRIES[name]
    assert isinstance(entry, OperatorEntry)
    return entry


def make_operator(name: str) -> Operator:
    return operator_entry(name).factory({})


def companions(strategy: str) -> Mapping[str, Traits]:
    """The operators that a strategy brings, with their traits; the engine's own write programs."""
    entry = ENTRIES[strategy]
    assert isinstance(entry, StrategyEntry)
    known = {name: each.traits for name, each in ENTRIES.items() if isinstance(each, OperatorEntry)}
    return {name: known.get(name, Traits(needs_model=True)) for name in entry.operators}


def rehearse(strategy: Strategy, campaign: Rehearsal, steps: int) -> list[Selection]:
    """The selections of so many steps, each settled before the next one."""
    selections, told = list[Selection](), 0
    for step in range(1, steps + 1):
        for event in campaign.events[told:]:
            strategy.tell(event)
        told = len(campaign.events)
        action = strategy.ask(campaign, campaign.rng(step))
        assert isinstance(action, Propose)
        selections.append(action.selection)
        campaign.start(action)
        campaign.finish()
    return selections


def opened(operators: Mapping[str, Traits]) -> Rehearsal:
    """A campaign whose seed has settled."""
    campaign = Rehearsal()
    campaign.operators = tuple(operators)
    campaign.needs.update(operators)
    campaign.open()
    return campaign


def tell_all(strategy: Strategy, events: Iterable[Event]) -> None:
    for event in events:
        strategy.tell(event)


class Campaign:
    """Events of one's own, told to a strategy as they happen."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.events: list[Event] = []
        self._records = 0
        self._steps = 0

    def seed(self, fitness: float) -> int:
        return self._settle(Origin("seed", 0), Evaluation.ok(fitness))

    def ask(self, selection: Selection) -> int:
        """The step of a selection."""
        self._steps += 1
        self._tell(Asked(self._steps, Propose(selection), self._records))
        return self._steps

    def child(self, selection: Selection, fitness: float | None, *, step: int = 0, count: int = 1) -> int:
        """The record of a child; without a step of its own, the selection is asked first. Without a fitness it crashed."""
        step = step or self.ask(selection)
        evaluation = Evaluation.failed(Outcome.CRASHED, "it crashed") if fitness is None else Evaluation.ok(fitness)
        return self._settle(_origin("proposal", step, selection, count), evaluation)

    def note(self, selection: Selection, extras: Mapping[str, Any], step: int = 0) -> int:
        """The record of a note."""
        step = step or self.ask(selection)
        nothing = Evaluation.failed(Outcome.SCREENED, "a note")
        return self._settle(_origin("note", step, selection, 1), nothing, extras)

    def _settle(self, origin: Origin, evaluation: Evaluation, extras: Mapping[str, Any] | None = None) -> int:
        self._records += 1
        program = None if origin.kind == "note" else Program({"seed.py": f"x = {self._records}"}).id
        record = Record(self._records, origin, program, evaluation, extras=extras or {})
        self._tell(Settled(record, Placement(Insertion.NOT_ADDED)))
        return self._records

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        self.strategy.tell(event)


def _origin(kind: Any, step: int, selection: Selection, count: int) -> Origin:
    return Origin(
        kind,
        step,
        count=count,
        island=selection.island,
        operator=selection.operator,
        parents=selection.parents,
        notes=selection.notes,
    )


def read_request(
    name: str,
    *,
    notes: Mapping[str, Any] | None = None,
    thoughts: Sequence[str] = (),
    rivals: int = 0,
    reply: str = "",
) -> str:
    """What a model is asked by an operator; the parents have these thoughts."""
    model = ScriptedModel(*[reply] * 8)
    selection, context = rehearsed_step(SEED, traits=operator_entry(name).traits, model=model)
    assert isinstance(context.history, RehearsedHistory)
    records = context.history.records
    for place, thought in enumerate(thoughts):
        old = records[place]
        records[place] = Record(old.id, old.origin, old.program, old.evaluation, thought)
    selection = replace(selection, operator=name, notes=notes or {})
    make_operator(name).propose(selection, replace(context, rivals=rivals, rng=np.random.default_rng(0)))
    return model.heard[0].prompt.messages[-1].text
