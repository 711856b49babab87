"""Simulation of strategies for campaigns with models, over hundreds of seeds: a synthetic proposer stands in for the language model.

It compares strategies with one another (parents, islands, shares, stagnation) and says nothing about a language model, a prompt or a task: no
figure of it is a result of a search. Strategies, archive and bandit are the real ones, asked and told as in a campaign, two calls in flight.

The law, with its reasons (numbers are those of `Law` and of the constants below):

- A program is a set of 16 *ideas* and how *rough* its constants are; its fitness is the worth of the ideas, less the roughness. Gains of real
  campaigns come from few changes of structure and from many of constants.
- Each landscape draws what an idea is worth, the half of them little or less than nothing, and some pairs that are worth more or less together. Five ideas each
  need a foundation, which costs at first, and the two foundations exclude each other: who changes it loses five ideas. So there are local
  optima that small steps do not leave.
- The proposer has a taste, which agrees with the truth in part and is the same all through a landscape: a model that is asked twice without
  other context tends to the same answer. It favours ideas of a better program that it is shown (`seen`), and those that the ledger of the last
  16 proposals says to have helped (`helped`), and it shuns those that have not (`tried`).
- `diff` tunes, drops an idea or adds one (`tune` and `drop` do this alone); `rewrite` loses some ideas, adds several, and loses tuning; `crossover` joins the ideas of two programs on the
  foundation of the first; `fix` makes what was meant of a failure; `sample` rewrites the seed and is shown nothing else.
- A note, such as a plan, costs a call and brings nothing: what one is worth to a model, nobody has measured.
- A child fails with a probability that grows with the number of ideas that changed: long programs written at one go have more mistakes. A child with the ideas of an earlier program
  is, at times, no other program, and is screened.

Scores are normalised per landscape: 0 is the seed, 1 the best program that there could be."""

import argparse
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve.archive import Archive, ArchiveSettings
from evolve.novelty import DEFAULT_AXES
from evolve.protocols import Strategy
from evolve.strategies import Bandit, Baseline, Islands, IslandsSettings, model_parents, sample_evenly
from evolve.testing.rehearsal import RehearsedHistory, rehearsed_task
from evolve.types import (
    STAGNATION,
    Asked,
    Call,
    Evaluation,
    Event,
    Insertion,
    Lesson,
    Origin,
    Outcome,
    Placement,
    Program,
    ProgramId,
    Progress,
    Propose,
    Record,
    RecordId,
    Replied,
    Selection,
    Settled,
    Traits,
    Wait,
)
from evolve_methods.hgm import Hgm, HgmSettings

IDEAS, LINE = 16, 5
"""Ideas, and those of one foundation, which is the first of them; the first two times `LINE` are of the two foundations, the others fit both."""
LINES = tuple(((1 << LINE) - 1) << (LINE * number) for number in range(2))
FOUNDATIONS = tuple(1 << (LINE * number) for number in range(2))
IN_FLIGHT = 2
LEDGER = 16
"""Proposals that a prompt lists."""
TUNED, DROPPED = 0.3, 0.15
"""Shares of `diff` that tune and that drop an idea; the others add one."""
MEAN = 0.15
"""Mean worth of an idea that needs no foundation; the deviation is 1, the unit of all of them."""
KEPT, JOINED = 0.8, 0.65
"""Chance of an idea to outlive a `rewrite`, and of one that only one of two parents has to be in their crossover."""
LEAVING = 0.1
"""Factor for an idea that costs the foundation; 1 where the search stands still and a prompt says so."""
ROUGH = 0.3
"""Mean roughness of an idea that is new."""
MENDED = 0.6
"""Chance that `fix` makes of a failure what was meant."""
SAME = 0.35
"""Chance that a child with the ideas of an earlier program is that program."""
OPERATORS = ("diff", "rewrite", "crossover", "fix")
TRAITS = {"crossover": Traits(parents=2), "fix": Traits(takes_failures=True)}


