"""The hooks. Name, types and docstring are the contract.

A plugin is a module (entry-point group `evolve`) with functions marked `@hookimpl`. Factories take the plugin's settings, a plain
mapping that was checked against `settings`, a pydantic model class (None: there are no settings)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pluggy

from evolve.protocols import Evaluator, Operator, Strategy
from evolve.types import Program, Task

if TYPE_CHECKING:
    from pydantic import BaseModel

hookspec = pluggy.HookspecMarker("evolve")
hookimpl = pluggy.HookimplMarker("evolve")

Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EvaluatorEntry:
    """An evaluator that a task may name as `evaluator = { plugin = "name", ... }`. The factory runs in the judge process."""

    name: str
    factory: Callable[[Settings], Evaluator]
    settings: "type[BaseModel] | None" = None


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """An operator. `embedded`: strategies use it without being told to; where `embedded_below_seconds` is given only if judging the seed
    took less, where `embedded_suffixes` are given only if a file of the seed ends so. `history_free`: it learns nothing from the campaign, so that a baseline may use it.
    `needs_model`: a model writes its children, so that they are never judged at the isolation level `reduced` unasked."""

    name: str
    factory: Callable[[Settings], Operator]
    settings: "type[BaseModel] | None" = None
    embedded: bool = False
    history_free: bool = False
    embedded_below_seconds: float | None = None
    embedded_suffixes: tuple[str, ...] = ()
    needs_model: bool = False


@dataclass(frozen=True, slots=True)
class StrategyEntry:
    """A strategy; the factory gets its settings and the names of the campaign's operators."""

    name: str
    factory: Callable[[Settings, Sequence[str]], Strategy]
    settings: "type[BaseModel] | None" = None
    history_free_operators: bool = False


@hookspec
def register_evaluators() -> Sequence[EvaluatorEntry]:
    """Evaluators that this plugin provides."""
    return ()


@hookspec
def register_operators() -> Sequence[OperatorEntry]:
    """Operators that this plugin provides."""
    return ()


@hookspec
def register_strategies() -> Sequence[StrategyEntry]:
    """Strategies that this plugin provides."""
    return ()


@hookspec
def screen_program(task: Task, program: Program, parents: Sequence[Program]) -> str | None:
    """A reason not to judge a program, or None. Proposal thread; pure."""
    return None
