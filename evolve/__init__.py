"""evolve: an evolutionary code-search engine. What a task's evaluator and a plugin need is importable from here.

Invariant: importing this package imports no heavy library; names are resolved when first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evolve.hookspecs import hookimpl
    from evolve.judge import Candidate, evaluator
    from evolve.sandbox import SessionFailed
    from evolve.types import Child, Evaluation, EvolveError, Outcome, Program, Selection, Trial

__version__ = "0.1.0"
__all__ = [
    "Candidate",
    "Child",
    "Evaluation",
    "EvolveError",
    "Outcome",
    "Program",
    "Selection",
    "SessionFailed",
    "Trial",
    "evaluator",
    "hookimpl",
]

_HOME = {
    "Candidate": "evolve.judge",
    "SessionFailed": "evolve.sandbox",
    "evaluator": "evolve.judge",
    "hookimpl": "evolve.hookspecs",
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_HOME.get(name, "evolve.types")), name)
    raise AttributeError(f"module 'evolve' has no attribute {name!r}")
