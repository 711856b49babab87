"""evolve: an evolutionary code-search engine. What a task's evaluator and a plugin need is importable from here, and `Campaign`, to read one.

Invariant: importing this package imports no heavy library; names are resolved when first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evolve.evaluation import Candidate, TaskModule, evaluator, task_module
    from evolve.hookspecs import hookimpl
    from evolve.report.reading import Campaign
    from evolve.sandbox import NATIVE_BLOCK, Segment, SessionFailed, Timed, TimingUnavailable, native_source
    from evolve.types import Child, Evaluation, EvolveError, Outcome, Program, Selection, Trial

__version__ = "0.1.0"
__all__ = [
    "NATIVE_BLOCK",
    "Campaign",
    "Candidate",
    "Child",
    "Evaluation",
    "EvolveError",
    "Outcome",
    "Program",
    "Segment",
    "Selection",
    "SessionFailed",
    "TaskModule",
    "Timed",
    "TimingUnavailable",
    "Trial",
    "evaluator",
    "hookimpl",
    "native_source",
    "task_module",
]

_OF_THE_SANDBOX = ("NATIVE_BLOCK", "Segment", "SessionFailed", "Timed", "TimingUnavailable", "native_source")
_OF_THE_JUDGE = ("Candidate", "TaskModule", "evaluator", "task_module")
_HOME = {
    "Campaign": "evolve.report.reading",
    "hookimpl": "evolve.hookspecs",
    **dict.fromkeys(_OF_THE_JUDGE, "evolve.evaluation"),
    **dict.fromkeys(_OF_THE_SANDBOX, "evolve.sandbox"),
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_HOME.get(name, "evolve.types")), name)
    raise AttributeError(f"module 'evolve' has no attribute {name!r}")
