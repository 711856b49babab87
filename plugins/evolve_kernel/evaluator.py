"""Evaluation of a kernel: built by the evaluator's own flags, checked on every call, timed in pairs against the task's seed.

The fitness is ln(speed-up) against the seed, which is run beside every candidate, and no time of it is kept; what is not right has no speed."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from evolve import Candidate, Evaluation, Trial, evaluator
from evolve.statistics import Interval, median_interval
from evolve.types import Parameters, Stage, Task, TaskError, Twin
from evolve_kernel.backend import Backend, Built, RefusedProgram, count_bytes, find_source
from evolve_kernel.compiled import CompiledBackend
from evolve_kernel.gpu_backend import GpuBackend
from evolve_kernel.impostors import impostors
from evolve_kernel.problem import Argument, KernelProblem, load, shape_name
from evolve_kernel.rounds import Broken, Measured, Rounds, Timings, Wrong
from evolve_kernel.settings import COMPILED_HERE, KernelSettings

MOST_BYTES = 1 << 30
"""Of the arrays of one shape, with what stands around them."""
Signature: TypeAlias = tuple[tuple[str, str, str], ...]
MOST_BITS = 53.0
"""Of an answer that is as exact as float64."""
NEUTRAL = "The measurement of this program could not be used."
"""What is said of a program that was caught: nothing about the detector."""


class Kernel:
    """An evaluator of one stage."""

    def __init__(self, settings: KernelSettings) -> None:
        self._settings = settings

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[[Any, Trial], Evaluation]]]:
        """`evaluate`; raises `TaskError` where the module is not what it should be, or this machine cannot evaluate the language."""
        problem = load(Path(task.folder), self._settings.module)
        _check_shapes(task, problem)
        run = _KernelEvaluation(task, problem, self._settings, backend_of(task, problem, self._settings))
        return [(_with_own_core(stage), run_stage) for stage, run_stage in evaluator(run.evaluate).stages(task)]

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """Neither certificates nor pictures."""
        return {}

    def twins(self, task: Task) -> Sequence[Twin]:
        """Programs that break the rules, for the check of a task in a language that is compiled here."""
        if self._settings.language not in COMPILED_HERE:
            return []
        path, header = find_source(task, self._settings.language), self._settings.header
        return impostors(path, task.seed.files[path], header, task.context[header], self._settings.function)


def _check_shapes(task: Task, problem: KernelProblem) -> None:
    """Raises `TaskError` unless all shapes, those of held-out cases too, are of one function, and fit into memory."""
    wanted: Signature | None = None
    for parameters in ({}, *(case.parameters for case in task.held_out)):
        for shape in problem.shapes(Parameters({**task.parameters, **parameters})):
            found = problem.arguments(shape)
            signature = tuple((one.kind, one.name, one.dtype) for one in found)
            wanted = wanted or signature
            if signature != wanted:
                raise TaskError(
                    f"arguments() gives {signature} on {shape_name(shape)}, and {wanted} on the first shape: one function is called on all. Try: let shapes differ in sizes and values alone"
                )
            if count_bytes(found) > MOST_BYTES:
                raise TaskError(
                    f"the arrays of {shape_name(shape)} take {count_bytes(found) / 2**30:.1f} GiB, and {MOST_BYTES / 2**30:g} GiB is the most. Try: give a smaller shape"
                )


def _with_own_core(stage: Stage) -> Stage:
    """Returns what is timed has a core of its own, whether the task's file says so or not."""
    return replace(stage, needs=replace(stage.needs, pinned=True))


def backend_of(task: Task, problem: KernelProblem, settings: KernelSettings) -> Backend:
    """Returns what builds and runs the task's language; raises `TaskError` where nothing here does."""
    if settings.language not in COMPILED_HERE:
        return GpuBackend(task, settings)
    signature = problem.arguments(problem.shapes(Parameters(task.parameters))[0])
    return CompiledBackend(task, settings, signature)


