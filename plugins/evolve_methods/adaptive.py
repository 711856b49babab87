"""AdaEvolve (2026, https://arxiv.org/abs/2602.20133): how much is explored, which island is asked and when new ideas are asked for all follow
from what was gained of late.

*On an island.* When a child is better than its island's best, delta = min((f - best) / (|best| + 1e-8), 1) and G <- rho G + (1 - rho) delta^2 with rho = 0.9.
The intensity is I = low + (high - low) / (1 + sqrt(G + 1e-8)). A proposal explores with the probability I: the parent is drawn in proportion to its novelty, the mean distance to its 5
nearest elites. It exploits with (1 - I) 0.7: any of the best quarter; else it is balanced.

*Among islands.* R <- rho R + delta, with delta in units of the best of all islands, and V <- rho V + 1 with each child. An island that was asked n times of N is
worth R / V + 1.41 sqrt(ln(N + 1) / n); each is asked three times first.

*On stagnation*, when fewer than 0.12 of the last 10 children were a new best, `name_ideas` asks for three other approaches. `follow_idea` writes each into the best program, at most twice, and the next request tells what
came of each.

*Faithful:* these laws and their numbers. *Mended:* each idea has the outcome of its own programs, where the authors' code gives all ideas of a request one outcome.

*Not faithful.* Islands, migration and elites are the engine's: no island is added when the search stands still, and immigrants count as soon as they have a child, which is compared with the better of
its parent and the island's best. Balanced parents are drawn by rank. Novelty is a distance of words, line counts and lengths among the island's 20 best. Operators are drawn evenly, whatever
the mode."""

import math
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.archive import Elite
from evolve.hookspecs import PresetEntry, StrategyEntry
from evolve.prompts import quote_inline, quote_text
from evolve.protocols import Context, View
from evolve.strategies import sample_in_proportion
from evolve.types import (
    REJUDGED,
    Asked,
    Child,
    Evaluation,
    Event,
    Outcome,
    Propose,
    Record,
    RecordId,
    Selection,
    Settled,
    TaskChanged,
    Wait,
)
from evolve_methods.asking import SEARCH, Asker, make_entry, make_request, tell_rivals
from evolve_methods.choices import draw_shown, find_best, list_usable, wait_or_refuse
from evolve_methods.distances import measure_novelty

NAME_IDEAS, FOLLOW_IDEA = "name_ideas", "follow_idea"
RHO = 0.9
"""What is left of G, R and V with each step."""
EXPLOITED = 0.7
"""Share of the proposals that do not explore which exploit."""
SPREAD = 1.41
LEAST_VISITS = 3
WINDOW, LEAST_RATE = 10, 0.12
"""The search stands still where fewer than this share of the last children were a new best."""
IDEAS, USES, TOLD = 3, 2, 10
"""Ideas of a request, uses of an idea, and earlier ideas that a request tells of."""
COMPARED = 20
_TINY = 1e-8
_IMPROVED = "it improved the best score"
_LONGEST = 600
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(\S.*(?:\n[ \t]+(?![-*•]\s)\S.*)*)", re.MULTILINE)

IDEAS_REQUEST = make_request(
    "reflect",
    ("state", "lessons", "others", "ideas"),
    "The search stands still. Name {{most}} approaches that differ in kind from each other and from all that was tried: another algorithm, another formulation, or a known method of the field that nobody used here.",
    "{{advice}}",
    "Answer with at most {{most}} lines that begin with `- `, each with one approach in at most 60 words: what to do, why it should beat the best program, and what to take care of. Write nothing else.",
)
FOLLOW_REQUEST = make_request(
    "rewrite",
    SEARCH,
    "Write program {{number}} anew with this approach, which an earlier answer named. Keep what still fits, and carry the approach through.",
    "{{advice}}",
    "{{files}}",
)


