"""LoongFlow (2025, https://arxiv.org/abs/2512.24077): plan, execute, summarise.

*Plan.* `write_plan` looks at a parent and at what was learned, and writes what to change and why, without a program.

*Execute.* `follow_plan` writes programs of the plan: one, and where none of a round is better than the parent, one more in the next round, for three rounds.

*Summarise.* `summarise_plan` looks at the best of these programs and writes, as a lesson for later prompts, what the plan expected, what came of it and why.

*Parents.* On the island that was asked least, any elite with the probability 0.2; else one of the three best and two others, in proportion to exp((s - s_max) / T) w, with

    T = 0.8 clip(2 T0 D, 0.5, 2) + 0.2 T0,    T0 = 1,    w(child) = w(parent) + 3 (s(child) - s(parent)) (1 - t) + 3 s(child)

where D is the mean distance of all pairs of the 50 best, by lengths, line counts and characters, and t is the share of the budget that was spent when the plan was written.

*Faithful:* the three steps, the rounds, these laws and their numbers. *Mended:* the two others are none of the three best, where the authors' code takes anybody; and a score of 0 is a score.

*Not faithful.* Scores there lie between 0 and 1. Here s is where a score lies between the seed's and the best so far, cut to 0 and 1, so that no scale of a task matters; the floor of weights, 0.05, is out of reach then. Each step is one call of a model that sees
the engine's prompt, and no agent with tools; where a reply has no plan, a program is asked for without one. One summary is written for each plan, of its best program that was evaluated. Islands, elites and migration are the engine's."""

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.archive import Elite
from evolve.hookspecs import PresetEntry, StrategyEntry
from evolve.prompts import quote_text
from evolve.protocols import Context, View
from evolve.strategies import sample_in_proportion
from evolve.types import (
    NOBODYS_FAULT,
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
from evolve_methods.asking import PARENT, SEARCH, Asker, make_entry, make_request
from evolve_methods.choices import draw_shown, list_usable, wait_or_refuse
from evolve_methods.distances import measure_diversity
from evolve_methods.lineage import Worth

WRITE, FOLLOW, SUMMARISE = "write_plan", "follow_plan", "summarise_plan"
PLAN = "plan"
"""Purpose of the calls that write plans."""
UNIFORM = 0.2
BEST, OTHERS = 3, 2
"""Elites among which a parent is drawn: the best, and others."""
COMPARED = 50
GAIN, SCORE = 3.0, 3.0
WAITING = 64
"""Plans that wait for their next step, at most: the latest."""
_LONGEST, _LONGEST_LESSON = 3000, 600

WRITE_REQUEST = make_request(
    "rewrite",
    SEARCH,
    "Plan the next change of program {{number}}; another request will write the program by your plan. {{advice}}",
    "Say in this order: what limits the score now, as far as the evaluator's words and the tried ideas show it; the one change that should raise it most, and why; the steps of that change, so exact that nobody has to guess; and by what its result will tell whether you were right.",
    "Answer with the plan alone, in at most 250 words, without a program.",
)
FOLLOW_REQUEST = make_request(
    "rewrite",
    SEARCH,
    "Change program {{number}} as this plan says, which an earlier answer wrote. Where a step of it cannot work, do what serves its aim.",
    "{{advice}}",
    "{{files}}",
)
SUMMARY_REQUEST = make_request(
    "rewrite",
    ("state", "lessons", "lineage", "parent", "feedback"),
    "Program {{number}} was written by this plan:",
    "{{advice}}",
    "Summarise for the author of the next plan: whether the score improved, fell or stayed, what the plan expected, why it came as it did, and what to do or to avoid next.",
    "Answer with one paragraph of at most 80 words and nothing else. It must be understood by who sees neither the plan nor the program.",
    parent=PARENT,
)


class PlanSettings(BaseModel):
    """Settings of `plan`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rounds: int = Field(default=3, ge=1, le=10)
    """Rounds of programs of one plan, at most; each has one program more than the one before."""
    inspirations: int = Field(default=2, ge=0, le=16)
    """Elites that an operator is shown, at most."""


NO_WORTH: Worth = (-math.inf, 0.0)


@dataclass(slots=True)
class Attempt:
    """A plan on its way: its parent, how many rounds were begun, what has settled of the last, and its best program so far."""

    plan: str
    parent: RecordId
    island: int
    used: float
    rounds: int = 0
    settled: int = 0
    best: RecordId = 0
    worth: Worth = NO_WORTH


class PlanStrategy:
    """Strategy whose state is a fold over the events: scores and `weights` of records, and plans by the step that they wait for."""

    def __init__(self, settings: PlanSettings, operators: Sequence[str]) -> None:
        self._settings = settings
        self._operators = tuple(operators)
        self._quarantined: set[ProgramId] = set()
        self._begin()

    def _begin(self) -> None:
        self._asked = Counter[int]()
        self._worths: dict[RecordId, Worth] = {}
        self.weights: dict[RecordId, float] = {}
        self._seed: float | None = None
        self._best = -math.inf
        self._ready = deque[Attempt](maxlen=WAITING)
        self._ended = deque[Attempt](maxlen=WAITING)
        self._under_way: dict[int, Attempt] = {}

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns the summary that waits longest, else the programs of a plan that does, else a new plan; Wait while no program may be a parent."""
        # The archive may have fewer islands now than when a plan was made.
        last, ended = view.archive.settings.islands - 1, self._first(self._ended, view)
        if ended and SUMMARISE in view.operators:
            return Propose(Selection(SUMMARISE, min(ended.island, last), (ended.best,), notes={"plan": ended.plan}))
        ready = self._first(self._ready, view)
        if ready and FOLLOW in view.operators:
            notes = {"plan": ready.plan, "used": ready.used}
            more = {"notes": notes, "samples": ready.rounds + 1}
            return self._propose(FOLLOW, min(ready.island, last), ready.parent, view, rng, **more)
        islands = [number for number in range(1 + last) if view.archive.best_elite(number)]
        if not islands:
            return Wait()
        island = min(islands, key=lambda number: self._asked[number])
        parent = self._draw_parent(view, island, rng)
        if {WRITE, FOLLOW} <= set(view.operators):
            return self._propose(WRITE, island, parent, view, rng, notes={"used": view.budget_used})
        usable = [name for name in list_usable(view) if name != FOLLOW]
        if not usable:
            return wait_or_refuse(view, self._operators)
        return self._propose(usable[int(rng.integers(len(usable)))], island, parent, view, rng)

    def _propose(
        self, operator: str, island: int, parent: RecordId, view: View, rng: Generator, **more: Any
    ) -> Propose:
        shown = draw_shown(view, island, (parent,), self._settings.inspirations, rng)
        return Propose(Selection(operator, island, (parent,), shown, **more))

    def _first(self, attempts: Sequence[Attempt], view: View) -> Attempt | None:
        """Returns the first attempt whose programs are not quarantined."""
        for attempt in attempts:
            programs = {view.history.program_id(record) for record in (attempt.parent, attempt.best) if record}
            if programs.isdisjoint(self._quarantined):
                return attempt
        return None

    def _draw_parent(self, view: View, island: int, rng: Generator) -> RecordId:
        elites = view.archive.elites(island)
        if rng.random() < UNIFORM:
            return elites[int(rng.integers(len(elites)))].record
        others = elites[BEST:]
        drawn = rng.permutation(len(others))[:OTHERS]
        pool = [*elites[:BEST], *(others[int(place)] for place in drawn)]
        programs = [view.history.program(elite.program) for elite in elites[:COMPARED]]
        weights = self.weigh(pool, find_temperature(measure_diversity(programs)))
        return sample_in_proportion(pool, weights, 1, rng)[0].record

    def weigh(self, pool: Sequence[Elite], temperature: float) -> list[float]:
        """Returns the weights of elites as parents."""
        scores = [self._score((-elite.violation, elite.fitness)) for elite in pool]
        return [
            math.exp((score - max(scores)) / temperature) * self.weights.get(elite.record, 1.0)
            for score, elite in zip(scores, pool, strict=True)
        ]

    def _score(self, worth: Worth) -> float:
        """Returns where a fitness lies between the seed's and the best, 0 to 1; 0 for what misses a constraint."""
        missed, fitness = worth
        if missed or self._seed is None or self._best <= self._seed:
            return 0.0
        return min(1.0, max(0.0, (fitness - self._seed) / (self._best - self._seed)))

    def tell(self, event: Event) -> None:
        """Folds an event at constant cost."""
        match event:
            case Asked(step=step, action=Propose(selection=selection)):
                self._begin_step(step, selection)
            case Settled(record=record):
                self._settle(record)
            case Ruled(what="quarantine", about=program):
                self._quarantined.add(program)
            case Ruled(what="release", about=program):
                self._quarantined.discard(program)
            case TaskChanged():
                self._begin()

    def _begin_step(self, step: int, selection: Selection) -> None:
        match selection.operator:
            case "follow_plan":
                plan = selection.notes.get("plan", "")
                found = [one for one in self._ready if (one.plan, one.parent) == (plan, selection.parents[0])]
                for attempt in found[:1]:
                    self._ready.remove(attempt)
                    attempt.rounds, attempt.settled = attempt.rounds + 1, 0
                    self._under_way[step] = attempt
            case "summarise_plan":
                for attempt in [one for one in self._ended if one.best == selection.parents[0]]:
                    self._ended.remove(attempt)
            case name if name in self._operators:
                self._asked[selection.island] += 1

    def _settle(self, record: Record) -> None:
        origin = record.origin
        if origin.operator == WRITE:
            plan, used = record.extras.get(WRITE, ""), origin.notes.get("used", 0.0)
            self._ready.append(Attempt(plan, origin.parents[0], origin.island, used))
            return
        if origin.operator == SUMMARISE or (origin.kind == "measurement" and origin.why != REJUDGED):
            return
        if record.evaluation.fitness is not None:
            self._add(record, record.evaluation.fitness)
        attempt = self._under_way.get(origin.step)
        if origin.kind == "proposal" and attempt is not None:
            self._settle_attempt(attempt, record)

    def _add(self, record: Record, fitness: float) -> None:
        """Keeps the worth and the weight of a program, on the scale of the scores until then."""
        origin, worth = record.origin, (-record.evaluation.violation, fitness)
        self._worths[record.id] = worth
        self._seed = fitness if self._seed is None else self._seed
        if not record.evaluation.violation:
            self._best = max(self._best, fitness)
        parent = origin.parents[0] if origin.parents else 0
        score, left = self._score(worth), 1 - origin.notes.get("used", 0.0)
        gain = score - self._score(self._worths[parent]) if parent in self._worths else 0.0
        self.weights[record.id] = self.weights.get(parent, 1.0) + GAIN * gain * left + SCORE * score

    def _settle_attempt(self, attempt: Attempt, record: Record) -> None:
        """Takes a program of a plan. With the last of its round the plan ends, or has another round."""
        origin, worth = record.origin, self._worths.get(record.id, NO_WORTH)
        is_program = record.program is not None and record.evaluation.outcome not in NOBODYS_FAULT
        if is_program and (not attempt.best or worth > attempt.worth):
            attempt.best, attempt.worth = record.id, worth
        attempt.settled += 1
        if attempt.settled < origin.count:
            return
        del self._under_way[origin.step]
        parent = self._worths.get(attempt.parent)
        is_better = parent is not None and attempt.worth > parent
        if not is_better and attempt.rounds < self._settings.rounds:
            self._ready.append(attempt)
        elif attempt.best:
            self._ended.append(attempt)


def find_temperature(diversity: float) -> float:
    """Returns the temperature of the draw of parents, where T0 is 1: the more the programs differ, the higher."""
    return 0.8 * min(2.0, max(0.5, 2 * diversity)) + 0.2


def write_plan(asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a note with a plan in its extras."""
    plan = asker.write_note(WRITE_REQUEST, selection, context, purpose=PLAN)[:_LONGEST]
    return [Child(None, plan, extras={WRITE: plan}) if plan else Child(None, "its reply has no plan")]


def follow_plan(asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a program of the plan for each answer."""
    plan = quote_text(selection.notes.get("plan", ""), _LONGEST) or "There is no plan: choose the change yourself."
    return asker.write_programs(FOLLOW_REQUEST, selection, context, {"advice": plan})


def summarise_plan(asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a note with a lesson from a plan and its program."""
    plan = quote_text(selection.notes.get("plan", ""), _LONGEST) or "There was no plan."
    text = " ".join(asker.write_note(SUMMARY_REQUEST, selection, context, {"advice": plan}).split())
    if not text:
        return [Child(None, "its reply has no summary")]
    lesson = f"Of program {selection.parents[0]}: {text}"[:_LONGEST_LESSON]
    return [Child(None, "it wrote a summary", (lesson,))]


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> PlanStrategy:
    return PlanStrategy(PlanSettings(**settings), operators)


ENTRIES = (
    StrategyEntry("plan", _make, PlanSettings, operators=(WRITE, FOLLOW, SUMMARISE)),
    make_entry(WRITE, write_plan, makes="notes", purposes=(PLAN,)),
    make_entry(FOLLOW, follow_plan),
    make_entry(SUMMARISE, summarise_plan, makes="notes"),
    PresetEntry(
        "plan",
        {"strategy": {"name": "plan"}},
        "a plan, programs of the plan, and a summary as a lesson",
        "LoongFlow, https://arxiv.org/abs/2512.24077",
    ),
)