@dataclass(frozen=True, slots=True)
class Law:
    """Numbers of the law that are varied. `cost`, `gain`: what a foundation costs and what an idea on it brings, in the mean; `pairs`, `strength`:
    share of pairs of ideas that depend on each other, and how much; `skill`: how far the taste agrees with the truth; `seen`, `helped`, `tried`: factors by
    which a prompt changes the choice of ideas; `added`: ideas that a `rewrite` adds beside one, in the mean; `mistake`: chance of a failure for
    each idea that changes, and for the program itself."""

    cost: float = 0.3
    gain: float = 0.5
    pairs: float = 0.15
    strength: float = 0.8
    skill: float = 0.5
    seen: float = 3.0
    helped: float = 2.0
    tried: float = 0.4
    added: float = 2.0
    mistake: float = 0.08


LAWS = {
    "base": Law(),
    # One answer writes much of what the proposer knows, so that the best of 30 drafts is as good as a search of 30: as strong models do.
    "fluent": Law(skill=1.5, added=5.0, mistake=0.03),
    "rugged": Law(pairs=0.35, strength=1.0),
    # Written against greed: what is worst at first is best in the end.
    "deceptive": Law(cost=1.5, gain=1.0),
    # Prompts that show nothing but the parent.
    "blind": Law(seen=1.0, helped=1.0, tried=1.0),
}


class Point(NamedTuple):
    """A program: its ideas as bits, and how rough its constants are."""

    ideas: int
    rough: float


class Sight(NamedTuple):
    """What a prompt shows: the ideas of programs that are better than the parent, the factors of the ledger by idea, and whether it asks for
    another approach."""

    better: int = 0
    ledger: Mapping[int, float] = {}
    bold: bool = False


SEED = Point(0, 1.0)


@dataclass(frozen=True, slots=True)
class Landscape:
    """Worth of every set of ideas, and the taste of the proposer for each idea."""

    worth: Mapping[int, float]
    taste: Sequence[float]
    best: float

    def fitness(self, point: Point) -> float:
        """Returns the normalised fitness: 0 for the seed, 1 for the best that there is."""
        start = self.worth[SEED.ideas] - SEED.rough
        return (self.worth[point.ideas] - point.rough - start) / (self.best - start)


def is_sound(ideas: int) -> bool:
    """Reports a set of ideas on at most one foundation, and with it where they need one."""
    used = [bool(ideas & line) for line in LINES]
    founded = all(not ideas & line or ideas & first for line, first in zip(LINES, FOUNDATIONS, strict=True))
    return founded and sum(used) <= 1


@lru_cache(maxsize=1)
def sound_sets() -> NDArray[np.int64]:
    """Returns all sets of ideas that a program can have."""
    return np.array([ideas for ideas in range(1 << IDEAS) if is_sound(ideas)])


def draw_landscape(law: Law, seed: int) -> Landscape:
    """Draws what ideas are worth alone and in pairs, and the taste for them."""
    rng = np.random.default_rng((seed, 0))
    alone = rng.normal(MEAN, 1.0, IDEAS)
    for number in range(len(LINES)):
        alone[number * LINE] = rng.normal(-law.cost, 0.6)
        alone[number * LINE + 1 : (number + 1) * LINE] += law.gain - MEAN
    shape = (IDEAS, IDEAS)
    pairs = np.triu(rng.normal(0.0, law.strength, shape) * (rng.random(shape) < law.pairs), 1)
    sets = sound_sets()
    bits = (sets[:, None] >> np.arange(IDEAS) & 1).astype(float)
    worth = bits @ alone + np.einsum("ni,ij,nj->n", bits, pairs, bits, optimize=True)
    taste = np.exp(law.skill * alone + rng.normal(0.0, 1.0, IDEAS))
    return Landscape(dict(zip(sets.tolist(), worth.tolist(), strict=True)), taste.tolist(), float(worth.max()))


