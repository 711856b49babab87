"""Page of the archive: islands, cells over any two axes, the Pareto front, elites. Of the log only the records of the elites in the list are read."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.archive import Elite, Stats
from evolve.campaign import Campaign
from evolve.types import Axis, ConfigError, Fitness, Objective, RecordId
from evolve.types.errors import did_you_mean
from evolve_view.charts import ChartFigure, Series
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
        heat_map = draw_map(campaign, query.get("x", ""), query.get("y", ""), island)
        start = query_number(request, "start") or 0
        return render_page(
            request,
            "archive.html",
            fitness=fitness,
            stats=archive.stats(island),
            all_cells=archive.grid.cells,
            islands=_list_islands(campaign),
            island=island,
            axes=archive.grid.axes,
            declared=bool(campaign.task.axes),
            map=heat_map,
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
    raise ConfigError(f"the task has no objective {name[:40]!r}. Try: go back, and choose one")


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
    """An occupied cell with its best program, and how many elites there are: `column` and `row` by which arrow keys find it, its corner, and its shade."""

    column: int
    row: int
    x: float
    y: float
    shade: int
    elite: Elite
    elites: int


@dataclass(frozen=True, slots=True)
class MapLabel:
    """A text beside an axis, at its place; in a legend `at` is the number of the shade."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A heat map: cells of `width` times `height`, and the best cell, None where there is none."""

    x: Axis
    y: Axis
    width: float
    height: float
    cells: tuple[MapCell, ...]
    best: MapCell | None
    x_ticks: tuple[MapLabel, ...]
    y_ticks: tuple[MapLabel, ...]
    shades: tuple[MapLabel, ...]


def draw_map(campaign: Campaign, x: str = "", y: str = "", island: int | None = None) -> HeatMap:
    """Draws the elites of an island, or of all, over two axes, without names over the first two. Of all that fall into one cell, because they differ
    elsewhere, the best is shown; the lighter colour is better. Raises `ConfigError`."""
    across, up = _find_axes(campaign, x, y)
    members = defaultdict[tuple[int, int], list[Elite]](list)
    for elite in campaign.state.archive.elites(_check_island(campaign, island)):
        members[_find_bin(across, elite), _find_bin(up, elite)].append(elite)
    bests = {place: min(elites, key=_rank) for place, elites in sorted(members.items())}
    starts = _find_shades([elite.fitness for elite in bests.values() if not elite.violation])
    width, height = (RIGHT - LEFT) / across.bins, (BOTTOM - TOP) / up.bins
    cells = tuple(
        MapCell(
            column=column,
            row=row,
            x=LEFT + column * width,
            y=BOTTOM - (row + 1) * height,
            shade=_shade(elite.fitness, starts),
            elite=elite,
            elites=len({one.program for one in members[column, row]}),
        )
        for (column, row), elite in bests.items()
    )
    return HeatMap(
        x=across,
        y=up,
        width=width,
        height=height,
        cells=cells,
        best=min(cells, key=lambda cell: _rank(cell.elite), default=None),
        x_ticks=tuple(MapLabel(LEFT + (RIGHT - LEFT) * share, text) for share, text in _label_axis(across)),
        y_ticks=tuple(MapLabel(BOTTOM - (BOTTOM - TOP) * share, text) for share, text in _label_axis(up)),
        shades=_label_shades(starts, campaign.task.fitness),
    )


_NO_AXIS = Axis("", 0.0, 1.0, 1)
"""Stands for the second axis of an archive that has one."""


def _find_axes(campaign: Campaign, x: str, y: str) -> tuple[Axis, Axis]:
    axes = {axis.name: axis for axis in campaign.state.archive.grid.axes}
    for name in (x, y):
        if name and name not in axes:
            near = did_you_mean(name, axes)
            raise ConfigError(f"campaign {campaign.name!r} has no axis {name!r}.{near} Try: name an axis of its task")
    first = axes[x] if x else next(iter(axes.values()), _NO_AXIS)
    return first, axes[y] if y else next((axis for axis in axes.values() if axis != first), _NO_AXIS)


def _check_island(campaign: Campaign, island: int | None) -> int | None:
    islands = campaign.state.archive.settings.islands
    if island is not None and island >= islands:
        raise ConfigError(f"campaign {campaign.name!r} has no island {island}. Try: name one of 0 to {islands - 1}")
    return island


def _find_bin(axis: Axis, elite: Elite) -> int:
    """Returns the bin as the archive's grid counts: values outside an axis belong to its border."""
    value = elite.descriptors.get(axis.name, axis.low)
    share = min(max((value - axis.low) / (axis.high - axis.low), 0.0), 1.0)
    return min(int(share * axis.bins), axis.bins - 1)


def _rank(elite: Elite) -> tuple[float, float, RecordId]:
    return elite.violation, -elite.fitness, elite.record


def _find_shades(values: Sequence[float]) -> tuple[float, ...]:
    """Returns the least fitness of each shade, so that each has equally many cells, as far as they differ: a few outliers take no colours away."""
    ranked = sorted(values)
    return tuple(dict.fromkeys(ranked[place * len(ranked) // SHADES] for place in range(SHADES) if ranked))


def _shade(fitness: float, starts: Sequence[float]) -> int:
    return SHADES - max(len(starts), 1) + max(bisect_right(starts, fitness) - 1, 0)


def _label_shades(starts: Sequence[float], fitness: Fitness) -> tuple[MapLabel, ...]:
    return tuple(MapLabel(_shade(start, starts), f"from {fitness.shown(start):.6g}") for start in starts)


def _label_axis(axis: Axis) -> list[tuple[float, str]]:
    """Returns borders of bins as shares of the axis, with their labels; not more than fit, and always both ends."""
    if not axis.name:
        return []
    step = -(-axis.bins // _TICKS)
    places = [*range(0, axis.bins - (step - 1) // 2, step), axis.bins]
    borders = [axis.low + (axis.high - axis.low) * place / axis.bins for place in places]
    digits = next((most for most in range(4, 17) if len({f"{one:.{most}g}" for one in borders}) == len(borders)), 17)
    return [(place / axis.bins, f"{one:.{digits}g}") for place, one in zip(places, borders, strict=True)]


ROUTES = (Route("/c/{name}/archive", show_archive),)