class _KernelEvaluation:
    """Task as one evaluation worker knows it: how to build and run, and the seed as it was built."""

    def __init__(self, task: Task, problem: KernelProblem, settings: KernelSettings, backend: Backend) -> None:
        self._task = task
        self._problem = problem
        self._settings = settings
        self._backend = backend
        self._anchors: dict[tuple[tuple[Argument, ...], ...], Built] = {}

    def evaluate(self, candidate: Candidate, trial: Trial) -> Evaluation:
        """Builds, checks, times."""
        try:
            shapes = self._problem.shapes(trial.parameters)
            calls = tuple(map(self._problem.arguments, shapes))
            built = self._backend.build(candidate, calls)
            rounds = Rounds(self._problem, self._settings, shapes, np.random.default_rng(trial.entropy()))
            anchor = self._build_anchor(candidate, calls)
            measured = rounds.measure(self._backend, built, anchor, race=trial.split == "search")
        except RefusedProgram as refused:
            return Evaluation.invalid(str(refused))
        except Wrong as wrong:
            return Evaluation.wrong(str(wrong))
        except Broken as broken:
            return Evaluation.wrong(NEUTRAL, tag=str(broken))
        return _summarise(built, measured)

    def _build_anchor(self, candidate: Candidate, calls: tuple[tuple[Argument, ...], ...]) -> Built:
        """Returns the seed, built once in the evaluator's life for the same calls."""
        anchor = candidate.beside(self._task.seed)
        if calls not in self._anchors:
            try:
                self._anchors[calls] = self._backend.build(anchor, calls)
            except RefusedProgram as refused:
                raise TaskError(f"the seed cannot be evaluated. {refused} Try: mend it") from None
        return replace(self._anchors[calls], candidate=anchor)


def _summarise(built: Built, measured: Measured) -> Evaluation:
    found = measured.interval
    shares = [math.log(timing.least / median(timing.mine)) for timing in measured.timings]
    of_floor = math.exp(math.fsum(shares) / len(shares))
    return Evaluation.ok(
        found.estimate,
        standard_error=found.standard_error,
        descriptors={**built.facts, "of_floor": of_floor, **_precision(measured.distance)},
        metrics={
            "speedup": math.exp(found.estimate),
            "speedup_low": math.exp(found.low),
            "speedup_high": math.exp(found.high),
            "rounds": float(found.count),
            "processes": float(len(measured.processes)),
        },
        feedback=format_feedback(measured),
    )


def _precision(distance: float | None) -> dict[str, float]:
    """Returns -log2 of the distance of the worst answer: about 25 where all is right to the last digit of single precision, 12 of half."""
    if distance is None:
        return {}
    return {"precision": min(MOST_BITS, max(0.0, -math.log2(distance))) if distance else MOST_BITS}


def format_speedup(interval: Interval) -> str:
    """Returns a log ratio with its interval as a factor: `1.42 (1.39 to 1.45)`."""
    return f"{math.exp(interval.estimate):.3g} ({math.exp(interval.low):.3g} to {math.exp(interval.high):.3g})"


def format_feedback(measured: Measured) -> str:
    """Returns the table of shapes with how sure it is: plain text of bounded size, without inputs, seeds, or anything of what is held out."""
    interval = measured.interval
    noise = max(interval.high - interval.estimate, interval.estimate - interval.low)
    many = len(measured.processes)
    lines = [
        f"Speed-up against the seed: {format_speedup(interval)}, the mean over all shapes of ln(seed's time / yours), as a factor, with its 95 % interval.",
        f"From {interval.count} rounds in {many} process{'es' if many > 1 else ''} of each program; a difference below {100 * math.expm1(noise):.1f} % is within the noise.",
        "",
        "| shape | speed-up | 95 % interval | your ms | seed's ms | least possible ms |",
        "|---|---|---|---|---|---|",
        *map(_format_row, measured.timings),
    ]
    return "\n".join(lines)


def _format_row(timing: Timings) -> str:
    found = median_interval(timing.ratios)
    factor, low, high = (math.exp(one) for one in (found.estimate, found.low, found.high))
    mine, theirs = 1e3 * median(timing.mine), 1e3 * median(timing.theirs)
    return f"| {shape_name(timing.shape)} | {factor:.3g} | {low:.3g} to {high:.3g} | {mine:.3g} | {theirs:.3g} | {1e3 * timing.least:.3g} |"