@dataclass(frozen=True, slots=True)
class Proposer:
    """Proposer of children by the law; a child is a function of what it is shown and of the generator."""

    law: Law
    landscape: Landscape

    def write(self, operator: str, parents: Sequence[Point], sight: Sight, rng: Generator) -> tuple[Point, bool]:
        """Returns a child and whether it works. The parent of `fix` is the program that was meant."""
        parent = parents[0]
        match operator:
            case "fix":
                return parent, rng.random() < MENDED
            case "crossover":
                child = self._join(parent, parents[1], rng)
            case "diff":
                child = self._edit(parent, sight, rng)
            case "tune":
                child = self._tune(parent, rng)
            case "drop":
                child = self._drop(parent, rng)
            case _:
                child = self._rewrite(parent, sight, rng)
        changed = min((child.ideas ^ one.ideas).bit_count() for one in parents)
        return child, rng.random() < (1 - self.law.mistake) ** (1 + changed)

    def _edit(self, parent: Point, sight: Sight, rng: Generator) -> Point:
        luck = rng.random()
        if luck < TUNED:
            return self._tune(parent, rng)
        if luck < TUNED + DROPPED and parent.ideas:
            return self._drop(parent, rng)
        ideas = self._add(parent.ideas, sight, rng)
        return Point(ideas, parent.rough + rng.exponential(ROUGH))

    def _tune(self, parent: Point, rng: Generator) -> Point:
        return Point(parent.ideas, parent.rough * rng.uniform(0.4, 1.1))

    def _drop(self, parent: Point, rng: Generator) -> Point:
        weights = [1 / self.landscape.taste[idea] if parent.ideas >> idea & 1 else 0.0 for idea in range(IDEAS)]
        if not parent.ideas:
            return parent
        return Point(_settle_foundation(parent.ideas & ~(1 << _draw(weights, rng))), parent.rough)

    def _rewrite(self, parent: Point, sight: Sight, rng: Generator) -> Point:
        lost = sum(1 << idea for idea in range(IDEAS) if rng.random() > KEPT)
        ideas = _settle_foundation(parent.ideas & ~lost)
        for _ in range(1 + int(rng.poisson(self.law.added))):
            ideas = self._add(ideas, sight, rng)
        new = (ideas & ~parent.ideas).bit_count()
        return Point(ideas, parent.rough * rng.uniform(0.5, 1.3) + rng.exponential(ROUGH) * math.sqrt(new))

    def _join(self, first: Point, second: Point, rng: Generator) -> Point:
        chosen = sum(1 << idea for idea in range(IDEAS) if rng.random() < JOINED)
        ideas = first.ideas & second.ideas | (first.ideas ^ second.ideas) & chosen
        base = next((line for line in LINES if first.ideas & line), 0)
        for line in LINES:
            if base and line != base:
                ideas &= ~line
        return Point(_settle_foundation(ideas), max(first.rough, second.rough) * rng.uniform(0.8, 1.2))

    def _add(self, ideas: int, sight: Sight, rng: Generator) -> int:
        """Adds one idea that is not there, at the cost of those that its foundation excludes."""
        weights = [self._weigh(idea, ideas, sight) for idea in range(IDEAS)]
        if not any(weights):
            return ideas
        idea = _draw(weights, rng)
        for line, foundation in zip(LINES, FOUNDATIONS, strict=True):
            if ideas & line and 1 << idea != foundation and 1 << idea in FOUNDATIONS:
                ideas &= ~line
        return ideas | 1 << idea

    def _weigh(self, idea: int, ideas: int, sight: Sight) -> float:
        bit = 1 << idea
        if ideas & bit:
            return 0.0
        weight = self.landscape.taste[idea] * sight.ledger.get(idea, 1.0)
        if sight.better & bit:
            weight *= self.law.seen
        for line, foundation in zip(LINES, FOUNDATIONS, strict=True):
            if bit & line and bit != foundation and not ideas & foundation:
                return 0.0
            if ideas & line and bit in FOUNDATIONS and not sight.bold:
                weight *= LEAVING
        return weight


def write_text(point: Point) -> str:
    """Returns a text of a program, for methods that compare texts: a line for each idea, and one for the constants."""
    lines = [f"idea_{number} = {number}" for number in range(IDEAS) if point.ideas >> number & 1]
    return "\n".join([*lines, f"rough = {point.rough:.2f}"])


