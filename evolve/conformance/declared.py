"""What a task file declares, held against what its evaluator said of the seed.

Invariant: pure; one finding for each kind of declaration that there is."""

from collections.abc import Mapping

from evolve.conformance.findings import Finding
from evolve.conformance.seed import SURE
from evolve.types import Axis, Evaluation, Task


def declarations(task: Task, seed: Evaluation, noise: float | None = None) -> list[Finding]:
    """Axes, bound, anchors, objectives, constraints and carried artifacts, as far as the task has them. The evaluation is OK, and as the
    judge reports it; `noise` is one standard deviation of its fitness."""
    found = [_axes(task.axes, seed.descriptors)] if task.axes else []
    found += [_bound(task, task.bound, seed)] if task.bound is not None else []
    found += [_anchors(task, seed, noise or 0.0)] if task.anchors else []
    found += [_objectives(task, seed)] if task.objectives else []
    found += [_constraint(task, index, seed.metrics) for index in range(len(task.constraints))]
    found += [_carry(task, seed)] if task.carry else []
    return found


def _axes(axes: tuple[Axis, ...], descriptors: Mapping[str, float]) -> Finding:
    told = ", ".join(f"{axis.name} {descriptors[axis.name]:.6g}" for axis in axes)
    outside = [axis for axis in axes if not axis.low <= descriptors[axis.name] <= axis.high]
    if not outside:
        return Finding("axes", "passed", f"the seed has {told}")
    ranges = ", ".join(f"{axis.name} [{axis.low:g}, {axis.high:g}]" for axis in outside)
    return Finding(
        "axes",
        "warned",
        f"the seed is outside the range of {ranges}: it has {told}",
        "widen the range, or programs like the seed all fall into the border cell",
    )


def _bound(task: Task, bound: float, seed: Evaluation) -> Finding:
    assert seed.fitness is not None, "the seed is OK"
    shown = f"{task.fitness.shown(seed.fitness):.{task.fitness.digits}g}"
    if seed.fitness <= task.fitness.inside(bound):
        return Finding("bound", "passed", f"{bound:g}; the seed has {shown}")
    return Finding(
        "bound",
        "failed",
        f"the seed's {task.fitness.name}, {shown}, is beyond the proven bound {bound:g}",
        f"check the bound, the score, and fitness.direction = {task.fitness.direction!r}",
    )


def _anchors(task: Task, seed: Evaluation, noise: float) -> Finding:
    assert seed.fitness is not None, "the seed is OK"
    values = [task.fitness.inside(anchor.value) for anchor in task.anchors]
    told = ", ".join(f"{anchor.value:g} {anchor.by}" for anchor in task.anchors)
    if seed.fitness <= max(values) + SURE * noise:
        return Finding("anchors", "passed", told)
    return Finding(
        "anchors",
        "warned",
        f"the seed is better than every one of them: {told}",
        f"check the anchors, and fitness.direction = {task.fitness.direction!r}",
    )


def _objectives(task: Task, seed: Evaluation) -> Finding:
    missing = [objective.name for objective in task.objectives if objective.name not in seed.objectives]
    if missing:
        return Finding(
            "objectives",
            "failed",
            f"the seed's evaluation has no {', '.join(missing)}",
            "return Evaluation.ok(..., objectives={...}) with a number for each",
        )
    told = (f"{one.name} {one.shown(seed.objectives[one.name]):.{one.digits}g}" for one in task.objectives)
    return Finding("objectives", "passed", f"the seed has {', '.join(told)}")


def _constraint(task: Task, index: int, metrics: Mapping[str, float]) -> Finding:
    constraint = task.constraints[index]
    name = f"constraint {constraint.metric}"
    if constraint.metric not in metrics:
        return Finding(
            name,
            "failed",
            f"the seed's evaluation has no metric {constraint.metric!r}",
            "return Evaluation.ok(..., metrics={...}) with it",
        )
    value = metrics[constraint.metric]
    if constraint.violation(value) == 0.0:
        return Finding(name, "passed", f"the seed meets it, with {value:.6g}")
    return Finding(
        name,
        "warned",
        f"the seed misses it, with {value:.6g}",
        "begin with a program that meets it, or nothing can be the best until one is found",
    )


def _carry(task: Task, seed: Evaluation) -> Finding:
    missing = [name for name in task.carry if name not in seed.artifacts]
    if missing:
        return Finding(
            "carry",
            "failed",
            f"the seed's evaluation has no artifact {', '.join(missing)}",
            "return Evaluation.ok(..., artifacts={...}) with what a child is to get",
        )
    return Finding("carry", "passed", f"the seed leaves {', '.join(task.carry)}")
