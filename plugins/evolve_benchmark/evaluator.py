"""Evaluation of a function by its answers to instances, or by how fast it gives them."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from evolve import Candidate, Evaluation, Trial, evaluator
from evolve.types import Stage, Task, TaskError
from evolve_benchmark.problem import VALUED, BenchmarkProblem, EvaluationContext, RefusedAnswer, load
from evolve_benchmark.quality import measure_quality
from evolve_benchmark.settings import QUALITY, SPEED, TIMED, BenchmarkSettings
from evolve_benchmark.speed import measure_speed

NEEDED = {QUALITY: VALUED, TIMED: (*VALUED, "trivial"), SPEED: ()}
"""Functions that a module must have for each mode, beside those that every module has."""


class Benchmark:
    """Evaluator of one stage."""

    def __init__(self, settings: BenchmarkSettings) -> None:
        self._settings = settings

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[[Any, Trial], Evaluation]]]:
        """Returns `evaluate`, with the limits of the task file; raises `TaskError` where the module is not what it should be."""
        is_timed = self._settings.mode == SPEED
        if task.deterministic and is_timed:
            raise TaskError(
                "evaluator.mode: what is measured differs a little each time, and the task says `deterministic = true`. "
                'Try: write mode = "quality", or take that out'
            )
        needed = (*NEEDED[self._settings.mode], *(("room",) if self._settings.shared else ()))
        problem = load(Path(task.folder), self._settings.module, needed)
        stages = evaluator(partial(self._evaluate, problem, task)).stages(task)
        # Programs that are timed have cores of their own, whether the task's file says so or not.
        return [(replace(one, needs=replace(one.needs, pinned=True)) if is_timed else one, run) for one, run in stages]

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """Neither certificates nor pictures."""
        return {}

    def _evaluate(self, problem: BenchmarkProblem, task: Task, candidate: Candidate, trial: Trial) -> Evaluation:
        context = EvaluationContext(problem, self._settings, task, candidate, trial)
        try:
            if self._settings.mode == SPEED:
                # Times differ anyhow, and a program that could draw the instances itself would have its answers ready.
                return measure_speed(replace(context, chance=1 + secrets.randbits(128)))
            return measure_quality(context)
        except RefusedAnswer as refused:
            return refused.evaluation