def _draw(weights: Sequence[float], rng: Generator) -> int:
    left = rng.random() * sum(weights)
    for place, weight in enumerate(weights):
        left -= weight
        if left < 0 < weight:
            return place
    return max(place for place, weight in enumerate(weights) if weight)


def _settle_foundation(ideas: int) -> int:
    """Takes away the ideas whose foundation is not there, and the second foundation."""
    for line, foundation in zip(LINES, FOUNDATIONS, strict=True):
        if not ideas & foundation:
            ideas &= ~line
    return ideas & ~LINES[1] if ideas & FOUNDATIONS[0] else ideas


class IndexedHistory(RehearsedHistory):
    """History that finds children without a walk through all records: strategies ask for them at every step."""

    def __init__(self) -> None:
        super().__init__()
        self._children = defaultdict[RecordId, list[RecordId]](list)

    def settle(self, record: Record) -> None:
        """Adds a record."""
        self.records.append(record)
        for parent in set(record.origin.parents):
            self._children[parent].append(record.id)

    def children(self, record: RecordId) -> Sequence[RecordId]:
        """Returns the proposals that have it as a parent."""
        return self._children[record]


class Role(NamedTuple):
    """What the law does for an operator of another name: `kind`, one of its own, from the seed or from the parents, and whether the prompt asks for another
    approach; where `kind` is empty the operator writes a note, with these extras."""

    kind: str
    from_seed: bool = False
    bold: bool = False
    extras: Mapping[str, Any] = {}


