"""Page of the archive: islands, cells over any two axes, the Pareto front, elites. Of the log only the records of the elites in the list are read."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.archive import Elite, Stats
from evolve.campaign import Campaign
from evolve.report import AxisLine, Heat
from evolve.types import ConfigError, Direction, Objective, RecordId
from evolve_view.charts import Series
from evolve_view.documents import ChartFigure
from evolve_view.requests import query_number, render_page, root

LINES = 50
"""Elites on a page."""
SHADES = 10
"""Colours of a heat map, the last one for the best."""
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, WIDTH - 32, 16, HEIGHT - 48
"""Edges of the cells of a heat map; right of them is room for a half of the last number below."""
_DOTS = 600
"""Programs of a scatter that are not on the front."""
_TICKS = 8
_DIGITS = 4
"""Digits of a number in a legend, at least."""
_CHOSEN = ("x", "y", "island", "fx", "fy")
"""Keys of the query besides where the list begins."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class IslandLine:
    """One island with its best program."""

    number: int
    stats: Stats
    record: RecordId | None
    fitness: float | None


def show_archive(request: Request) -> Response:
    """Answers with the archive; the query says which `island`, the axes `x` and `y`, the objectives `fx` and `fy`, and where the list begins."""
    query, name = request.query_params, request.path_params["name"]
    with request.app.state.campaigns.campaign(name) as campaign:
        archive, fitness, island = campaign.state.archive, campaign.task.fitness, query_number(request, "island")
        heat = report.heat(campaign, query.get("x", ""), query.get("y", ""), island)
        start = query_number(request, "start") or 0
        return render_page(
            request,
            "archive.html",
            fitness=fitness,
            stats=archive.stats(island),
            all_cells=archive.cells,
            islands=_list_islands(campaign),
            island=island,
            axes=archive.axes,
            declared=bool(campaign.task.axes),
            map=lay_out(heat, fitness.direction),
            front=report.front_line(campaign),
            scatter=_draw_front(campaign, query, root(name)),
            objectives=campaign.task.objectives,
            elites=report.elites(campaign, start + LINES)[start:],
            kept={key: query[key] for key in _CHOSEN if query.get(key)},
            start=start,
            total=len({elite.program for elite in archive.elites()}),
            lines=LINES,
        )


def _list_islands(campaign: Campaign) -> tuple[IslandLine, ...]:
    archive, shown = campaign.state.archive, campaign.task.fitness.shown
    lines = []
    for number in range(archive.settings.islands):
        best = archive.best_elite(number)
        fitness = None if best is None else shown(best.fitness)
        lines.append(IslandLine(number, archive.stats(number), None if best is None else best.record, fitness))
    return tuple(lines)


# The Pareto front among the elites, over two of the objectives


def _draw_front(campaign: Campaign, query: QueryParams, address: str) -> ChartFigure | None:
    """Returns None where there are not two objectives."""
    objectives = campaign.task.objectives
    if len(objectives) < 2:
        return None
    x, y = _find_objective(objectives, query.get("fx", ""), 0), _find_objective(objectives, query.get("fy", ""), 1)
    front = thin_out(campaign.state.archive.front(), 2 * _DOTS)
    members = {elite.program for elite in front}
    others = [elite for elite in campaign.state.archive.elites() if elite.program not in members]
    # The front is drawn last, so that nothing hides it.
    series = (
        _series("other elites", thin_out(others, _DOTS), (x, y), address),
        _series("on the front", front, (x, y), address),
    )
    return ChartFigure(series, f"{x.name} ({x.direction})", f"{y.name} ({y.direction})")


def _find_objective(objectives: tuple[Objective, ...], name: str, default: int) -> Objective:
    if not name:
        return objectives[default]
    for one in objectives:
        if one.name == name:
            return one
    raise ConfigError(f"the task has no objective {name[:40]!r}. Do: go back, and choose one")


def _series(name: str, elites: Sequence[Elite], axes: tuple[Objective, Objective], address: str) -> Series:
    shown = [elite for elite in elites if all(axis.name in elite.objectives for axis in axes)]
    xs, ys = ([axis.shown(elite.objectives[axis.name]) for elite in shown] for axis in axes)
    titles = [
        f"record {elite.record}: {axes[0].name} {x:.{axes[0].digits}g}, {axes[1].name} {y:.{axes[1].digits}g}"
        for elite, x, y in zip(shown, xs, ys, strict=True)
    ]
    links = [f"{address}/programs/{elite.record}" for elite in shown]
    return Series(name, xs, ys, marks=True, links=links, titles=titles)


