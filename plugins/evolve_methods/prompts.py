"""Prompts that evolve beside the programs, as AlphaEvolve proposes it (2025, https://arxiv.org/abs/2506.13131) and ShinkaEvolve has it in its code
(https://arxiv.org/abs/2509.19349): instructions are tried, and those whose programs do well are asked for again.

*Archive.* At most ten instructions, the first of which is the plain one. `follow_instruction` asks for a program by one of them. A program earns its
instruction the share of the last successes that it is as good as, a failure 0; and the instruction with the largest mean + sqrt(2 ln(N + 1) / n) is next, of n among N proposals.

*New instructions.* After each ten programs `write_instruction` sees the archive with its means, and writes another; where there are more than ten, the one with the least mean goes.

*Faithful:* an archive of ten, bounds on percentiles, new instructions by a model that sees the old ones with what they earned.

*Not faithful.* An instruction takes the place of what the request says at its end: the system message is the same in all prompts of a campaign, so that a server reads it once. Percentiles are those of the last
512 successes, so that early programs do not make late ones look good for ever. Parents are elites of the islands in turn, by rank."""

import math
from bisect import bisect_right, insort
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.hookspecs import PresetEntry, StrategyEntry
from evolve.prompts import quote_inline, quote_text
from evolve.protocols import Context, View
from evolve.types import (
    REJUDGED,
    Asked,
    Child,
    Event,
    Outcome,
    Propose,
    Record,
    Selection,
    Settled,
    TaskChanged,
    Wait,
)
from evolve_methods.asking import SEARCH, Asker, make_entry, make_request, tell_rivals
from evolve_methods.choices import draw_shown, find_best, list_usable, wait_or_refuse

WRITE, FOLLOW = "write_instruction", "follow_instruction"
PLAIN = "Change the program so that its score improves."
WINDOW = 512
_LONGEST = 1000

WRITE_REQUEST = make_request(
    "reflect",
    ("state", "lessons", "others", "ideas"),
    "Write another instruction for the author of the next program. These were tried, each with the number of its programs and with how these did, from 0 (all failed) to 100 (each as good as the best of its time):",
    "{{advice}}",
    "Say what to look at, what kind of change to make and what to leave alone, in general words: the author sees another program each time. Keep what the better instructions have that the others lack, and try one thing that none of them says.",
    "Answer with the instruction alone, in at most 80 words.",
)
FOLLOW_REQUEST = make_request(
    "rewrite",
    SEARCH,
    "Change program {{number}} by this instruction, which an earlier answer wrote.",
    "{{advice}}",
    "{{files}}",
)


