"""Bandit over operators, or over models, that pays for gains on a rank scale, per cost.

The state is a fold over the events that it is told, so a replay rebuilds it exactly, and only the order of
the fitness values matters: any increasing transformation of them changes nothing. Every event costs the same, however
long the campaign is.

*Arms.* Operators or models, by the names that `Selection` and `Origin` have for them. Both are paid alike, but a model
pays for its own calls alone, and an operator for all calls of its steps: a check of what another model wrote is the
operator's doing.

*Gain.* With `better(x)` the number of the last `WINDOW` successful results, the child among them, with a fitness
strictly above x, a child c of a best parent p gains `log2((1 + better(p)) / (1 + better(c)))` where it is better than
p, else 0. To halve the number of results that are better is worth 1 wherever it happens. A proposal that fails is worth
as much as its best parent, so that who repairs it gains on the last success among its ancestors and not on nothing; no
parent at all counts as worse than every result. A newer version of the task empties the window; what it evaluates again
enters it.

*Cost.* `OVERHEAD` for every proposal; 1 for one that held a slot, of an evaluation worker or, where it was screened, of a model; and
what it used of the resource, in units of the mean of all uses of it: tokens and money per call, one for each call, seconds per
evaluation, GPU seconds per both. The calls of a step are shared by its children. Where the resource is seconds, the evaluation's seconds take
the place of the 1; waiting for a reply costs nothing, since nobody else has to wait for it. So an operator without a model is cheaper than
one with, but never free, and a free one cannot starve the others. An `INTERNAL` outcome is nobody's fault, and changes nothing: not even
its calls are charged.

*Value.* Of each arm, the sum of gains over the sum of costs, both discounted by `DISCOUNT` with every proposal of this
arm that settles, so that an old merit fades; to both a prior is added, `PRIOR_COST` at the yield of all arms together,
so that an arm that was hardly tried counts as an average one, however small gains have become. Arms are drawn in
proportion to their values, each with at least `floor`; those that may not be used now are not drawn.

*Why an arm fades by its own proposals.* Thousands of proposals of an operator without a model settle between two replies of a
model. If they made every arm fade, nothing would ever be known of the model's operators but the prior. What follows from it:
an arm remembers its last 500 proposals or so, however long ago they were. One that is drawn seldom has the value of what it did earlier. If that was too good, it
is drawn, and learns better, at the speed of its own replies. If that was too bad, the floor finds out, and takes as many of its own
proposals for it as a frequent arm would. Once nothing gains any more, frequent arms forget their merits first, and the shares even
out: a search that stands still tries everything. The sums of all arms are those of their memories, so that in the prior an arm counts
for as much as is remembered of it, whatever its share of late."""

import math
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from evolve.stop import Resource
from evolve.types import (
    REJUDGED,
    Asked,
    Call,
    ConfigError,
    Evaluation,
    Event,
    Origin,
    Outcome,
    Previewed,
    Propose,
    Record,
    RecordId,
    Replied,
    Selection,
    Settled,
    TaskChanged,
)

WINDOW = 512
DISCOUNT = 0.998
OVERHEAD = 0.1
PRIOR_COST = 5.0
FLOOR = 0.05

ArmKind = Literal["operator", "model"]
Worth = tuple[float, float]
"""Minus how far the constraints are missed, and the fitness: the larger pair is better."""
_WORST: Worth = (-math.inf, 0.0)
_NO_ARMS: Mapping[ArmKind, str] = {
    "operator": "a strategy needs an operator, got none. Try: name one in operators.names, or install a plugin that has one",
    "model": "a bandit over models needs a model, got none. Try: name one, such as --model gpt-5-mini",
}


class Ranks:
    """The worth of the last `WINDOW` successful results in their order, and of every record."""

    def __init__(self) -> None:
        self._recent: deque[Worth] = deque()
        self._sorted: list[Worth] = []
        self._worth: dict[RecordId, Worth] = {}

    def add(self, record: RecordId, worth: Worth) -> None:
        """Adds a success; the oldest one leaves the window."""
        self._worth[record] = worth
        self._recent.append(worth)
        insort(self._sorted, worth)
        if len(self._recent) > WINDOW:
            oldest = self._recent.popleft()
            del self._sorted[bisect_right(self._sorted, oldest) - 1]

    def inherit(self, record: RecordId, parents: Sequence[RecordId]) -> None:
        """Gives a failure the worth of the best of its parents; it enters no window."""
        worth = self._best(parents)
        if worth != _WORST:
            self._worth[record] = worth

    def gain(self, parents: Sequence[RecordId], child: Worth) -> float:
        """Returns the gain of a settled child on the best of its parents: 0 to log2(1 + WINDOW)."""
        parent = self._best(parents)
        if child <= parent:
            return 0.0
        return math.log2((1 + self._better(parent)) / (1 + self._better(child)))

    def _best(self, records: Sequence[RecordId]) -> Worth:
        return max((self._worth[record] for record in records if record in self._worth), default=_WORST)

    def _better(self, worth: Worth) -> int:
        return len(self._sorted) - bisect_right(self._sorted, worth)


def draw(rng: Generator, shares: Mapping[str, float]) -> str:
    """Draws one of the names, each with the probability of its share; the shares sum to 1."""
    left, names = rng.random(), list(shares)
    for name in names:
        left -= shares[name]
        if left < 0:
            return name
    return names[-1]


@dataclass(slots=True)
class BanditArm:
    """Discounted gains and costs."""

    gains: float = 0.0
    costs: float = 0.0

    def settle(self, gain: float, cost: float) -> None:
        """Adds a proposal; the earlier ones fade."""
        self.gains = self.gains * DISCOUNT + gain
        self.costs = self.costs * DISCOUNT + cost


