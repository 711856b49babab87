"""The campaigns of the workspace, and several of one task side by side.

Invariant: the list replays no log; only campaigns of one task are compared."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.report import Best, Point
from evolve.types import ConfigError, Fitness, Progress, Task
from evolve.web.drawn import MOST, Chart, axis, axis_label, best_so_far
from evolve.web.glances import Glances
from evolve.web.rendering import page
from evolve.web.shelf import KEPT, Shelf

LISTED = 200
"""Campaigns on the list, those written last."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the campaigns that are compared. `equal` is its best when it had judged as many programs as each of them has."""

    name: str
    task: Task
    strategy: str
    best: Best | None
    spent: Progress
    points: tuple[Point, ...]
    equal: float | None = None


def index(request: Request) -> Response:
    """Every campaign, the one written last first."""
    shelf: Shelf = request.app.state.shelf
    glances: Glances = request.app.state.glances
    logs = shelf.logs()
    lines = tuple(glances.line(name, path) for name, path in logs[:LISTED])
    return page(
        request,
        "index.html",
        lines=lines,
        now=time.time(),
        left_out=max(0, len(logs) - LISTED),
        moving=any(line.running or (line.behind > 0 and not line.long) for line in lines),
        most=KEPT,
    )


def compare(request: Request) -> Response:
    """The campaigns of the query's `campaign`s, which are of one task."""
    shelf: Shelf = request.app.state.shelf
    names = _names(request)
    sides = _sides(shelf, names)
    programs = min((side.spent.programs for side in sides), default=0)
    others = _others(request, sides)
    return page(
        request,
        "compare.html",
        sides=[_at(side, programs) for side in sides],
        fitness=sides[0].task.fitness if sides else Fitness(),
        programs=programs,
        versions={side.task.version for side in sides},
        noisy=any(not side.task.deterministic for side in sides),
        others=others,
        most=KEPT,
        runs=any(shelf.runs(name) for name in names),
    )


def curves(request: Request) -> Response:
    """Their best so far, in one chart."""
    shelf: Shelf = request.app.state.shelf
    against = axis(request.query_params.get("x", ""))
    sides = _sides(shelf, _names(request))
    most = MOST // max(1, len(sides))
    series = tuple(best_so_far(side.name, side.points, against, most) for side in sides)
    fitness = sides[0].task.fitness if sides else Fitness()
    return Chart(axis_label(against), fitness.name, series, digits=fitness.digits).response()


def _others(request: Request, sides: Sequence[Side]) -> list[str]:
    """Campaigns of the same task that could stand beside them; of any task where nothing is compared yet."""
    shelf: Shelf = request.app.state.shelf
    glances: Glances = request.app.state.glances
    names, tasks = {side.name for side in sides}, {side.task.name for side in sides}
    logs = [(name, path) for name, path in shelf.logs()[:LISTED] if name not in names]
    return [name for name, path in logs if not tasks or glances.opening(path).task in tasks]


def _names(request: Request) -> list[str]:
    names = list(dict.fromkeys(name for name in request.query_params.getlist("campaign") if name))
    if len(names) > KEPT:
        raise ConfigError(
            f"at most {KEPT} campaigns are compared here, got {len(names)}. Do: go back, and choose fewer"
        )
    return names


def _sides(shelf: Shelf, names: Sequence[str]) -> list[Side]:
    """One after the other, so that no two logs are held at a time; raises `ConfigError` for campaigns of several tasks."""
    sides = []
    for name in names:
        with shelf.campaign(name) as campaign:
            sides.append(_side(name, campaign))
    tasks = {side.task.name: side.name for side in sides}
    if len(tasks) > 1:
        told = ", ".join(f"{name} is of {task}" for task, name in tasks.items())
        raise ConfigError(
            f"only campaigns of one task are compared, got several: {told}. Do: go back, and choose others"
        )
    return sides


def _side(name: str, campaign: Campaign) -> Side:
    strategy = campaign.settings.strategy.name
    return Side(name, campaign.task, strategy, report.best(campaign), campaign.state.progress, report.curve(campaign))


def _at(side: Side, programs: int) -> Side:
    """With the value of its curve at so many programs."""
    reached = [point.fitness for point in side.points if point.programs <= programs]
    equal = reached[-1] if reached else None
    return Side(side.name, side.task, side.strategy, side.best, side.spent, side.points, equal)


ROUTES = (
    Route("/", index),
    Route("/compare", compare),
    Route("/compare.json", curves),
)
