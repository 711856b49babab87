"""ShinkaEvolve (Lange, Imajuku, Cetin 2025, https://arxiv.org/abs/2509.19349): parents by score and by how little was made of them, a fixed
mix of edits, and a bandit over the models.

*Parents.* On an island that is drawn evenly, an elite with the score a and so many children is drawn in proportion to s h, with

    s = sigmoid(10 (a - median) / max(MAD, 1e-6)),    h = 1 / (1 + children)

where median and MAD, the median distance from it, are those of the island's elites that meet the task's constraints.

*Models.* A child of a model earns r = max(score - max(parent, seed), 0). A model's mean of e^r - 1, which is kept as a logarithm, over the largest so
far is its value, to which comes sqrt(2 ln t / n); the largest sum is asked, and with the probability epsilon any. All counts fade by the decay with each child that settles.

*Faithful:* both laws with the paper's numbers, and diff, full rewrite and crossover as 0.6, 0.3 and 0.1. Novelty rejection is the engine's:
`novelty.cosine`, with a model for "embed" and one for "novelty".

*Not faithful.* The archive, migration and the inspirations are the engine's: elites by cells, and not the best of an island. Prompts are the engine's, too. The cost term of the bandit is left out, since at
its default a cheap model that never improves anything got most calls. The scratchpad is `lessons.every`; prompts that evolve and the mode that mends failures are left out. As in the paper, rewards depend on the scale of the score."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator

from evolve.archive import Elite
from evolve.hookspecs import PresetEntry, StrategyEntry
from evolve.protocols import View
from evolve.strategies import sample_in_proportion
from evolve.types import NOBODYS_FAULT, Asked, Event, Outcome, Propose, Record, RecordId, Settled, TaskChanged, Wait
from evolve_methods.choices import Proposer

STEEPNESS = 10.0
LEAST_SCALE = 1e-6


class ShinkaSettings(BaseModel):
    """Settings of `shinka`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mix: dict[str, float] = {"diff": 0.6, "rewrite": 0.3, "crossover": 0.1}
    """Shares of the operators; one that is not named counts 1."""
    inspirations: int = Field(default=4, ge=0, le=16)
    """Elites that an operator is shown, at most."""
    epsilon: float = Field(default=0.2, ge=0.0, le=1.0)
    """How often a model is drawn evenly."""
    decay: float = Field(default=0.95, gt=0.0, le=1.0)
    """Share of the bandit's counts that is left after each child of a model."""

    @field_validator("mix")
    @classmethod
    def _check_mix(cls, mix: dict[str, float]) -> dict[str, float]:
        if not all(math.isfinite(share) and share >= 0 for share in mix.values()):
            raise ValueError("a share is 0 or more")
        return mix


