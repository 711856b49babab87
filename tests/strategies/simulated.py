"""A campaign of two operators in figures: `invent` calls a model and rarely opens a better basin, `tune` is free and comes closer to the
bottom of the one that it is in."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from evolve.stop import Resource
from evolve.strategies.bandit import Bandit
from evolve.types import (
    Asked,
    Call,
    Evaluation,
    Event,
    Insertion,
    Origin,
    Outcome,
    Placement,
    ProgramId,
    Propose,
    Record,
    RecordId,
    Replied,
    Selection,
    Settled,
)

NOWHERE = Placement(Insertion.NOT_ADDED)
TOKENS, PRICE, REPLY, JUDGING = 4_000, 0.02, 20, 1.0
"""What a call takes: tokens, money, and proposals of others that settle meanwhile; what a judging takes, in seconds."""
LONGEST = 1_200
"""Proposals of a campaign whose budget is never spent."""
JUMP, SLOPE, AT_THE_BOTTOM = 1.0, 2.0, 0.02
"""How much deeper a new basin is in the mean, how far from its bottom a program may begin, and where there is nothing left to tune."""


class Point(NamedTuple):
    """A program: what its basin is worth at the bottom, and how far above the bottom it is."""

    bottom: float
    rest: float

    @property
    def fitness(self) -> float:
        return self.bottom - self.rest


@dataclass
class Simulated:
    """`invent` succeeds with the probability `luck`. Programs that may be parents are the best of each basin."""

    operators: Sequence[str]
    resource: Resource = "programs"
    seed: int = 0
    luck: float = 0.03
    in_flight: int = 16
    events: list[Event] = field(default_factory=list)
    drawn: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.bandit = Bandit(self.operators, self.resource)
        self._rng = np.random.default_rng(self.seed)
        self._points: dict[RecordId, Point] = {}
        self._elites: dict[float, RecordId] = {}
        self._waiting: list[tuple[int, int, RecordId]] = []
        self._tell(Settled(Record(1, Origin("seed", 0), ProgramId("1"), Evaluation.ok(-3.0)), NOWHERE))
        self._points[1] = Point(0.0, 3.0)
        self._elites[0.0] = 1
        self._records = 1

    def run(self, programs: int = 0, calls: int = 0) -> "Simulated":
        """Until so many were evaluated, or so many calls made; `LONGEST` proposals at most."""
        step = 0
        while (
            step < 3_000 and (not programs or self._records < programs) and (not calls or self.drawn["invent"] < calls)
        ):
            step += 1
            while self._waiting and (self._waiting[0][0] <= step or self.operators == ("invent",)):
                _, asked, parent = self._waiting.pop(0)
                self._settle(asked, "invent", parent, self._invented(self._points[parent]))
            free = [name for name in self.operators if name != "invent" or len(self._waiting) < self.in_flight]
            operator, parent = self.bandit.choose(self._rng, free), self._drawn(self._rng)
            self.drawn[operator] += 1
            self._tell(Asked(step, Propose(Selection(operator, parents=(parent,))), self._records))
            if operator == "invent":
                self._tell(Replied(step, 0, Call("model", prompt_tokens=TOKENS, cost=PRICE)))
                self._waiting.append((step + REPLY, step, parent))
            else:
                self._settle(step, operator, parent, self._tuned(self._points[parent]))
        return self

    @property
    def best(self) -> float:
        return max(point.fitness for point in self._points.values())

    @property
    def shares(self) -> Mapping[str, float]:
        """Of all proposals."""
        return {name: self.drawn[name] / sum(self.drawn.values()) for name in self.operators}

    def _drawn(self, rng: Generator) -> RecordId:
        """Rank r with a probability of about 1 / r, as the archive draws elites."""
        ranked = sorted(self._elites.values(), key=lambda record: -self._points[record].fitness)
        return ranked[int((len(ranked) + 1) ** rng.random()) - 1]

    def _invented(self, parent: Point) -> Point | None:
        """A deeper basin, with numbers that fit less than those of the parent; else a worse program of the same basin, or one that crashes."""
        if self._rng.random() < self.luck:
            return Point(parent.bottom + self._rng.exponential(JUMP), parent.rest + SLOPE * self._rng.random())
        if self._rng.random() < 0.4:
            return None
        return parent._replace(rest=parent.rest + self._rng.exponential(2.0))

    def _tuned(self, parent: Point) -> Point:
        better = self._rng.random() < 0.25 and parent.rest > AT_THE_BOTTOM
        return parent._replace(rest=parent.rest * (0.9 if better else 1.0 + self._rng.random()))

    def _settle(self, step: int, operator: str, parent: RecordId, point: Point | None) -> None:
        self._records += 1
        number = self._records
        crashed = Evaluation.failed(Outcome.CRASHED, "", seconds=JUDGING)
        evaluation = crashed if point is None else Evaluation(Outcome.OK, point.fitness, seconds=JUDGING)
        origin = Origin("proposal", step, operator=operator, parents=(parent,))
        self._tell(Settled(Record(number, origin, ProgramId(str(number)), evaluation), NOWHERE))
        if point is not None:
            self._points[number] = point
            holder = self._elites.get(point.bottom)
            if holder is None or self._points[holder].fitness < point.fitness:
                self._elites[point.bottom] = number

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        self.bandit.tell(event)


def median(values: Sequence[float]) -> float:
    assert all(map(math.isfinite, values))
    return sorted(values)[len(values) // 2]
