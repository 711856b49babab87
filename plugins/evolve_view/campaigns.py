"""Pages of several campaigns: the list of a workspace, and campaigns of one task side by side."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.report import Best, Point
from evolve.types import ConfigError, Fitness, Progress, Task
from evolve_view.documents import ChartFigure
from evolve_view.figures import AXES, curve_series
from evolve_view.open_campaigns import KEPT, CampaignList, OpenCampaigns
from evolve_view.requests import query_choice, render_page

LISTED = 200
"""Campaigns on the list, those written last."""


@dataclass(frozen=True, slots=True)
class ComparedCampaign:
    """One of the campaigns that are compared. `equal` is its best when it had judged as many programs as each of them has."""

    name: str
    task: Task
    strategy: str
    best: Best | None
    spent: Progress
    points: tuple[Point, ...]
    equal: float | None = None


def show_list(request: Request) -> Response:
    """Answers with every campaign, the one written last first; no log is replayed for it."""
    campaigns: OpenCampaigns = request.app.state.campaigns
    listed: CampaignList = request.app.state.list
    logs = campaigns.logs()
    lines = tuple(listed.read_line(name, path) for name, path in logs[:LISTED])
    return render_page(
        request,
        "index.html",
        lines=lines,
        now=time.time(),
        left_out=max(0, len(logs) - LISTED),
        moving=any(line.running or (line.behind > 0 and not line.long) for line in lines),
        most=KEPT,
    )


def show_comparison(request: Request) -> Response:
    """Answers with the campaigns of the query's `campaign`s, which are of one task, and their curves against its `x`."""
    campaigns: OpenCampaigns = request.app.state.campaigns
    names = list(dict.fromkeys(name for name in request.query_params.getlist("campaign") if name))
    if len(names) > KEPT:
        raise ConfigError(
            f"at most {KEPT} campaigns are compared here, got {len(names)}. Do: go back, and choose fewer"
        )
    axis = query_choice(request, "x", tuple(AXES))
    sides = _read_sides(campaigns, names)
    fitness = sides[0].task.fitness if sides else Fitness()
    series = tuple(curve_series(side.name, side.points, axis) for side in sides)
    programs = min((side.spent.programs for side in sides), default=0)
    return render_page(
        request,
        "compare.html",
        sides=[_add_equal(side, programs) for side in sides],
        fitness=fitness,
        programs=programs,
        versions={side.task.version for side in sides},
        noisy=any(not side.task.deterministic for side in sides),
        others=_find_others(request, sides),
        most=KEPT,
        runs=any(campaigns.runs(name) for name in names),
        chart=ChartFigure(series, AXES[axis], fitness.name),
        axis=axis,
    )


def _find_others(request: Request, sides: Sequence[ComparedCampaign]) -> list[str]:
    """Returns campaigns of the same task that could stand beside them; of any task where nothing is compared yet."""
    listed: CampaignList = request.app.state.list
    names, tasks = {side.name for side in sides}, {side.task.name for side in sides}
    logs = request.app.state.campaigns.logs()[:LISTED]
    others = [(name, path) for name, path in logs if name not in names]
    return [name for name, path in others if not tasks or listed.read_header(path).task in tasks]


def _read_sides(campaigns: OpenCampaigns, names: Sequence[str]) -> list[ComparedCampaign]:
    """Reads one after the other, so that no two logs are held at a time; raises `ConfigError` for campaigns of several tasks."""
    sides = []
    for name in names:
        with campaigns.campaign(name) as campaign:
            task, strategy, spent = campaign.task, campaign.settings.strategy.name, campaign.state.progress
            best, curve = report.best(campaign), report.curve(campaign)
            sides.append(ComparedCampaign(name, task, strategy, best, spent, curve))
    tasks = {side.task.name: side.name for side in sides}
    if len(tasks) > 1:
        told = ", ".join(f"{name} is of {task}" for task, name in tasks.items())
        raise ConfigError(
            f"only campaigns of one task are compared, got several: {told}. Do: go back, and choose others"
        )
    return sides


def _add_equal(side: ComparedCampaign, programs: int) -> ComparedCampaign:
    """Adds the value of its curve at so many programs."""
    reached = [point.fitness for point in side.points if point.programs <= programs]
    return replace(side, equal=reached[-1] if reached else None)


ROUTES = (Route("/", show_list), Route("/compare", show_comparison))