def thin_out(values: Sequence[T], most: int) -> Sequence[T]:
    """Returns evenly fewer values, with the first and the last."""
    if len(values) <= most:
        return values
    return [values[place * (len(values) - 1) // (most - 1)] for place in range(most)]


# The heat map


@dataclass(frozen=True, slots=True)
class MapCell:
    """An occupied cell: `column` and `row` by which arrow keys find it, its corner, and its shade."""

    column: int
    row: int
    x: float
    y: float
    shade: int
    record: RecordId
    fitness: float
    elites: int
    violation: float


@dataclass(frozen=True, slots=True)
class MapLabel:
    """A text beside an axis, at its place; in a legend `at` is the number of the shade."""

    at: float
    says: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A heat map: cells of `width` times `height`, and where the best cell is, None where there is none."""

    x: AxisLine
    y: AxisLine
    width: float
    height: float
    cells: tuple[MapCell, ...]
    best: MapCell | None
    x_ticks: tuple[MapLabel, ...]
    y_ticks: tuple[MapLabel, ...]
    shades: tuple[MapLabel, ...]


def lay_out(heat: Heat, direction: Direction) -> HeatMap:
    """Lays out a heat map; the first bin of y is at the bottom, and the lighter colour is better, whichever direction the task searches in."""
    width, height = (RIGHT - LEFT) / heat.x.bins, (BOTTOM - TOP) / heat.y.bins
    sign = 1.0 if direction == "max" else -1.0
    worths = [sign * cell.fitness for cell in heat.cells if not cell.violation]
    starts = _shade_starts(worths)
    cells = tuple(
        MapCell(
            column=cell.x_bin,
            row=cell.y_bin,
            x=LEFT + cell.x_bin * width,
            y=BOTTOM - (cell.y_bin + 1) * height,
            shade=_shade(sign * cell.fitness, starts),
            record=cell.record,
            fitness=cell.fitness,
            elites=cell.elites,
            violation=cell.violation,
        )
        for cell in heat.cells
    )
    best = min(cells, key=lambda cell: (cell.violation, -sign * cell.fitness, cell.record), default=None)
    x_ticks = tuple(MapLabel(LEFT + (RIGHT - LEFT) * share, says) for share, says in _ticks(heat.x))
    y_ticks = tuple(MapLabel(BOTTOM - (BOTTOM - TOP) * share, says) for share, says in _ticks(heat.y))
    return HeatMap(heat.x, heat.y, width, height, cells, best, x_ticks, y_ticks, _label_shades(worths, starts, sign))


def _shade_starts(worths: Sequence[float]) -> tuple[float, ...]:
    """Returns where each shade begins: one for each value where there are few, else equally many cells for each, as far as they differ."""
    values = sorted(set(worths))
    if len(values) <= SHADES:
        return tuple(values)
    ranked = sorted(worths)
    return tuple(dict.fromkeys(ranked[place * len(ranked) // SHADES] for place in range(SHADES)))


def _shade(worth: float, starts: Sequence[float]) -> int:
    return SHADES - max(len(starts), 1) + max(bisect_right(starts, worth) - 1, 0)


def _label_shades(worths: Sequence[float], starts: Sequence[float], sign: float) -> tuple[MapLabel, ...]:
    if not starts:
        return ()
    single = len(set(worths)) == len(starts)
    borders = _tell_apart([sign * value for value in (starts if single else (*starts, max(worths)))])
    says = borders if single else [f"{start} to {end}" for start, end in pairwise(borders)]
    return tuple(MapLabel(_shade(start, starts), text) for start, text in zip(starts, says, strict=True))


def _tell_apart(values: Sequence[float]) -> list[str]:
    """Formats each with as many digits as tell it from its neighbours."""
    found = []
    for place, value in enumerate(values):
        others = [other for other in values[max(place - 1, 0) : place + 2] if other != value]
        texts = ((f"{value:.{most}g}", [f"{other:.{most}g}" for other in others]) for most in range(_DIGITS, 17))
        found.append(next((text for text, near in texts if text not in near), f"{value:.17g}"))
    return found


def _ticks(axis: AxisLine) -> list[tuple[float, str]]:
    """Returns borders of bins, not more than fit; always both ends."""
    if not axis.name:
        return []
    step = -(-axis.bins // _TICKS)
    places = [*range(0, axis.bins - (step - 1) // 2, step), axis.bins]
    says = _tell_apart([axis.low + (axis.high - axis.low) * place / axis.bins for place in places])
    return [(place / axis.bins, one) for place, one in zip(places, says, strict=True)]


ROUTES = (Route("/c/{name}/archive", show_archive),)
