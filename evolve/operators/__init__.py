"""Bundled operators, registered as a third party would register its own.

The engine knows them by the names given here and by nothing else."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from evolve import novelty
from evolve.hookspecs import OperatorEntry, hookimpl
from evolve.operators.language_model import (
    ProgramWriter,
    Reflect,
    ReflectSettings,
    WritingSettings,
)
from evolve.operators.mutate_ast import MutateAst, MutateSettings
from evolve.operators.perturb_literals import PerturbLiterals, PerturbSettings
from evolve.operators.tune_literals import TuneLiterals, TuneSettings
from evolve.protocols import Operator
from evolve.types import Program

QUICK_SECONDS = 1.0
"""Most structural edits do harm. Where an evaluation takes longer, too few of them are tried to find those that do good."""


AnySettings = TypeVar("AnySettings", bound=BaseModel)


def _entry(
    name: str, operator: Callable[[AnySettings], Operator], settings: type[AnySettings], **traits: Any
) -> OperatorEntry:
    return OperatorEntry(name, lambda values: operator(settings(**values)), settings, **traits)


def _writer(kind: str, **traits: Any) -> OperatorEntry:
    """Returns the entry of an operator whose children a model writes."""
    return _entry(kind, lambda values: ProgramWriter(kind, values), WritingSettings, needs_model=True, **traits)


@hookimpl
def register_operators() -> Sequence[OperatorEntry]:
    """Returns, without a model, `tune_literals` and `mutate_ast`, and for the baselines `perturb_literals` in the place of the first; with one, those
    whose children it writes, and `reflect`, which the engine asks for lessons."""
    return (
        _entry("tune_literals", TuneLiterals, TuneSettings, embedded=True),
        _entry(
            "mutate_ast",
            MutateAst,
            MutateSettings,
            embedded=True,
            history_free=True,
            embedded_below_seconds=QUICK_SECONDS,
            embedded_suffixes=(".py",),
        ),
        _entry("perturb_literals", PerturbLiterals, PerturbSettings, history_free=True),
        _writer("diff", embedded=True),
        _writer("rewrite", embedded=True),
        _writer("crossover", embedded=True, parents=2),
        _writer("fix", embedded=True, takes_failures=True),
        _writer("sample", history_free=True),
        _entry("reflect", Reflect, ReflectSettings, needs_model=True, makes="notes", scheduled=True),
    )


@hookimpl
def screen_program(program: Program, parents: Sequence[Program]) -> str | None:
    """Returns a no-op: the child reads the same as a parent, but for spacing and comments."""
    # The signature ignores layout and comments, which a model likes to polish.
    if novelty.signature(program) in map(novelty.signature, parents):
        return "no-op: it reads the same as its parent"
    return None
