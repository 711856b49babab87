"""The evaluator `kernel`: the speed of a numerical function against the task's seed, measured in pairs. See `docs/evaluators.md`.

A plugin as a third party would write it. Importing it looks for no compiler and no device."""

from collections.abc import Sequence

from evolve.hookspecs import EvaluatorEntry, Settings, hookimpl
from evolve.protocols import Evaluator
from evolve_kernel.evaluator import Kernel
from evolve_kernel.settings import KernelSettings


def _kernel(settings: Settings) -> Evaluator:
    return Kernel(KernelSettings(**settings))


@hookimpl
def register_evaluators() -> Sequence[EvaluatorEntry]:
    """`kernel`."""
    return (EvaluatorEntry("kernel", _kernel, KernelSettings),)
