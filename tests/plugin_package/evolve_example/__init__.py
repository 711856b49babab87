"""A third party's plugin: one evaluator, one operator, one strategy, each as small as it can be and still do something.

`evolve` finds this module by the entry point `example` of the group `evolve` (see pyproject.toml)."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evolve import Candidate, Child, Evaluation, Program, Selection, Trial, hookimpl
from evolve.hookspecs import EvaluatorEntry, OperatorEntry, StrategyEntry
from evolve.protocols import Context, View
from evolve.types import EditError, Event, Propose, Stage, Task, Wait


class NearSettings(BaseModel):
    """The settings of the evaluator `near`: what a task writes beside `plugin = "near"`."""

    model_config = ConfigDict(extra="forbid")

    target: float = Field(examples=[7.0])
    function: str = "value"


class Near:
    """Scores how near a candidate's number is to a target: 0 at the target, less elsewhere."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._target = settings["target"]
        self._function = settings["function"]

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[[Candidate, Trial], Evaluation]]]:
        return [(Stage("near", limit=5.0), self._evaluate)]

    def functions(self, task: Task) -> Mapping[str, Callable[..., Any]]:
        return {}

    def _evaluate(self, candidate: Candidate, trial: Trial) -> Evaluation:
        value = candidate.call(self._function)
        if type(value) not in (int, float) or not abs(value) < 1e100:
            return Evaluation.invalid(f"{self._function}() must answer with a number, got a {type(value).__name__}")
        return Evaluation.ok(-abs(value - self._target), metrics={"value": value})


class Count:
    """An operator that replaces the first integer of a program by a number near it."""

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        program = context.history.program(context.history.program_id(selection.parents[0]) or "")
        path, text = next(iter(program.files.items()))
        found = re.search(r"\d+", text)
        if found is None:
            raise EditError(f"there is no integer in {path}")
        number = abs(int(found[0]) + int(context.rng.integers(-9, 10)))
        return [Child(Program({**program.files, path: text[: found.start()] + str(number) + text[found.end() :]}))]


class Climb:
    """A strategy that always starts from the best program."""

    def __init__(self, settings: Mapping[str, Any], operators: Sequence[str]) -> None:
        self._operator = operators[0]

    def ask(self, view: View, rng: Any) -> Propose | Wait:
        best = view.archive.best
        return Wait() if best is None else Propose(Selection(self._operator, parents=(best.record,)))

    def tell(self, event: Event) -> None:
        """Everything that it needs to know is in the archive."""


@hookimpl
def register_evaluators() -> list[EvaluatorEntry]:
    return [EvaluatorEntry("near", Near, NearSettings)]


@hookimpl
def register_operators() -> list[OperatorEntry]:
    return [OperatorEntry("count", lambda settings: Count(), embedded=False, history_free=True)]


@hookimpl
def register_strategies() -> list[StrategyEntry]:
    return [StrategyEntry("climb", Climb)]
