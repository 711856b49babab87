"""Baselines, which learn nothing: `best_of_n`, `sequential` and `random`. Each has one rule for the parent, and draws operators evenly.

A quarantined program is never a parent until it is released; under a newer version of the task none is before it was evaluated again."""

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
    """Children of a record that is drawn evenly from those of successful programs of some origins; where it `climbs`, of the archive's
    best, once there is one, confirmed or certified where the task asks for it. Operators are drawn evenly. Only `tell` changes it."""

    def __init__(self, operators: Sequence[str], kinds: Collection[OriginKind], *, climbs: bool = False) -> None:
        if not operators:
            raise _refuse("learns nothing", operators)
        self._operators = tuple(operators)
        self._kinds = frozenset(kinds)
        self._climbs = climbs
        self._members: list[tuple[RecordId, ProgramId]] = []
        self._quarantined: set[ProgramId] = set()
        self._known: set[ProgramId] = set()
        self.records: list[RecordId] = []

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a proposal on the first island, since the baselines use no others; Wait while there is no parent. Raises `ConfigError`
        where no operator that may be used now changes one program."""
        best = view.archive.best if self._climbs else None
        if best is None and not self.records:
            return Wait()
        parent = self.records[int(rng.integers(len(self.records)))] if best is None else best.record
        allowed = [operator for operator in self._operators if operator in view.operators]
        usable = [operator for operator in allowed if view.traits(operator).takes_one_elite]
        if not usable:
            raise _refuse("changes one program", allowed)
        return Propose(Selection(usable[int(rng.integers(len(usable)))], parents=(parent,)))

    def tell(self, event: Event) -> None:
        """Folds an event at constant cost, but for rulings, which are rare and walk through all records."""
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

    def _belongs(self, record: Record) -> bool:
        """Reports a record of a kind that is wanted, also where a newer version of the task has evaluated it again."""
        again = record.origin.why == REJUDGED and record.program in self._known
        return record.origin.kind in self._kinds or again

    def _rule(self, quarantined: set[ProgramId]) -> None:
        self._quarantined = quarantined
        self.records = [record for record, program in self._members if program not in quarantined]


def _refuse(wanted: str, operators: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"a baseline strategy needs an operator that {wanted}, got {', '.join(operators) or 'none'}. "
        "Try: allow one, such as perturb_literals, or choose the strategy islands"
    )