@dataclass(slots=True)
class OpenStep:
    """A step of an arm that has not settled as a whole: the cost of its calls and previews, whether it made a call, and how many of its children have settled."""

    arm: str
    cost: float = 0.0
    called: bool = False
    settled: int = 0


_NO_STEP = OpenStep("")


class Bandit:
    """Draws arms. Only `tell` changes its state; `choose` is a function of that state and the generator. Steps of the operators `besides`
    say nothing about an arm: they make no programs."""

    def __init__(
        self,
        arms: Sequence[str],
        resource: Resource = "programs",
        floor: float = FLOOR,
        arm_of: ArmKind = "operator",
        besides: Collection[str] = (),
    ) -> None:
        if not arms:
            raise ConfigError(_NO_ARMS[arm_of])
        self._arms = {name: BanditArm() for name in arms}
        self._resource = resource
        self._floor = floor
        self._kind = arm_of
        self._besides = frozenset(besides)
        self._ranks = Ranks()
        self._steps: dict[int, OpenStep] = {}
        self._used = 0.0
        self._uses = 0

    def choose(self, rng: Generator, among: Collection[str] | None = None) -> str:
        """Draws the next arm of those that may be used, all without `among`, with the probabilities of `shares`."""
        return draw(rng, self.shares(among))

    def shares(self, among: Collection[str] | None = None) -> dict[str, float]:
        """Returns the probability of each arm that may be used; they sum to 1."""
        allowed = {name: arm for name, arm in self._arms.items() if among is None or name in among}
        gains = sum(arm.gains for arm in self._arms.values())
        costs = sum(arm.costs for arm in self._arms.values())
        # At the yield of all arms together, so that a new arm counts as an average one, however small gains have become.
        prior = PRIOR_COST * (gains / costs if costs > 0 else 1.0)
        values = {name: (arm.gains + prior) / (arm.costs + PRIOR_COST) for name, arm in allowed.items()}
        total = sum(values.values())
        if total <= 0:
            return dict.fromkeys(values, 1 / len(values))
        # With more arms than 1 / floor, all are alike.
        floor = min(self._floor, 1 / len(values))
        free = 1 - floor * len(values)
        return {name: floor + free * value / total for name, value in values.items()}

    def tell(self, event: Event) -> None:
        """Folds one event; of those that say nothing about an arm, nothing is kept."""
        match event:
            case Asked(step=step, action=Propose(selection=selection)):
                arm = self._arm(selection)
                if arm in self._arms:
                    self._steps[step] = OpenStep(arm)
            case Replied(step=step, call=call) if step in self._steps:
                self._add_call(self._steps[step], call)
            case Previewed(step=step, evaluation=evaluation) if step in self._steps:
                self._steps[step].cost += self._cost(evaluation, called=False)
            case Settled(record=record):
                self._settle(record)
            case TaskChanged():
                # Scores of two versions of a task do not compare.
                self._ranks = Ranks()
                self._steps.clear()

    def _arm(self, made: Selection | Origin) -> str:
        """Returns the name of the arm that a step belongs to; empty for a step that says nothing about one."""
        if made.operator in self._besides:
            return ""
        return made.operator if self._kind == "operator" else made.model

    def _add_call(self, step: OpenStep, call: Call) -> None:
        if self._kind == "operator" or call.model == step.arm:
            step.cost += self._in_means(self._use_of_call(call))
            step.called = True

    def _settle(self, record: Record) -> None:
        evaluation, origin = record.evaluation, record.origin
        step = self._close(origin)
        if evaluation.fitness is None:
            self._ranks.inherit(record.id, origin.parents)
        measured_again = origin.kind == "measurement" and origin.why != REJUDGED
        if measured_again or evaluation.outcome is Outcome.INTERNAL:
            return
        gain = 0.0
        if evaluation.fitness is not None:
            worth = (-evaluation.violation, evaluation.fitness)
            self._ranks.add(record.id, worth)
            gain = self._ranks.gain(origin.parents, worth)
        arm = self._arms.get(self._arm(origin))
        if origin.kind == "proposal" and arm is not None:
            arm.settle(gain, OVERHEAD + step.cost / origin.count + self._cost(evaluation, step.called))

    def _close(self, origin: Origin) -> OpenStep:
        """Returns the step of a child that settles; it is forgotten with its last child."""
        step = self._steps.get(origin.step, _NO_STEP)
        if step is not _NO_STEP:
            step.settled += 1
            if step.settled == origin.count:
                del self._steps[origin.step]
        return step

    def _cost(self, evaluation: Evaluation, called: bool) -> float:
        """Returns the cost of a child besides its calls: a slot, of a worker or of a model, or the seconds in it."""
        if evaluation.outcome is Outcome.SCREENED:
            # A model whose answers are never any good is not free.
            return float(called)
        if self._resource == "seconds":
            return self._in_means(evaluation.seconds)
        gpu = self._resource == "gpu_seconds" and evaluation.device != "cpu"
        return 1.0 + self._in_means(evaluation.seconds if gpu else 0.0)

    def _use_of_call(self, call: Call) -> float:
        match self._resource:
            case "tokens":
                return float(call.prompt_tokens + call.completion_tokens)
            case "money":
                return call.cost
            case "calls":
                return 1.0
            case "gpu_seconds":
                return call.gpu_seconds
            case _:
                return 0.0

    def _in_means(self, use: float) -> float:
        """Returns `use` in units of the mean of all uses so far, this one included; nothing used costs nothing."""
        if use <= 0:
            return 0.0
        self._used += use
        self._uses += 1
        return use * self._uses / self._used