def weigh_parents(scores: NDArray[np.float64], children: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns weights s h of programs by their scores and numbers of children."""
    median = np.median(scores)
    scale = max(float(np.median(np.abs(scores - median))), LEAST_SCALE)
    # The sigmoid, in a form that does not overflow.
    good: NDArray[np.float64] = 0.5 * (1 + np.tanh(0.5 * STEEPNESS * (scores - median) / scale))
    return good / (1 + children)


@dataclass(slots=True)
class ModelArm:
    """Fading counts of one model: proposals, children that settled, and the logarithm of the sum of e^r - 1."""

    asked: float = 0.0
    settled: float = 0.0
    log_sum: float = -math.inf


class ModelBandit:
    """Upper confidence bounds of models by what their children gain. Only `ask` and `settle` change it."""

    def __init__(self, epsilon: float, decay: float) -> None:
        self._epsilon = epsilon
        self._decay = decay
        self._arms: dict[str, ModelArm] = {}
        self._log_most = -math.inf

    def choose(self, models: Sequence[str], rng: Generator) -> str:
        """Draws one of the models; empty, which leaves it to the engine, where there is none to choose between."""
        if len(models) < 2:
            return ""
        if rng.random() < self._epsilon:
            return models[int(rng.integers(len(models)))]
        bounds = self.bounds(models)
        return max(models, key=lambda name: bounds[name])

    def bounds(self, models: Sequence[str]) -> Mapping[str, float]:
        """Returns the upper bound of each model; infinite for one that was never asked."""
        arms = {name: self._arms.get(name, ModelArm()) for name in models}
        spread = 2 * math.log(max(1.0, sum(arm.asked for arm in arms.values())))
        return {
            name: self._value(arm) + math.sqrt(spread / arm.asked) if arm.asked else math.inf
            for name, arm in arms.items()
        }

    def ask(self, model: str) -> None:
        """Counts a proposal that a model is asked for, so that those under way are not forgotten."""
        self._arms.setdefault(model, ModelArm()).asked += 1

    def settle(self, model: str, reward: float) -> None:
        """Counts a child with its reward; what came before fades."""
        for arm in self._arms.values():
            arm.asked *= self._decay
            arm.settled *= self._decay
            arm.log_sum += math.log(self._decay)
        # log(e^r - 1), for rewards of any size.
        gain = reward + math.log(-math.expm1(-reward)) if reward > 0 else -math.inf
        arm = self._arms.setdefault(model, ModelArm())
        arm.settled += 1
        arm.log_sum = float(np.logaddexp(arm.log_sum, gain))
        self._log_most = max(self._log_most, gain)

    def _value(self, arm: ModelArm) -> float:
        if arm.log_sum == -math.inf:
            return 0.0
        return math.exp(arm.log_sum - math.log(arm.settled) - self._log_most)


class Shinka:
    """Strategy on the archive's islands. Only `tell` changes its state: children, scores and the bandit, all of the present version of the task."""

    def __init__(self, settings: ShinkaSettings, operators: Sequence[str]) -> None:
        self._settings = settings
        self._proposer = Proposer(operators, settings.inspirations, shares=settings.mix)
        self._begin()

    def _begin(self) -> None:
        self._models = ModelBandit(self._settings.epsilon, self._settings.decay)
        self._children = Counter[RecordId]()
        self._scores: dict[RecordId, float] = {}
        self._seed = -math.inf

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a proposal on an island that is drawn evenly from those with elites; Wait while none has one."""
        islands = [number for number in range(view.archive.settings.islands) if view.archive.best_elite(number)]
        if not islands:
            return Wait()
        island = islands[int(rng.integers(len(islands)))]
        elites, weights = self.weigh(view, island)
        parent = sample_in_proportion(elites, weights, 1, rng)[0]
        action = self._proposer.propose(view, parent.record, island, rng)
        if isinstance(action, Wait) or not view.traits(action.selection.operator).needs_model:
            return action
        return Propose(replace(action.selection, model=self._models.choose(view.models, rng)))

    def weigh(self, view: View, island: int) -> tuple[Sequence[Elite], Sequence[float]]:
        """Returns the elites of an island that may be parents, and their weights; those that miss a constraint only where there are no others."""
        every = view.archive.elites(island)
        elites = [elite for elite in every if elite.violation == 0.0] or every
        scores = np.array([elite.fitness for elite in elites])
        children = np.array([self._children[elite.record] for elite in elites], dtype=float)
        return elites, weigh_parents(scores, children).tolist()

    def tell(self, event: Event) -> None:
        """Folds an event at constant cost."""
        match event:
            case Asked(action=action):
                selection = self._proposer.find_selection(action)
                if selection and selection.model:
                    self._models.ask(selection.model)
            case Settled(record=record):
                self._settle(record)
            case TaskChanged():
                self._begin()

    def _settle(self, record: Record) -> None:
        evaluation, origin = record.evaluation, record.origin
        if evaluation.fitness is not None and evaluation.violation == 0.0:
            self._scores[record.id] = evaluation.fitness
            if origin.kind == "seed":
                self._seed = max(self._seed, evaluation.fitness)
        if origin.kind != "proposal" or not origin.parents:
            return
        self._children[origin.parents[0]] += evaluation.outcome not in NOBODYS_FAULT
        if origin.model and evaluation.outcome is not Outcome.INTERNAL:
            self._models.settle(origin.model, self._reward(record))

    def _reward(self, record: Record) -> float:
        """Returns what a child gains on its parent and the seed; nothing for a failure, or where there is no score to compare with."""
        before = max(self._seed, self._scores.get(record.origin.parents[0], -math.inf))
        score = self._scores.get(record.id)
        return 0.0 if score is None or before == -math.inf else max(score - before, 0.0)


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> Shinka:
    return Shinka(ShinkaSettings(**settings), operators)


ENTRIES = (
    StrategyEntry("shinka", _make, ShinkaSettings, operators=("diff", "rewrite", "crossover")),
    PresetEntry(
        "shinka",
        {"strategy": {"name": "shinka"}, "lessons": {"every": 10}},
        "parents by score and novelty of use, a bandit over models, lessons every ten records",
        "ShinkaEvolve, https://arxiv.org/abs/2509.19349",
    ),
)
