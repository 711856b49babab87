"""What every mode has when it judges: the problem, the program, the judge's random numbers, and what is told of a program beside its score.

Invariant: without `chance` equal trials draw the same; each purpose has a stream of its own."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from evolve import Candidate, Evaluation, Trial
from evolve.types import Task
from evolve_benchmark.growth import PAIRS, exponent
from evolve_benchmark.problem import Instance, Problem
from evolve_benchmark.settings import BenchmarkSettings

INSTANCES, ORDER, FIRST, AGAIN, GROWTH, PROFILE = range(6)
"""What a trial's random numbers are for."""


class Refused(Exception):
    """An answer that makes the program `evaluation`."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(evaluation.feedback)
        self.evaluation = evaluation


@dataclass(frozen=True, slots=True)
class Judging:
    """What one judging is about."""

    problem: Problem
    settings: BenchmarkSettings
    task: Task
    candidate: Candidate
    trial: Trial
    chance: int = 0
    """Of this judging alone, where equal trials need not draw the same."""

    def stream(self, purpose: int) -> Generator:
        """Random numbers of the judge's own."""
        return np.random.default_rng(self.trial.entropy(purpose, *([self.chance] if self.chance else [])))

    def fault(self, instance: Instance, answer: Any) -> str:
        """What is wrong with an answer, with the instance that it is to; empty where nothing is."""
        fault = self.problem.fault(instance, answer)
        told = f" ({self.name(instance)})" if self.name(instance) else ""
        return f"{self.settings.function}(): {fault}{told}" if fault else ""

    def name(self, instance: Instance) -> str:
        """Its kind and its label."""
        return " ".join(part for part in (instance.kind, self.problem.label(instance)) if part)

    def descriptors(self, worst: float) -> dict[str, float]:
        """Those of every mode; raises `SessionFailed`."""
        files = self.candidate.program.files.values()
        size = sum(len(text.encode()) for text in files)
        return {"worst": worst, "log2_bytes": math.log2(max(1, size)), **self._growth()}

    def _growth(self) -> dict[str, float]:
        """The exponent of the program's time, where it is wanted."""
        count = self.settings.growth
        if not count:
            return {}
        rng = self.stream(GROWTH)

        def grown(times: int, many: int) -> list[tuple[Any, ...]]:
            made = (self.problem.grown(rng, self.trial.parameters, times) for _ in range(many))
            return [self.problem.arguments(instance) for instance in made]

        (first,) = grown(1, 1)
        pairs = [(grown(1, count), grown(2, count)) for _ in range(PAIRS)]
        return {"growth": exponent(self.candidate, self.settings.function, first, pairs)}
