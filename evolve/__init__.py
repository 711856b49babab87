"""evolve: an evolutionary code-search engine. This package exports the names that evaluators, plugins and scripts need.

Names are resolved when first used, so that importing the package imports no heavy library."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evolve.api import PythonTask as Task
    from evolve.api import run
    from evolve.evaluation.candidate import Candidate
    from evolve.evaluation.evaluator import evaluator
    from evolve.evaluation.task_code import TaskModule, task_module
    from evolve.hookspecs import hookimpl
    from evolve.report.reading import Campaign
    from evolve.sandbox.status import SessionFailed
    from evolve.sandbox.timing import NATIVE_BLOCK, Segment, Timed, TimingUnavailable, native_source
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
    "Task",
    "TaskModule",
    "Timed",
    "TimingUnavailable",
    "Trial",
    "evaluator",
    "hookimpl",
    "native_source",
    "run",
    "task_module",
]

_TIMING = ("NATIVE_BLOCK", "Segment", "Timed", "TimingUnavailable", "native_source")
_MODULES = {
    "Campaign": "evolve.report.reading",
    "Candidate": "evolve.evaluation.candidate",
    "SessionFailed": "evolve.sandbox.status",
    "Task": "evolve.api",
    "TaskModule": "evolve.evaluation.task_code",
    "evaluator": "evolve.evaluation.evaluator",
    "hookimpl": "evolve.hookspecs",
    "run": "evolve.api",
    "task_module": "evolve.evaluation.task_code",
    **dict.fromkeys(_TIMING, "evolve.sandbox.timing"),
}
_CALLED = {"Task": "PythonTask"}
"""Names that their modules call otherwise: `evolve.types.Task` is a task as the engine reads it."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_MODULES.get(name, "evolve.types")), _CALLED.get(name, name))
    raise AttributeError(f"module 'evolve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
