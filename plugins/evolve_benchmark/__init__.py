"""The evaluator `benchmark`: a function is evaluated on instances that a module of the task's folder makes. See `docs/evaluators.md`.

A plugin as a third party would write it. Instances are made, and their references computed, in the evaluator's process alone."""

from collections.abc import Sequence

from evolve.hookspecs import EvaluatorEntry, Settings, hookimpl
from evolve.protocols import Evaluator
from evolve_benchmark.evaluator import Benchmark
from evolve_benchmark.settings import BenchmarkSettings


def _benchmark(settings: Settings) -> Evaluator:
    return Benchmark(BenchmarkSettings(**settings))


@hookimpl
def register_evaluators() -> Sequence[EvaluatorEntry]:
    """Registers `benchmark`."""
    return (EvaluatorEntry("benchmark", _benchmark, BenchmarkSettings),)
