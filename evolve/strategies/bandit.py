"""Which operator to use next: a bandit that pays for gains on a rank scale, per cost.

Invariant: the state is a fold over the events that it is told, so a replay rebuilds it exactly, and only the order of
the fitness values matters: any increasing transformation of them changes nothing. Every event costs the same, however
long the campaign is.

*Gain.* With `better(x)` the number of the last `WINDOW` successful results, the child among them, with a fitness
strictly above x, a child c of a best parent p gains `log2((1 + better(p)) / (1 + better(c)))` where it is better than
p, else 0. To halve the number of results that are better is worth 1 wherever it happens. A parent that failed, or no
parent, counts as worse than every result. A newer version of the task empties the window; what it judges again enters it.

*Cost.* `OVERHEAD` for every proposal; 1 for a judged one, since it held a judge slot; and what it used of the
resource, in units of the mean of all uses of it: tokens and money per call, seconds and GPU seconds per judging.
(Where the resource is seconds, the judging's seconds take the place of the 1.) So an operator without a model is
cheaper than one with, but never free, and a free one cannot starve the others. An `INTERNAL` outcome is no operator's
fault, and changes nothing.

*Value.* Of each arm, the sum of gains over the sum of costs, both discounted by `DISCOUNT` with every settled
proposal of any arm, so that an old merit fades; to both a prior is added, `PRIOR_COST` at the yield of all arms
together, so that an arm that was hardly tried counts as an average one, however small gains have become. Arms are
drawn in proportion to their values, each with at least `floor`; those that may not be used now are not drawn."""

import math
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from numpy.random import Generator

from evolve.stop import Resource
from evolve.types import (
    REJUDGED,
    Asked,
    Call,
    ConfigError,
    Evaluation,
    Event,
    Outcome,
    Propose,
    Record,
    RecordId,
    Replied,
    Settled,
    TaskChanged,
)

WINDOW = 512
DISCOUNT = 0.998
OVERHEAD = 0.1
PRIOR_COST = 5.0
FLOOR = 0.05


Worth = tuple[float, float]
"""Minus how far the constraints are missed, and the fitness: the larger pair is better."""
_WORST: Worth = (-math.inf, 0.0)


class Ranks:
    """The worth of the last `WINDOW` successful results in their order, and of every record."""

    def __init__(self) -> None:
        self._recent: deque[Worth] = deque()
        self._sorted: list[Worth] = []
        self._worth: dict[RecordId, Worth] = {}

    def add(self, record: RecordId, worth: Worth) -> None:
        """One more success; the oldest one leaves the window."""
        self._worth[record] = worth
        self._recent.append(worth)
        insort(self._sorted, worth)
        if len(self._recent) > WINDOW:
            oldest = self._recent.popleft()
            del self._sorted[bisect_right(self._sorted, oldest) - 1]

    def gain(self, parents: Sequence[RecordId], child: Worth) -> float:
        """What a settled child has gained on the best of its parents: 0 to log2(1 + WINDOW)."""
        parent = max((self._worth[record] for record in parents if record in self._worth), default=_WORST)
        if child <= parent:
            return 0.0
        return math.log2((1 + self._better(parent)) / (1 + self._better(child)))

    def _better(self, worth: Worth) -> int:
        return len(self._sorted) - bisect_right(self._sorted, worth)


@dataclass(slots=True)
class Arm:
    """An operator's discounted gains and costs."""

    gains: float = 0.0
    costs: float = 0.0


class Bandit:
    """Draws operators. Only `tell` changes its state; `choose` is a function of that state and the generator."""

    def __init__(
        self, operators: Sequence[str], resource: Resource = "programs", floor: float = FLOOR, arm_of: str = "operator"
    ) -> None:
        if not operators:
            raise ConfigError(
                "a strategy needs an operator, got none. "
                "Do: name one in operators.names, or install a plugin that has one"
            )
        self._arms = {operator: Arm() for operator in operators}
        self._resource = resource
        self._floor = floor
        self._ranks = Ranks()
        self._steps: dict[int, str] = {}
        self._used = 0.0
        self._uses = 0

    def choose(self, rng: Generator, among: Collection[str] | None = None) -> str:
        """The next operator of those that may be used, all without `among`, with the probabilities of `shares`."""
        left, shares = rng.random(), self.shares(among)
        for operator, share in shares.items():
            left -= share
            if left < 0:
                return operator
        return next(reversed(shares))

    def shares(self, among: Collection[str] | None = None) -> dict[str, float]:
        """The probability of each operator that may be used; they sum to 1."""
        allowed = {name: arm for name, arm in self._arms.items() if among is None or name in among}
        gains = sum(arm.gains for arm in self._arms.values())
        costs = sum(arm.costs for arm in self._arms.values())
        prior = PRIOR_COST * (gains / costs if costs > 0 else 1.0)
        values = {name: (arm.gains + prior) / (arm.costs + PRIOR_COST) for name, arm in allowed.items()}
        total = sum(values.values())
        if total <= 0:
            return dict.fromkeys(values, 1 / len(values))
        floor = min(self._floor, 1 / len(values))
        free = 1 - floor * len(values)
        return {operator: floor + free * value / total for operator, value in values.items()}

    def tell(self, event: Event) -> None:
        """Folds one event; of those that say nothing about operators, nothing is kept."""
        match event:
            case Asked(step=step, action=Propose(selection=selection)) if selection.operator in self._arms:
                self._steps[step] = selection.operator
            case Replied(step=step, call=call) if step in self._steps:
                self._arms[self._steps[step]].costs += self._in_means(self._use_of_call(call))
            case Settled(record=record):
                self._settle(record)
            case TaskChanged():
                self._ranks = Ranks()

    def _settle(self, record: Record) -> None:
        evaluation, origin = record.evaluation, record.origin
        self._steps.pop(origin.step, None)
        measured_again = origin.kind == "measurement" and origin.why != REJUDGED
        if measured_again or evaluation.outcome is Outcome.INTERNAL:
            return
        worth = None if evaluation.fitness is None else (-evaluation.violation, evaluation.fitness)
        if worth is not None:
            self._ranks.add(record.id, worth)
        if origin.kind == "proposal" and origin.operator in self._arms:
            for arm in self._arms.values():
                arm.gains *= DISCOUNT
                arm.costs *= DISCOUNT
            arm = self._arms[origin.operator]
            arm.costs += self._cost(evaluation)
            if worth is not None:
                arm.gains += self._ranks.gain(origin.parents, worth)

    def _cost(self, evaluation: Evaluation) -> float:
        if evaluation.outcome is Outcome.SCREENED:
            return OVERHEAD
        if self._resource == "seconds":
            return OVERHEAD + self._in_means(evaluation.seconds)
        gpu = self._resource == "gpu_seconds" and evaluation.device != "cpu"
        return OVERHEAD + 1 + self._in_means(evaluation.seconds if gpu else 0.0)

    def _use_of_call(self, call: Call) -> float:
        match self._resource:
            case "tokens":
                return float(call.prompt_tokens + call.completion_tokens)
            case "money":
                return call.cost
            case "calls":
                return 1.0
            case _:
                return 0.0

    def _in_means(self, use: float) -> float:
        """`use` in units of the mean of all uses so far, this one included; nothing used costs nothing."""
        if use <= 0:
            return 0.0
        self._used += use
        self._uses += 1
        return use * self._uses / self._used
