"""Baselines, which learn nothing: `best_of_n`, `sequential` and `random`. Each has one rule for the parent, and draws operators evenly.

A quarantined program is never a parent until it is released; under a newer version of the task none is before it was judged again."""

from collections.abc import Collection, Sequence

from numpy.random import Generator

from evolve.protocols import View
from evolve.types import (
    REJUDGED,
    ConfigError,
    Event,
    OriginKind,
    ProgramId,
    Propose,
    Record,
    RecordId,
    Ruled,
    Selection,
    Settled,
    TaskChanged,
    Wait,
)


class Baseline:
    """Children of a record that is drawn evenly from a pool; where it `climbs`, of the archive's best, once there is one. That best is
    confirmed or certified where the task asks for it."""

    def __init__(self, operators: Sequence[str], kinds: Collection[OriginKind], *, climbs: bool = False) -> None:
        self._operators = EvenOperators(operators)
        self._pool = RecordPool(kinds)
        self._climbs = climbs

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        best = view.archive.best if self._climbs else None
        parent = self._pool.draw(rng) if best is None else best.record
        return Wait() if parent is None else self._operators.propose(parent, view, rng)

    def tell(self, event: Event) -> None:
        self._pool.tell(event)


def make_best_of_n(operators: Sequence[str]) -> Baseline:
    """Returns a strategy of independent children of the seed (of any seed, where a task has several)."""
    return Baseline(operators, {"seed"})


def make_sequential(operators: Sequence[str]) -> Baseline:
    """Returns a greedy hill climb: every proposal is a child of the best program so far."""
    return Baseline(operators, {"seed"}, climbs=True)


def make_random(operators: Sequence[str]) -> Baseline:
    """Returns variation without selection: the parent is any successful program, each equally likely."""
    return Baseline(operators, {"seed", "proposal", "import"})


class RecordPool:
    """Records of successful programs of some origins, in the order in which they settled. Only `tell` changes it."""

    def __init__(self, kinds: Collection[OriginKind]) -> None:
        self._kinds = frozenset(kinds)
        self._members: list[tuple[RecordId, ProgramId]] = []
        self._quarantined: set[ProgramId] = set()
        self._known: set[ProgramId] = set()
        self.records: list[RecordId] = []

    def tell(self, event: Event) -> None:
        """Folds an event at constant cost, but for rulings, which are rare and walk through the whole pool."""
        match event:
            case Settled(record=record) if record.program is not None and self._belongs(record):
                self._known.add(record.program)
                if record.evaluation.fitness is not None:
                    self._members.append((record.id, record.program))
                    if record.program not in self._quarantined:
                        self.records.append(record.id)
            case TaskChanged():
                self._members.clear()
                self.records = []
            case Ruled(what="quarantine", about=program):
                self._rule(self._quarantined | {program})
            case Ruled(what="release", about=program):
                self._rule(self._quarantined - {program})

    def draw(self, rng: Generator) -> RecordId | None:
        """Draws one of the records evenly; None while there is none."""
        return self.records[int(rng.integers(len(self.records)))] if self.records else None

    def _belongs(self, record: Record) -> bool:
        """Reports a record of a kind that is wanted, also where it is judged again by a newer version of the task."""
        again = record.origin.why == REJUDGED and record.program in self._known
        return record.origin.kind in self._kinds or again

    def _rule(self, quarantined: set[ProgramId]) -> None:
        self._quarantined = quarantined
        self.records = [record for record, program in self._members if program not in quarantined]


class EvenOperators:
    """Operators that are drawn evenly: a baseline learns nothing about them."""

    def __init__(self, operators: Sequence[str]) -> None:
        if not operators:
            raise ConfigError(
                "a baseline strategy needs an operator that learns nothing, got none. "
                "Do: allow one, such as perturb_literals, or choose the strategy islands"
            )
        self._operators = tuple(operators)

    def propose(self, parent: RecordId, view: View, rng: Generator) -> Propose:
        """Proposes one child of `parent` by an operator that may be used now, on the first island: the baselines use no others. An
        operator that wants several parents, or one that failed, is none for a baseline."""
        allowed = [operator for operator in self._operators if operator in view.operators]
        usable = [operator for operator in allowed if view.traits(operator).takes_one_elite]
        if not usable:
            raise ConfigError(
                f"a baseline strategy needs an operator that changes one program, got {', '.join(allowed) or 'none'}. "
                "Do: allow one, such as perturb_literals, or choose the strategy islands"
            )
        return Propose(Selection(usable[int(rng.integers(len(usable)))], parents=(parent,)))
