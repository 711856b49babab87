"""Curve of a campaign for pages and reports: the best so far, and the values to compare it with."""

from collections.abc import Sequence

from evolve import wording
from evolve.report import Best, Point
from evolve.stop import Budget, Target
from evolve.types import Task
from evolve_view.charts import ChartFigure, Reference, Series

AXES = {
    "programs": "programs",
    "seconds": "seconds",
    "calls": "calls of models",
    "tokens": "tokens",
    "money": "usd",
}
"""Labels of what a curve is drawn against, by the fields of a point."""


def curve_series(name: str, points: Sequence[Point], against: str = "programs") -> Series:
    """Returns the fitness of the best program, which holds until a better one comes."""
    places = [float(getattr(point, against)) for point in points]
    return Series(name, places, [point.fitness for point in points], step=True)


def draw_curve(
    points: Sequence[Point], best: Best | None, task: Task, budget: Budget, against: str = "programs"
) -> ChartFigure:
    """Draws the best so far with the values that matter to it; of a noisy task also which points were measured again, and how sure the best is."""
    series = [curve_series("best so far", points, against)]
    references = reference_lines(best, task, budget)
    if not task.deterministic:
        again = [point for point in points[:-1] if point.confirmed]
        places = [float(getattr(point, against)) for point in again]
        series.append(Series("measured again later", places, [point.fitness for point in again], marks=True))
        if best is not None and best.standard_error:
            half = 2.0 * best.standard_error
            references.append(
                Reference(best.fitness, "best ± 2 standard errors", best.fitness - half, best.fitness + half)
            )
    return ChartFigure(tuple(series), AXES[against], task.fitness.name, tuple(references))


def reference_lines(best: Best | None, task: Task, budget: Budget) -> list[Reference]:
    """Returns the seed, the hardest anchor, and the target where the budget has one: more lines than these are not told apart."""
    lines = []
    if best is not None and best.seed is not None:
        lines.append(Reference(best.seed, f"seed {wording.number(best.seed, task.fitness)}"))
    if task.anchors:
        hardest = max(task.anchors, key=lambda each: task.fitness.inside(each.value))
        lines.append(Reference(hardest.value, f"{hardest.by} {hardest.year or ''}".rstrip() + f" {hardest.value:.8g}"))
    targets = [leaf.value for leaf in budget.leaves() if isinstance(leaf, Target)]
    return lines + [Reference(value, f"target {wording.number(value, task.fitness)}") for value in targets[:1]]
