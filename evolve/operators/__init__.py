"""The bundled operators, registered as a third party would register its own.

Invariant: the engine knows them by the names given here and by nothing else."""

from collections.abc import Sequence

from evolve import novelty
from evolve.hookspecs import OperatorEntry, Settings, hookimpl
from evolve.operators.mutate_ast import MutateAst, MutateSettings
from evolve.operators.perturb_literals import PerturbLiterals, PerturbSettings
from evolve.operators.tune_literals import TuneLiterals, TuneSettings
from evolve.operators.written import (
    Crossover,
    Diff,
    DiffSettings,
    Fix,
    Reflect,
    ReflectSettings,
    Rewrite,
    WritingSettings,
)
from evolve.protocols import Operator
from evolve.types import Program

QUICK_SECONDS = 1.0
"""Most structural edits do harm. Where a judging takes longer, too few of them are tried to find those that do good."""


_ASKING = ("temperature", "effort", "max_tokens", "tokens")
"""Settings of how a model is asked: they change no number of children."""


def _tune(settings: Settings) -> Operator:
    return TuneLiterals(TuneSettings(**settings))


def _mutate(settings: Settings) -> Operator:
    return MutateAst(MutateSettings(**settings))


def _perturb(settings: Settings) -> Operator:
    return PerturbLiterals(PerturbSettings(**settings))


def _diff(settings: Settings) -> Operator:
    return Diff(DiffSettings(**settings))


def _rewrite(settings: Settings) -> Operator:
    return Rewrite(WritingSettings(**settings))


def _crossover(settings: Settings) -> Operator:
    return Crossover(WritingSettings(**settings))


def _fix(settings: Settings) -> Operator:
    return Fix(WritingSettings(**settings))


def _reflect(settings: Settings) -> Operator:
    return Reflect(ReflectSettings(**settings))


@hookimpl
def register_operators() -> Sequence[OperatorEntry]:
    """Without a model `tune_literals` and `mutate_ast`, and for the baselines `perturb_literals` in the place of the first; with one, those
    whose children it writes, and `reflect`, which the engine asks for lessons."""
    return (
        OperatorEntry("tune_literals", _tune, TuneSettings, embedded=True),
        OperatorEntry(
            "mutate_ast",
            _mutate,
            MutateSettings,
            embedded=True,
            history_free=True,
            embedded_below_seconds=QUICK_SECONDS,
            embedded_suffixes=(".py",),
            retunable=("more",),
        ),
        OperatorEntry("perturb_literals", _perturb, PerturbSettings, history_free=True, retunable=("sigma",)),
        OperatorEntry(
            "diff", _diff, DiffSettings, embedded=True, needs_model=True, retunable=(*_ASKING, "size_exponent")
        ),
        OperatorEntry("rewrite", _rewrite, WritingSettings, embedded=True, needs_model=True, retunable=_ASKING),
        OperatorEntry(
            "crossover", _crossover, WritingSettings, embedded=True, needs_model=True, parents=2, retunable=_ASKING
        ),
        OperatorEntry(
            "fix", _fix, WritingSettings, embedded=True, needs_model=True, takes_failures=True, retunable=_ASKING
        ),
        OperatorEntry("reflect", _reflect, ReflectSettings, needs_model=True, scheduled=True, retunable=_ASKING),
    )


@hookimpl
def screen_program(program: Program, parents: Sequence[Program]) -> str | None:
    """A no-op: the child reads the same as a parent, but for spacing and comments."""
    if novelty.signature(program) in map(novelty.signature, parents):
        return "no-op: it reads the same as its parent"
    return None