class SimulatedCampaign:
    """A campaign in memory, and the `View` of it: its course is a function of the landscape, the strategy and the seed. `curve` is the best
    fitness after each call."""

    def __init__(
        self,
        law: Law,
        seed: int,
        operators: Sequence[str],
        *,
        islands: int = 4,
        shared: bool = True,
        roles: Mapping[str, Role] | None = None,
        traits: Mapping[str, Traits] | None = None,
    ) -> None:
        """Makes a campaign. `roles` and `traits` are those of operators that the law does not name."""
        self.seed = seed
        self.operators = operators
        self._roles = roles or {}
        self.models = ("simulated",) if shared else ()
        self.task = replace(rehearsed_task(), deterministic=True)
        self.archive = Archive(
            DEFAULT_AXES, ArchiveSettings(islands=islands, capacity=4), deterministic=True, certifies=False
        )
        self.history = IndexedHistory()
        self.lessons: Sequence[Lesson] = ()
        self.progress = Progress()
        self.pending: list[Asked] = []
        self.budget_used = 0.0
        self.curve: list[float] = []
        self.landscape = draw_landscape(law, seed)
        self._proposer = Proposer(law, self.landscape)
        self._shared = shared
        known = {**TRAITS, **(traits or {})}
        self._traits = {name: replace(known.get(name, Traits()), needs_model=shared) for name in operators}
        self._points: dict[RecordId, Point] = {}
        self._written: dict[int, Sequence[tuple[Point, bool]]] = {}
        self._known: set[int] = set()

    def traits(self, operator: str) -> Traits:
        """Returns the traits of an operator with a model; where elites are not shared among islands, as if it had none."""
        return self._traits[operator]

    def rng(self, *key: int) -> Generator:
        """Returns the stream of a purpose, which no other draw disturbs."""
        return np.random.default_rng((self.seed, 1, *key))

    def run(self, strategy: Strategy, calls: int) -> "SimulatedCampaign":
        """Runs so many calls, `IN_FLIGHT` steps at once; they settle in an order of chance."""
        strategy.tell(self._settle(Origin("seed", 0), SEED, works=True))
        step = called = 0
        while len(self.curve) < calls:
            while len(self.pending) < IN_FLIGHT and called < calls:
                step += 1
                action = strategy.ask(self, self.rng(step, 0))
                if isinstance(action, Wait) and self.pending:
                    step -= 1
                    break
                assert isinstance(action, Propose), f"a simulated strategy proposes, got {action}"
                count = min(action.selection.samples, calls - called)
                called += count
                for event in self._start(step, action, count):
                    strategy.tell(event)
            asked = self.pending.pop(int(self.rng(len(self.curve), 2).integers(len(self.pending))))
            for event in self._finish(asked):
                strategy.tell(event)
                best = self.archive.best
                assert best is not None, "the seed has settled"
                self.curve.append(best.fitness)
        return self

    def _start(self, step: int, action: Propose, count: int) -> Iterator[Event]:
        """Yields the events of a step with so many calls. Its children depend on what had settled when it was asked, as a prompt does."""
        selection = replace(action.selection, model="simulated" if self._shared else "")
        asked = Asked(step, Propose(selection), len(self.history))
        role = self._find_role(selection.operator)
        parents = [SEED] if role.from_seed else [self._points[record] for record in selection.parents]
        sight = Sight() if role.kind == "sample" else self._look(selection, bold=role.bold)
        streams = [self.rng(step, 1, *((index,) if index else ())) for index in range(count)]
        # A note is a call without a program.
        self._written[step] = [
            self._proposer.write(role.kind, parents, sight, rng) if role.kind else (SEED, False) for rng in streams
        ]
        self.pending.append(asked)
        yield asked
        for index in range(count):
            yield Replied(step, index, Call("simulated"))

    def _find_role(self, operator: str) -> Role:
        return self._roles.get(operator, Role(operator))

    def _look(self, selection: Selection, *, bold: bool = False) -> Sight:
        """Returns what a prompt shows: the best program and the inspirations, and the ledger."""
        best = self.archive.best
        shown = [*selection.inspirations, *selection.parents[1:], *([best.record] if best else [])]
        floor = self.history.fitness(selection.parents[0])
        better = [one for one in shown if floor is None or (self.history.fitness(one) or 0.0) > floor]
        ideas = 0
        for record in better:
            ideas |= self._points[record].ideas
        return Sight(ideas, self._ledger(), bold or selection.why == STAGNATION)

    def _ledger(self) -> Mapping[int, float]:
        """Returns the factor of each idea that one of the last proposals added; the latest counts."""
        law, found = self._proposer.law, dict[int, float]()
        for record in [record for record in self.history.records[1:] if record.origin.kind == "proposal"][-LEDGER:]:
            child, parents = record.evaluation.fitness, record.origin.parents
            before = self.history.fitness(parents[0])
            if child is None or before is None:
                continue
            added = self._points[record.id].ideas & ~self._points[parents[0]].ideas
            for idea in range(IDEAS):
                if added >> idea & 1:
                    found[idea] = law.helped if child > before else law.tried
        return found

    def _finish(self, asked: Asked) -> Iterator[Event]:
        """Yields what settles, one event for each call."""
        assert isinstance(asked.action, Propose), "a simulated campaign measures nothing"
        chosen, written = asked.action.selection, self._written.pop(asked.step)
        role = self._find_role(chosen.operator)
        for index, (point, works) in enumerate(written):
            origin = Origin(
                "proposal" if role.kind else "note",
                asked.step,
                index,
                len(written),
                island=chosen.island,
                operator=chosen.operator,
                model=chosen.model,
                parents=chosen.parents,
                inspirations=chosen.inspirations,
                notes=chosen.notes,
            )
            yield self._settle(origin, point, works=works) if role.kind else self._settle_note(origin, role.extras)

    def _settle_note(self, origin: Origin, extras: Mapping[str, Any]) -> Settled:
        number = len(self.history) + 1
        # What a note says differs from step to step, as with a model.
        own = {key: f"{value} {number}" if isinstance(value, str) else value for key, value in extras.items()}
        record = Record(number, origin, None, Evaluation.failed(Outcome.SCREENED, ""), extras=own)
        self._points[number] = SEED
        self.history.settle(record)
        return Settled(record, self.archive.settle(record))

    def _settle(self, origin: Origin, point: Point, *, works: bool) -> Settled:
        number = len(self.history) + 1
        tuned = any(self._points[parent].ideas == point.ideas for parent in origin.parents)
        repeated = works and point.ideas in self._known and not tuned
        luck = self.rng(origin.step, 3, *((origin.index,) if origin.index else ()))
        if repeated and luck.random() < SAME:
            program, evaluation = None, Evaluation.failed(Outcome.SCREENED, "")
        else:
            program, evaluation = ProgramId(str(number)), self._evaluate(point, works=works)
            self.history.programs[program] = Program({"ideas": write_text(point)})
        if works:
            self._known.add(point.ideas)
        self._points[number] = point
        record = Record(number, origin, program, evaluation)
        self.history.settle(record)
        return Settled(record, self.archive.settle(record))

    def _evaluate(self, point: Point, *, works: bool) -> Evaluation:
        if not works:
            return Evaluation.failed(Outcome.CRASHED, "")
        # Size grows with the ideas, and so does the distance to the seed; another foundation is another program altogether.
        count, line = point.ideas.bit_count(), 0.25 * bool(point.ideas & LINES[0]) + 0.45 * bool(point.ideas & LINES[1])
        place = {"size_log2": 9.0 + 0.2 * count, "seed_distance": min(1.0, line + 0.04 * count)}
        return Evaluation.ok(self.landscape.fitness(point), descriptors=place)


