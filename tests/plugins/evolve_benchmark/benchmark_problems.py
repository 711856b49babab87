"""A problem's module as a text, and tasks that are evaluated by it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolve.testing import RehearsedCandidate, rehearsed_task
from evolve.types import Evaluation, Parameters, Stage, Task, Trial
from evolve_benchmark.evaluator import Benchmark
from evolve_benchmark.settings import BenchmarkSettings

HALVES = '''
"""Halve a number: what is returned is worth how near it is to the half, from below."""


def instances(rng, parameters):
    return {"small": [2.0, 4.0], "large": rng.integers(100, 200, 4).astype(float).tolist()}


def check(instance, answer):
    if type(answer) is not float or not 0 < answer < 1e9:
        return "wanted a number above 0"
    return "" if answer <= instance else "that is more than all"


def value(instance, answer):
    return min(answer, instance - answer) or 1e-9


def reference(instance):
    return instance / 2


def trivial(instance):
    return instance / 8
'''


def halving(folder: Path, text: str = HALVES, **fields: Any) -> Task:
    """A task whose folder has the module."""
    (folder / "problem.py").write_text(text)
    return replace(rehearsed_task(), folder=str(folder), axes=(), **{"stages": (), **fields})


def evaluated(task: Task, solve: Callable[..., Any], seed: int = 0, **settings: Any) -> Evaluation:
    """What becomes of a function, which is called in this process."""
    benchmark = Benchmark(BenchmarkSettings(module="problem.py", **settings))
    ((stage, evaluate),) = benchmark.stages(task)
    assert stage == Stage("evaluate")
    return evaluate(RehearsedCandidate({"solve": solve}, {"seed.py": "x" * 64}), Trial(seed, parameters=Parameters()))