class AdaptiveSettings(BaseModel):
    """Settings of `adaptive`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intensity_low: float = Field(default=0.15, ge=0.0, le=1.0)
    """How often a proposal explores while gains are large."""
    intensity_high: float = Field(default=0.5, ge=0.0, le=1.0)
    """How often it explores while there are none."""
    inspirations: int = Field(default=4, ge=0, le=16)
    """Elites that an operator is shown, at most."""


@dataclass(slots=True)
class Island:
    """What was gained on an island: its best, G, R and V, and how often it was asked."""

    best: float = -math.inf
    gains: float = 0.0
    reward: float = 0.0
    visits: float = 0.0
    asked: int = 0

    def intensity(self, low: float, high: float) -> float:
        """Returns how often a proposal explores."""
        return low + (high - low) / (1 + math.sqrt(self.gains + _TINY))

    def bound(self, asked: int) -> float:
        """Returns the upper bound of its worth, after so many proposals on all islands; infinite until it was asked often enough."""
        if self.asked < LEAST_VISITS:
            return math.inf
        mean = self.reward / self.visits if self.visits else 0.0
        return mean + SPREAD * math.sqrt(math.log(asked + 1) / self.asked)

    def settle(self, fitness: float | None, parent: float, best: float) -> None:
        """Takes a child; None where it failed. `parent`: the best fitness of its parents; `best`: that of all programs before."""
        before, reward = max(self.best, parent), 0.0
        if fitness is not None and fitness > before:
            if before > -math.inf:
                gain = fitness - before
                delta = min(gain / (abs(before) + _TINY), 1.0)
                self.gains = RHO * self.gains + (1 - RHO) * delta**2
                reward = min(gain / (abs(best) + _TINY), 1.0)
            self.best = fitness
        self.reward = RHO * self.reward + reward
        self.visits = RHO * self.visits + 1


@dataclass(slots=True)
class Idea:
    """An approach that a model named, how often it was asked for, and what came of its programs; empty while none has settled."""

    text: str
    asked: int = 0
    result: str = ""

    def settle(self, evaluation: Evaluation, improved: bool) -> None:
        """Takes the outcome of one of its programs: an improvement stays."""
        if improved:
            self.result = _IMPROVED
        elif self.result != _IMPROVED:
            failed = f"its program failed, {evaluation.outcome.value.replace('_', ' ')}"
            self.result = failed if evaluation.fitness is None else "its program did not improve the best score"


class Adaptive:
    """Strategy whose state is a fold over the events: the islands, the scores of records, the ideas, and which of the last children were a new best."""

    def __init__(self, settings: AdaptiveSettings, operators: Sequence[str]) -> None:
        self._settings = settings
        self._operators = tuple(operators)
        self._begin()

    def _begin(self) -> None:
        self.islands: dict[int, Island] = {}
        self.ideas: dict[int, Idea] = {}
        self._named = 0
        self._is_naming = False
        self._scores: dict[RecordId, float] = {}
        self._best = -math.inf
        self._window = deque[bool](maxlen=WINDOW)

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a request for ideas where the search stands still, else a program of an idea, else a proposal on the island with the largest bound."""
        best = find_best(view)
        if best is None:
            return Wait()
        if {NAME_IDEAS, FOLLOW_IDEA} <= set(view.operators):
            number = next((number for number, idea in self.ideas.items() if idea.asked < USES), 0)
            if number:
                notes = {"number": number, "idea": self.ideas[number].text}
                return self._propose(FOLLOW_IDEA, best.island, best.record, view, rng, notes)
            if self.is_stagnant and not self._is_naming:
                tried = [[idea.text, idea.result] for idea in self.ideas.values() if idea.result]
                return self._propose(NAME_IDEAS, best.island, best.record, view, rng, {"tried": tried[-TOLD:]})
        usable = [name for name in list_usable(view) if name != FOLLOW_IDEA]
        if not usable:
            return wait_or_refuse(view, self._operators)
        island = self._choose_island(view)
        parent = self._draw_parent(view, island, rng)
        operator = usable[int(rng.integers(len(usable)))]
        return self._propose(operator, island, parent, view, rng)

    def _propose(
        self,
        operator: str,
        island: int,
        parent: RecordId,
        view: View,
        rng: Generator,
        notes: Mapping[str, Any] | None = None,
    ) -> Propose:
        shown = draw_shown(view, island, (parent,), self._settings.inspirations, rng)
        return Propose(Selection(operator, island, (parent,), shown, notes=notes or {}))

    @property
    def is_stagnant(self) -> bool:
        """True where enough children have settled, and too few were a new best."""
        return len(self._window) == WINDOW and sum(self._window) < LEAST_RATE * WINDOW

    def _choose_island(self, view: View) -> int:
        """Returns the island with the largest bound, of those with an elite; of equal ones the least asked."""
        able = [number for number in range(view.archive.settings.islands) if view.archive.best_elite(number)]
        known = {number: self.islands.get(number, Island()) for number in able}
        asked = sum(island.asked for island in self.islands.values())
        return max(able, key=lambda number: (known[number].bound(asked), -known[number].asked))

    def _draw_parent(self, view: View, island: int, rng: Generator) -> RecordId:
        elites, chance = view.archive.elites(island), rng.random()
        low, high = self._settings.intensity_low, self._settings.intensity_high
        intensity = self.islands.get(island, Island()).intensity(low, high)
        if chance < intensity:
            able = elites[:COMPARED]
            novelty = measure_novelty([view.history.program(elite.program) for elite in able])
            return sample_in_proportion(able, novelty, 1, rng)[0].record
        if chance < intensity + (1 - intensity) * EXPLOITED:
            return elites[int(rng.integers(count_quarter(elites)))].record
        return view.archive.sample_elites(island, 1, rng)[0].record

    def tell(self, event: Event) -> None:
        """Folds an event at constant cost."""
        match event:
            case Asked(action=Propose(selection=selection)) if selection.operator in self._operators:
                self._count(selection)
            case Settled(record=record):
                self._settle(record)
            case TaskChanged():
                self._begin()

    def _count(self, selection: Selection) -> None:
        if selection.operator == NAME_IDEAS:
            # The next request waits for as many children again, also where this one brings no idea.
            self._is_naming = True
            self._window.clear()
            return
        self.islands.setdefault(selection.island, Island()).asked += 1
        idea = self.ideas.get(selection.notes.get("number", 0))
        if idea is not None:
            idea.asked += 1

    def _settle(self, record: Record) -> None:
        origin, evaluation = record.origin, record.evaluation
        if origin.operator == NAME_IDEAS:
            self._is_naming = False
            self._add_ideas(record.extras.get(NAME_IDEAS, ()))
            return
        if origin.kind == "measurement" and origin.why != REJUDGED:
            return
        # What misses a constraint is no gain.
        fitness = None if evaluation.violation else evaluation.fitness
        improved = fitness is not None and fitness > self._best
        if origin.kind == "proposal" and evaluation.outcome is not Outcome.INTERNAL:
            parent = max((self._scores.get(number, -math.inf) for number in origin.parents), default=-math.inf)
            self.islands.setdefault(origin.island, Island()).settle(fitness, parent, self._best)
            self._window.append(improved)
            idea = self.ideas.get(origin.notes.get("number", 0))
            if idea is not None:
                idea.settle(evaluation, improved)
        if fitness is not None:
            self._scores[record.id] = fitness
            self._best = max(self._best, fitness)

    def _add_ideas(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._named += 1
            self.ideas[self._named] = Idea(text)
        for number in list(self.ideas)[: -TOLD - IDEAS]:
            del self.ideas[number]


def count_quarter(elites: Sequence[Elite]) -> int:
    """Returns how many elites are the best quarter, at least one."""
    return -(-len(elites) // 4)


def name_ideas(asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a note with a list of ideas in its extras."""
    tried = [f"- {quote_inline(text, _LONGEST)}: {result}." for text, result in selection.notes.get("tried", ())]
    told = "\n".join(["Approaches that were asked for before, and what came of each:", "", *tried]) if tried else ""
    reply = asker.write_note(IDEAS_REQUEST, selection, context, {"most": str(IDEAS), "advice": told})
    found = [" ".join(text.split())[:_LONGEST] for text in _ITEM.findall(reply)][:IDEAS]
    if not found:
        return [Child(None, "its reply names no idea")]
    return [Child(None, f"it named {len(found)} idea{'s' * (len(found) > 1)}", extras={NAME_IDEAS: found})]


def follow_idea(asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a program of the idea for each answer."""
    told = filter(None, (quote_text(selection.notes.get("idea", ""), _LONGEST), tell_rivals(context)))
    return asker.write_programs(FOLLOW_REQUEST, selection, context, {"advice": "\n\n".join(told)})


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> Adaptive:
    return Adaptive(AdaptiveSettings(**settings), operators)


ENTRIES = (
    StrategyEntry("adaptive", _make, AdaptiveSettings, operators=("diff", "rewrite", NAME_IDEAS, FOLLOW_IDEA)),
    make_entry(NAME_IDEAS, name_ideas, makes="notes"),
    make_entry(FOLLOW_IDEA, follow_idea),
    PresetEntry(
        "adaptive",
        {"strategy": {"name": "adaptive"}},
        "exploration and islands by recent gains, and new ideas when the search stands still",
        "AdaEvolve, https://arxiv.org/abs/2602.20133",
    ),
)