# --- what is compared


class FixedShares(Bandit):
    """Operators in fixed shares, which learn nothing, in the place of the bandit."""

    def __init__(self, fixed: Mapping[str, float]) -> None:
        super().__init__(tuple(fixed))
        self._fixed = fixed

    def shares(self, among: Collection[str] | None = None) -> dict[str, float]:
        """Returns the shares of those that may be used."""
        allowed = {name: share for name, share in self._fixed.items() if among is None or name in among}
        return {name: share / sum(allowed.values()) for name, share in allowed.items()}


@dataclass(frozen=True, slots=True)
class Arm:
    """A strategy with its operators and, where the default has another, the number of best elites that are parents and the archive's islands.
    `shared`: elites are those of all islands, as for operators with a model."""

    make: Callable[[Sequence[str]], Strategy]
    operators: Sequence[str] = OPERATORS
    elites: int = model_parents.PROMISING
    islands: int = 4
    shared: bool = True
    roles: Mapping[str, Role] = field(default_factory=dict)
    traits: Mapping[str, Traits] = field(default_factory=dict)

    def run(self, law: Law, seed: int, calls: int) -> list[float]:
        """Returns the best fitness after each call of a campaign."""
        campaign = SimulatedCampaign(
            law,
            seed,
            self.operators,
            islands=self.islands,
            shared=self.shared,
            roles=self.roles,
            traits=self.traits,
        )
        with _limit_elites(self.elites):
            return campaign.run(self.make(self.operators), calls).curve


@contextmanager
def _limit_elites(count: int) -> Iterator[None]:
    # No setting says how many elites may be parents.
    before, model_parents.PROMISING = model_parents.PROMISING, count
    try:
        yield
    finally:
        model_parents.PROMISING = before


def islands(**settings: float) -> Callable[[Sequence[str]], Strategy]:
    """Returns the maker of the default strategy with other settings."""
    # The resource of a budget in calls.
    return lambda operators: Islands(IslandsSettings(resource="calls", **settings), operators)  # type: ignore[arg-type]


def fixed(**shares: float) -> Callable[[Sequence[str]], Strategy]:
    """Returns the maker of the default strategy with fixed shares of operators."""

    def make(operators: Sequence[str]) -> Strategy:
        strategy = Islands(IslandsSettings(resource="calls"), operators)
        strategy._bandit = FixedShares(shares)
        return strategy

    return make


def draw_evenly(operators: Sequence[str]) -> Strategy:
    """Returns the default strategy with every elite as likely a parent as another."""
    return Islands(IslandsSettings(resource="calls"), operators, sample_parents=sample_evenly)


