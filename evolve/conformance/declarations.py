"""Comparison of what a task file declares with the evaluation of the seed.

An evaluation without a descriptor, an objective or a metric that the task declares is never OK, so none of them can be missing here."""

from collections.abc import Iterator

from evolve.conformance.findings import SURE, Finding, Verdict
from evolve.types import Evaluation, Task


def check_declarations(task: Task, seed: Evaluation, noise: float) -> Iterator[Finding]:
    """Yields a finding for each kind of declaration that the task has; `noise` is one standard deviation of the seed's fitness."""
    assert seed.fitness is not None, "the seed is OK"
    direction = f"fitness.direction = {task.fitness.direction!r}"
    score = f"the seed has {task.fitness.shown(seed.fitness):.{task.fitness.digits}g}"
    if task.axes:
        values = ", ".join(f"{axis.name} {seed.descriptors[axis.name]:.6g}" for axis in task.axes)
        is_inside = all(axis.low <= seed.descriptors[axis.name] <= axis.high for axis in task.axes)
        remedy = "widen the range, or programs like the seed all fall into the border cell"
        yield _compare("axes", f"the seed has {values}", is_inside, "warned", remedy)
    # A score that is too good to be true comes from the evaluator, or from a direction that is the wrong way round.
    if task.bound is not None:
        is_possible = seed.fitness <= task.fitness.inside(task.bound)
        remedy = f"check the bound, the score, and {direction}"
        yield _compare("bound", f"{score}, the bound is {task.bound:g}", is_possible, "failed", remedy)
    if task.anchors:
        best = max(task.fitness.inside(anchor.value) for anchor in task.anchors)
        happened = f"{score}, the best of them {task.fitness.shown(best):g}"
        is_usual = seed.fitness <= best + SURE * noise
        yield _compare("anchors", happened, is_usual, "warned", f"check the anchors, and {direction}")
    for constraint in task.constraints:
        value = seed.metrics[constraint.metric]
        remedy = "begin with a program that meets it, or nothing can be the best until one is found"
        is_met = constraint.violation(value) == 0.0
        yield _compare(f"constraint {constraint.metric}", f"the seed has {value:.6g}", is_met, "warned", remedy)
    if task.carry:
        left = ", ".join(name for name in task.carry if name in seed.artifacts) or "nothing"
        is_whole = all(name in seed.artifacts for name in task.carry)
        remedy = "return Evaluation.ok(..., artifacts={...}) with what a child is to get"
        yield _compare("carry", f"the seed leaves {left}", is_whole, "failed", remedy)


def _compare(tried: str, happened: str, is_right: bool, otherwise: Verdict, remedy: str) -> Finding:
    return Finding(tried, "passed", happened) if is_right else Finding(tried, otherwise, happened, remedy)