class PromptsSettings(BaseModel):
    """Settings of `prompts`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    archive: int = Field(default=10, ge=2, le=100)
    """Instructions that are kept, at most."""
    every: int = Field(default=10, ge=1)
    """Programs after which another instruction is written."""
    inspirations: int = Field(default=2, ge=0, le=16)
    """Elites that an operator is shown, at most."""


@dataclass(slots=True)
class Instruction:
    """A text with how often it was asked for, and what its programs earned."""

    text: str
    asked: int = 0
    settled: int = 0
    earned: float = 0.0

    @property
    def mean(self) -> float:
        """The mean of what its programs earned; 0 without one."""
        return self.earned / self.settled if self.settled else 0.0

    def bound(self, asked: int) -> float:
        """Returns the upper bound of the mean, after so many proposals in all; infinite for one that was never asked for."""
        return self.mean + math.sqrt(2 * math.log(asked + 1) / self.asked) if self.asked else math.inf


Worth = tuple[float, float]
"""Minus how far the constraints are missed, and the fitness: the larger pair is better."""


class Percentiles:
    """The last successes by their worth."""

    def __init__(self) -> None:
        self._recent = deque[Worth]()
        self._sorted = list[Worth]()

    def add(self, worth: Worth) -> float:
        """Adds a success, and returns the share of the last ones that it is as good as, itself among them."""
        self._recent.append(worth)
        insort(self._sorted, worth)
        if len(self._recent) > WINDOW:
            oldest = self._recent.popleft()
            del self._sorted[bisect_right(self._sorted, oldest) - 1]
        return bisect_right(self._sorted, worth) / len(self._sorted)


class Prompts:
    """Strategy whose state is a fold over the events: the instructions by their numbers, and the last successes."""

    def __init__(self, settings: PromptsSettings, operators: Sequence[str]) -> None:
        self._settings = settings
        self._operators = tuple(operators)
        self.instructions = {1: Instruction(PLAIN)}
        self._written = 1
        self._begin()

    def _begin(self) -> None:
        self._percentiles = Percentiles()
        self._asked = Counter[int]()
        self._programs = 0
        self._is_writing = False

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a request for an instruction where one is due, else a proposal on the least asked island by the instruction with the largest bound."""
        best = find_best(view)
        if best is None:
            return Wait()
        usable = list_usable(view)
        if FOLLOW in usable and WRITE in view.operators and self._is_due:
            tried = [[each.text, each.settled, each.mean] for each in self.instructions.values() if each.settled]
            shown = draw_shown(view, best.island, (best.record,), self._settings.inspirations, rng)
            return Propose(Selection(WRITE, best.island, (best.record,), shown, notes={"tried": tried}))
        if not usable:
            return wait_or_refuse(view, self._operators)
        islands = [number for number in range(view.archive.settings.islands) if view.archive.best_elite(number)]
        island = min(islands, key=lambda number: self._asked[number])
        parent = view.archive.sample_elites(island, 1, rng)[0].record
        shown = draw_shown(view, island, (parent,), self._settings.inspirations, rng)
        operator = usable[int(rng.integers(len(usable)))]
        notes = self._choose() if operator == FOLLOW else {}
        return Propose(Selection(operator, island, (parent,), shown, notes=notes))

    @property
    def _is_due(self) -> bool:
        return self._programs >= self._settings.every and not self._is_writing

    def _choose(self) -> Mapping[str, Any]:
        """Returns the instruction with the largest bound, of equal ones the first, as the notes of a selection."""
        asked = sum(each.asked for each in self.instructions.values())
        number = max(self.instructions, key=lambda number: self.instructions[number].bound(asked))
        return {"number": number, "instruction": self.instructions[number].text}

    def tell(self, event: Event) -> None:
        """Folds an event; the cost grows with the archive of instructions alone."""
        match event:
            case Asked(action=Propose(selection=selection)) if selection.operator == WRITE:
                self._is_writing, self._programs = True, 0
            case Asked(action=Propose(selection=selection)) if selection.operator in self._operators:
                self._asked[selection.island] += 1
                instruction = self.instructions.get(selection.notes.get("number", 0))
                if instruction is not None:
                    instruction.asked += 1
            case Settled(record=record):
                self._settle(record)
            case TaskChanged():
                # Scores of two versions do not compare; what an instruction says stays.
                self.instructions = {number: Instruction(each.text) for number, each in self.instructions.items()}
                self._begin()

    def _settle(self, record: Record) -> None:
        origin, evaluation = record.origin, record.evaluation
        if origin.operator == WRITE:
            self._is_writing = False
            self._add(record.extras.get(WRITE, ""))
            return
        is_measured = origin.kind == "measurement" and origin.why != REJUDGED
        if is_measured or evaluation.outcome is Outcome.INTERNAL:
            return
        earned = 0.0
        if evaluation.fitness is not None:
            earned = self._percentiles.add((-evaluation.violation, evaluation.fitness))
        if origin.kind == "proposal":
            self._programs += 1
            instruction = self.instructions.get(origin.notes.get("number", 0))
            if instruction is not None:
                instruction.settled += 1
                instruction.earned += earned

    def _add(self, text: str) -> None:
        """Adds an instruction that is not there; the worst of those that were tried goes where there are too many."""
        if not text or text in (each.text for each in self.instructions.values()):
            return
        self._written += 1
        self.instructions[self._written] = Instruction(text)
        if len(self.instructions) > self._settings.archive:
            tried = {number: each for number, each in self.instructions.items() if each.settled}
            del self.instructions[min(tried or self.instructions, key=lambda number: self.instructions[number].mean)]


def write_instruction(asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a note with an instruction in its extras."""
    tried = [
        f"- {quote_inline(text, _LONGEST)}: {count} program{'s' * (count > 1)}, {100 * mean:.0f}"
        for text, count, mean in selection.notes.get("tried", ())
    ]
    words = {"advice": "\n".join(tried) or f"- {quote_inline(PLAIN)}: no program yet"}
    text = " ".join(asker.write_note(WRITE_REQUEST, selection, context, words).split())[:_LONGEST]
    return [Child(None, text, extras={WRITE: text}) if text else Child(None, "its reply has no instruction")]


def follow_instruction(asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a program by the instruction for each answer."""
    told = (quote_text(selection.notes.get("instruction", PLAIN), _LONGEST), tell_rivals(context))
    words = {"advice": "\n\n".join(filter(None, told))}
    return asker.write_programs(FOLLOW_REQUEST, selection, context, words)


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> Prompts:
    return Prompts(PromptsSettings(**settings), operators)


ENTRIES = (
    StrategyEntry("prompts", _make, PromptsSettings, operators=(FOLLOW, WRITE)),
    make_entry(WRITE, write_instruction, makes="notes"),
    make_entry(FOLLOW, follow_instruction),
    PresetEntry(
        "prompts",
        {"strategy": {"name": "prompts"}},
        "instructions that evolve beside the programs",
        "AlphaEvolve, https://arxiv.org/abs/2506.13131; ShinkaEvolve, https://arxiv.org/abs/2509.19349",
    ),
)