ARMS: Mapping[str, Arm] = {
    "default": Arm(islands()),
    **{f"drafts {count}": Arm(islands(drafts=count)) for count in (0, 2, 8)},
    **{f"best_share {share}": Arm(islands(best_share=share)) for share in (0.0, 0.5, 0.75, 1.0)},
    **{f"elites {count}": Arm(islands(), elites=count) for count in (2, 4, 16)},
    **{f"elites 4, best_share {share}": Arm(islands(best_share=share), elites=4) for share in (0.5, 0.75)},
    **{f"stagnation {window or 'off'}": Arm(islands(stagnation=window)) for window in (0, 4, 16)},
    **{f"inspirations {count}": Arm(islands(inspirations=count)) for count in (0, 1, 4)},
    "even shares, no crossover": Arm(fixed(diff=0.4, rewrite=0.4, fix=0.2), ("diff", "rewrite", "fix")),
    **{
        f"crossover {share}": Arm(
            fixed(diff=0.4 * (1 - share), rewrite=0.4 * (1 - share), fix=0.2 * (1 - share), crossover=share)
        )
        for share in (0.1, 0.25, 0.5)
    },
    "mostly diff (0.6, 0.15, 0.1, 0.15)": Arm(fixed(diff=0.6, rewrite=0.15, crossover=0.1, fix=0.15)),
    "mostly rewrite (0.15, 0.6, 0.1, 0.15)": Arm(fixed(diff=0.15, rewrite=0.6, crossover=0.1, fix=0.15)),
    "no fix": Arm(islands(), ("diff", "rewrite", "crossover")),
    "always the best": Arm(islands(drafts=0, best_share=1.0, stagnation=0)),
    "always the best, after drafts": Arm(islands(best_share=1.0, stagnation=0)),
    "any elite, 1 island": Arm(draw_evenly, islands=1),
    "any program": Arm(lambda operators: Baseline(operators, {"seed", "proposal"}), ("diff", "rewrite")),
    "as without a model, 1 island": Arm(islands(), islands=1, shared=False),
    "as without a model, 4 islands": Arm(islands(), islands=4, shared=False),
    "best_of_n": Arm(lambda operators: Baseline(operators, {"seed"}), ("sample",)),
}


class Figure(NamedTuple):
    """A mean, and half of its 95 % interval."""

    mean: float
    half: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half:.3f}"


def average(values: NDArray[np.float64]) -> Figure:
    """Returns the mean of independent values with its interval; they are hundreds, so that the normal one does."""
    return Figure(float(values.mean()), 1.96 * float(values.std(ddof=1)) / math.sqrt(len(values)))


def figures_of(curves: NDArray[np.float64], budget: int) -> NDArray[np.float64]:
    """Returns the best after so many calls and the mean of the best-so-far curve until then, for each campaign."""
    return np.stack([curves[:, budget - 1], curves[:, :budget].mean(axis=1)])


def compare(
    law: Law, arms: Mapping[str, Arm], seeds: int, budgets: Sequence[int]
) -> Iterator[tuple[str, list[Figure]]]:
    """Yields for each arm the best and the area at each budget: of the first arm as they are, of the others less those of the first on the same
    landscapes."""
    first: list[NDArray[np.float64]] = []
    for name, arm in arms.items():
        curves = np.array([arm.run(law, seed, max(budgets)) for seed in range(seeds)])
        found = [values for budget in budgets for values in figures_of(curves, budget)]
        first = first or [np.zeros(seeds)] * len(found)
        yield name, [average(values - base) for values, base in zip(found, first, strict=True)]
        if name == next(iter(arms)):
            first = found


def add_options(
    parser: argparse.ArgumentParser, arms: Mapping[str, Arm], *, budgets: Sequence[int], laws: Sequence[str]
) -> None:
    """Adds the options that `print_tables` takes, with these defaults."""
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--budgets", type=int, nargs="+", default=budgets, metavar="CALLS")
    parser.add_argument("--laws", nargs="+", default=laws, choices=list(LAWS), metavar="LAW")
    parser.add_argument("--arms", nargs="+", default=list(arms), choices=list(arms), metavar="ARM")


def print_tables(what: str, arms: Mapping[str, Arm], given: argparse.Namespace) -> None:
    """Prints a table for each law, with the arm `default` first."""
    chosen = {"default": arms["default"], **{name: arms[name] for name in given.arms}}
    columns = [f"{measure} at {budget}" for budget in given.budgets for measure in ("best", "area")]
    for law in given.laws:
        print(f"\nSimulation, law {law!r}, {given.seeds} landscapes; all but the first row: difference to it\n")
        print(f"| {what} | {' | '.join(columns)} |\n|{'---|' * (1 + len(columns))}")
        for name, found in compare(LAWS[law], chosen, given.seeds, given.budgets):
            print(f"| {name} | {' | '.join(map(str, found))} |", flush=True)


