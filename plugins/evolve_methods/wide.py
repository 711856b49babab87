"""ThetaEvolve (2025, https://arxiv.org/abs/2511.23473) without its training: a large database, and many answers to prompts that show one program.

*Database.* A program belongs to the island on which it was made; the best 10,000 are kept, the best 1,000 of them are the archive. Islands take turns.

*Parents.* With the probability 0.2 any program of the island (exploration); with 0.7 any of the archive that belongs to the island, or any of the archive where none
does (exploitation); else any program at all.

*Prompts.* `improve_one` shows the parent and what the evaluator says of it, and no other program, and asks for edits. A prompt is answered `group` times.

*Faithful:* islands in turn, these laws and their numbers, ten islands, one parent without inspirations, 16 answers to a prompt. A child that equals its parent or any earlier program ("lazy") is not evaluated:
the engine screens it in every campaign.

*Not faithful.* No model is trained: `evolve campaign export --rl` writes the groups with their rewards, and what failed or was lazy gets the reward that `--failed` names. Prompts of
one batch are as many as the models answer at once. Nothing migrates, and all islands begin with the seed."""

from bisect import insort
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.hookspecs import PresetEntry, StrategyEntry
from evolve.protocols import Context, View
from evolve.types import (
    REJUDGED,
    Asked,
    Child,
    Event,
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
from evolve_methods.asking import Asker, make_entry, make_request, tell_rivals
from evolve_methods.choices import list_usable, wait_or_refuse
from evolve_methods.lineage import Worth, measure_worth

IMPROVE = "improve_one"
EXPLORED, EXPLOITED = 0.2, 0.7
"""Probabilities of a parent from the island's programs, and from the archive; any program at all has the rest."""

IMPROVE_REQUEST = make_request(
    "diff",
    ("parent", "feedback"),
    "Improve program {{number}}: make the change that should raise its score most.",
    "{{advice}}",
    "{{edits}}",
)


class WideSettings(BaseModel):
    """Settings of `wide`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    group: int = Field(default=16, ge=1, le=256)
    """Answers to each prompt: children of one proposal."""
    database: int = Field(default=10_000, ge=1, le=10_000)
    """Programs that may be parents, the best of all islands."""
    archive: int = Field(default=1000, ge=1, le=10_000)
    """The best of these, which are drawn most."""


@dataclass(frozen=True, slots=True)
class Known:
    """A program that was evaluated, and the island on which it was made."""

    record: RecordId
    program: ProgramId
    island: int
    worth: Worth


class Wide:
    """Strategy whose state is a fold over the events: the database, the worst program first, and how often each island was asked."""

    def __init__(self, settings: WideSettings, operators: Sequence[str]) -> None:
        self._settings = settings
        self._operators = tuple(operators)
        self._quarantined: set[ProgramId] = set()
        self._begin()

    def _begin(self) -> None:
        self.programs: list[Known] = []
        self._first: Known | None = None
        self._asked = Counter[int]()

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a proposal on the island that was asked least; Wait while there is no program. The cost is that of the database."""
        usable = list_usable(view)
        programs = [known for known in self.programs if known.program not in self._quarantined]
        if not programs:
            return Wait()
        if not usable:
            return wait_or_refuse(view, self._operators)
        island = min(range(view.archive.settings.islands), key=lambda number: self._asked[number])
        parent = self._draw_parent(programs, island, rng)
        operator = usable[int(rng.integers(len(usable)))]
        samples = self._settings.group if view.traits(operator).needs_model else 1
        return Propose(Selection(operator, island, (parent.record,), samples=samples))

    def _draw_parent(self, programs: Sequence[Known], island: int, rng: Generator) -> Known:
        archive, chance = programs[-self._settings.archive :], rng.random()
        if chance < EXPLORED:
            pool = self.list_island(programs, island)
        elif chance < EXPLORED + EXPLOITED:
            pool = [known for known in archive if known.island == island] or archive
        else:
            pool = programs
        return pool[int(rng.integers(len(pool)))]

    def list_island(self, programs: Sequence[Known], island: int) -> Sequence[Known]:
        """Returns the programs of an island; the seed where it has none, from which it begins."""
        return [known for known in programs if known.island == island] or [self._first or programs[0]]

    def tell(self, event: Event) -> None:
        """Folds an event at constant cost."""
        match event:
            case Asked(action=Propose(selection=selection)) if selection.operator in self._operators:
                self._asked[selection.island] += 1
            case Settled(record=record):
                self._settle(record)
            case Ruled(what="quarantine", about=program):
                self._quarantined.add(program)
            case Ruled(what="release", about=program):
                self._quarantined.discard(program)
            case TaskChanged():
                self._begin()

    def _settle(self, record: Record) -> None:
        origin, worth = record.origin, measure_worth(record.evaluation)
        if worth is None or record.program is None or (origin.kind == "measurement" and origin.why != REJUDGED):
            return
        known = Known(record.id, record.program, origin.island, worth)
        self._first = self._first or known
        insort(self.programs, known, key=lambda one: one.worth)
        del self.programs[: -self._settings.database]


def improve_one(asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a program for each answer, by edits of its parent."""
    return asker.write_programs(IMPROVE_REQUEST, selection, context, {"advice": tell_rivals(context)})


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> Wide:
    return Wide(WideSettings(**settings), operators)


ENTRIES = (
    StrategyEntry("wide", _make, WideSettings, operators=(IMPROVE,)),
    make_entry(IMPROVE, improve_one),
    PresetEntry(
        "wide",
        {"strategy": {"name": "wide"}, "archive": {"islands": 10}},
        "many answers to prompts that show one program, from a large database: groups to train on",
        "ThetaEvolve, https://arxiv.org/abs/2511.23473",
    ),
)
