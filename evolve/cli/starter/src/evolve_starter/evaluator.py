"""The evaluator `starter`: how well a function approximates the square root. A task names it: `evaluator = { plugin = "starter" }`."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evolve import Candidate, Evaluation, Trial, hookimpl
from evolve.hookspecs import EvaluatorEntry
from evolve.types import Stage, Task
from pydantic import BaseModel, ConfigDict, Field

LARGEST = 1e100
"""Numbers below it can be subtracted and added up; `abs(answer) < LARGEST` also holds for no NaN and no infinity."""


class RootSettings(BaseModel):
    """What a task writes beside the plugin's name: `evaluator = { plugin = "starter", points = 100 }`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    low: float = Field(default=1.0, ge=0, description="where the interval begins")
    high: float = Field(default=4.0, gt=0, description="where it ends")
    points: int = Field(default=61, ge=2, le=100_000, description="how many points of it are compared")


class Root:
    """Calls the candidate's `root(xs)`, which answers with a number for each x; the fitness is the largest error, to be minimised."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        chosen = RootSettings(**settings)
        step = (chosen.high - chosen.low) / (chosen.points - 1)
        self._xs = [chosen.low + number * step for number in range(chosen.points)]

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[[Candidate, Trial], Evaluation]]]:
        """One stage of at most ten seconds; a cheap stage before a dear one would stand first."""
        return [(Stage("evaluate", limit=10.0), self._evaluate)]

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """Neither certificates nor pictures."""
        return {}

    def _evaluate(self, candidate: Candidate, trial: Trial) -> Evaluation:
        """What the candidate answers is data of a stranger: its form is checked before its value is."""
        answers = candidate.call("root", self._xs)
        if not isinstance(answers, list) or len(answers) != len(self._xs):
            return Evaluation.invalid(f"root(xs) answers with a list of {len(self._xs)} numbers")
        if not all(type(answer) in (int, float) and abs(answer) < LARGEST for answer in answers):
            return Evaluation.invalid(f"root(xs) answers with finite numbers below {LARGEST:g}")
        errors = [abs(answer - math.sqrt(x)) for answer, x in zip(answers, self._xs, strict=True)]
        worst = max(errors)
        feedback = f"the largest error, {worst:.3g}, is at x = {self._xs[errors.index(worst)]:.3g}"
        return Evaluation.ok(worst, metrics={"mean_error": sum(errors) / len(errors)}, feedback=feedback)


@hookimpl
def register_evaluators() -> Sequence[EvaluatorEntry]:
    """The name, what makes the evaluator from its settings, and their model."""
    return [EvaluatorEntry("starter", Root, RootSettings)]