# --- lineages

LINEAGES, EXPANSIONS = 8, 120
"""Lineages of one history, and the children that are made in all of them."""


def draw_lineages(rng: Generator) -> tuple[list[Settled], dict[RecordId, RecordId], list[float]]:
    """Returns a history of lineages, the founder of each record's, and how good each lineage is.

    The law: a lineage has its own chance that a child is better than its parent, which is what it is worth; gains and losses are
    exponential, alike in all. The founder's score, and how often the lineage was expanded, say nothing of that chance."""
    chances, often = rng.uniform(0.05, 0.6, LINEAGES), rng.dirichlet(np.full(LINEAGES, 2.0))
    events = [_settle_score(1, 0.0, 0)]
    founders: dict[RecordId, RecordId] = {}
    for number in range(LINEAGES):
        events.append(_settle_score(2 + number, float(rng.normal()), 1))
        founders[2 + number] = 2 + number
    for record in range(len(events) + 1, len(events) + 1 + EXPANSIONS):
        lineage = int(rng.choice(LINEAGES, p=often))
        parent = int(rng.choice([one for one, founder in founders.items() if founder == 2 + lineage]))
        step = float(rng.exponential()) * (1 if rng.random() < chances[lineage] else -1)
        before = events[parent - 1].record.evaluation.fitness
        assert before is not None, "every program of a lineage has a score"
        events.append(_settle_score(record, before + step, parent))
        founders[record] = 2 + lineage
    return events, founders, chances.tolist()


def _settle_score(record: RecordId, score: float, parent: RecordId) -> Settled:
    origin = Origin("proposal", record, parents=(parent,)) if parent else Origin("seed", 0)
    made = Record(record, origin, ProgramId(str(record)), Evaluation.ok(score))
    return Settled(made, Placement(Insertion.NOT_ADDED))


def correlate_ranks(one: Sequence[float], other: Sequence[float]) -> float:
    """Returns Kendall's tau of two rankings without ties: 1 where they agree, -1 where one is the other turned round."""
    first, second = np.array(one), np.array(other)
    signs = np.sign(np.subtract.outer(first, first)) * np.sign(np.subtract.outer(second, second))
    return float(signs.sum()) / (len(first) * (len(first) - 1))


def rank_lineages(seeds: int) -> tuple[Figure, Figure, Figure]:
    """Returns how well a lineage is ranked by the clade value of `hgm`, by its best program, and the difference, over histories."""
    found = []
    for seed in range(seeds):
        events, founders, chances = draw_lineages(np.random.default_rng((seed, 2)))
        strategy = Hgm(HgmSettings(), ("diff",))
        for event in events:
            strategy.tell(event)
        clades = [node.clade.mean for node in strategy.candidates[1 : 1 + LINEAGES]]
        best = dict.fromkeys(founders.values(), -math.inf)
        for record, founder in founders.items():
            best[founder] = max(best[founder], events[record - 1].record.evaluation.fitness or 0.0)
        found.append([correlate_ranks(values, chances) for values in (clades, list(best.values()))])
    clade, greedy = np.array(found).T
    return average(clade), average(greedy), average(clade - greedy)


def main() -> None:
    """Prints a table for each law."""
    parser = argparse.ArgumentParser(description="Simulation of strategies: no result of a language model.")
    add_options(parser, ARMS, budgets=[30, 100], laws=list(LAWS))
    parser.add_argument("--lineages", action="store_true", help="only: how well lineages are ranked by their clades")
    given = parser.parse_args()
    if given.lineages:
        for name, figure in zip(("clade", "best program", "difference"), rank_lineages(given.seeds), strict=True):
            print(f"Kendall's tau with the worth of the lineage, by the {name}: {figure}")
        return
    print_tables("strategy", ARMS, given)


if __name__ == "__main__":
    main()
