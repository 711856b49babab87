"""The archive: islands, cells over any two axes, the Pareto front, elites.

Invariant: of the log only the records of the elites in the list are read."""

from dataclasses import dataclass

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.archive import Elite, Stats
from evolve.campaign import Campaign
from evolve.types import ConfigError, Objective, RecordId
from evolve.web.drawn import thinned
from evolve.web.maps import HEIGHT, WIDTH, Placed, Scatter, heat_map, scatter
from evolve.web.rendering import page
from evolve.web.shelf import Shelf

LINES = 50
"""Elites on a page."""
_DOTS = 600
"""Programs of a scatter that are not on the front."""


_CHOSEN = ("x", "y", "island", "fx", "fy")
"""What the query says besides where the list begins."""


@dataclass(frozen=True, slots=True)
class IslandLine:
    """One island with its best program."""

    number: int
    stats: Stats
    record: RecordId | None
    fitness: float | None


def archive(request: Request) -> Response:
    """The archive; the query says which `island`, the axes `x` and `y`, the objectives `fx` and `fy`, and where the list begins."""
    shelf: Shelf = request.app.state.shelf
    query = request.query_params
    with shelf.campaign(request.path_params["name"]) as campaign:
        fitness, island = campaign.task.fitness, _number(query, "island")
        heat = report.heat(campaign, query.get("x", ""), query.get("y", ""), island)
        start = _number(query, "start") or 0
        return page(
            request,
            "archive.html",
            fitness=fitness,
            stats=campaign.state.archive.stats(island),
            all_cells=campaign.state.archive.cells,
            islands=_islands(campaign),
            island=island,
            axes=campaign.state.archive.axes,
            declared=bool(campaign.task.axes),
            map=heat_map(heat, fitness.direction),
            width=WIDTH,
            height=HEIGHT,
            front=report.front_line(campaign),
            scatter=_scatter(campaign, query),
            objectives=campaign.task.objectives,
            elites=report.elites(campaign, start + LINES)[start:],
            kept=_kept(query),
            start=start,
            total=len({elite.program for elite in campaign.state.archive.elites()}),
            lines=LINES,
        )


def _kept(query: QueryParams) -> dict[str, str]:
    """What was chosen, for links that choose something else."""
    return {key: query[key] for key in _CHOSEN if query.get(key)}


def _number(query: QueryParams, key: str) -> int | None:
    text = query.get(key, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ConfigError(f"{key} is a number, got {text[:40]!r}. Do: go back, and choose one")
    return int(text)


def _islands(campaign: Campaign) -> tuple[IslandLine, ...]:
    archive, shown = campaign.state.archive, campaign.task.fitness.shown
    lines = []
    for number in range(archive.settings.islands):
        best = archive.best_elite(number)
        fitness = None if best is None else shown(best.fitness)
        lines.append(IslandLine(number, archive.stats(number), None if best is None else best.record, fitness))
    return tuple(lines)


def _scatter(campaign: Campaign, query: QueryParams) -> Scatter | None:
    """The front among the elites, over two of the objectives; None where there are not two."""
    objectives = campaign.task.objectives
    if len(objectives) < 2:
        return None
    x, y = _objective(objectives, query.get("fx", ""), 0), _objective(objectives, query.get("fy", ""), 1)
    front = thinned(campaign.state.archive.front(), 2 * _DOTS)
    members = {elite.program for elite in front}
    others = [elite for elite in campaign.state.archive.elites() if elite.program not in members]
    placed = [
        *(_placed(elite, x, y, on_front=False) for elite in thinned(others, _DOTS) if _has(elite, x, y)),
        *(_placed(elite, x, y, on_front=True) for elite in front if _has(elite, x, y)),
    ]
    return scatter(f"{x.name} ({x.direction})", f"{y.name} ({y.direction})", placed)


def _objective(objectives: tuple[Objective, ...], name: str, default: int) -> Objective:
    if not name:
        return objectives[default]
    for one in objectives:
        if one.name == name:
            return one
    raise ConfigError(f"the task has no objective {name[:40]!r}. Do: go back, and choose one")


def _has(elite: Elite, x: Objective, y: Objective) -> bool:
    return x.name in elite.objectives and y.name in elite.objectives


def _placed(elite: Elite, x: Objective, y: Objective, *, on_front: bool) -> Placed:
    across, up = x.shown(elite.objectives[x.name]), y.shown(elite.objectives[y.name])
    says = f"record {elite.record}: {x.name} {across:.{x.digits}g}, {y.name} {up:.{y.digits}g}"
    return Placed(elite.record, across, up, says, on_front)


ROUTES = (Route("/c/{name}/archive", archive),)
