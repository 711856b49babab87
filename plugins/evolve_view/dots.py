"""Picture of every program as a dot over time: how good it is, and which operator or model made it; those that failed lie in a strip below.

All dots of one colour are one path, so that thousands cost little; of those that touch, one opens its program. A campaign that has not grown is not drawn again."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.types import Direction, Outcome, RecordId
from evolve_view.charts import ticks
from evolve_view.figures import AXES as CURVES
from evolve_view.requests import query_choice, query_number, render_page

MOST = 12_000
"""Dots that are drawn; of more programs every so manieth is, and each that was the best."""
WIDTH, HEIGHT = 1000.0, 400.0
"""Units of the picture, which is stretched to its place."""
_CELL = 10.0
"""Units within which dots share one link."""
_HUES = 8
"""Different colours; the rarer names share the last one."""
_STEEP, _FEW = 30.0, 20
"""A large by a small value from which on an axis is logarithmic unless somebody chooses; with fewer values than so many no outlier is cut off."""
_WORST, _FAR = 0.05, 3.0
"""Share of the values that lie at the edge where the others would be pressed into less than one in so many parts of the height."""
_MARGIN = 0.04
_LABELS = 7
NOBODY = {"operator": "seed or import", "model": "no model"}
"""Names of what has none."""
TIMES = ("proposals", "seconds")
COLOURS = ("operator", "model")
AXES = ("auto", "linear", "log")
STRIP, _FAILED, _REFUSED = 40.0, 10.0, 30.0
"""Height of the strip of those without a value, and where the two rows of it are."""
Reals = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DotScale:
    """Axis of the values from `low` to `high`, both of one sign where it is logarithmic."""

    low: float
    high: float
    log: bool

    def shares(self, values: Reals) -> Reals:
        """Returns 0 (at `low`) to 1 (at `high`) for each value; one beyond an end is at it."""
        low, high = self._place(np.array([self.low, self.high]))
        shares: Reals = np.clip((self._place(values) - low) / (high - low), 0.0, 1.0)
        return shares

    def _place(self, values: Reals) -> Reals:
        return np.sign(values) * np.log10(np.abs(values)) if self.log else values

    def labels(self) -> list[tuple[float, str]]:
        """Returns marks of the axis: their shares and texts."""
        if not self.log:
            found = ticks(self.low, self.high, _LABELS)
            return list(zip(self.shares(np.array(found.values)).tolist(), found.labels, strict=True))
        sign = math.copysign(1.0, self.low)
        ends = sorted((abs(self.low), abs(self.high)))
        marks = _round_numbers(*ends)
        return [(float(self.shares(np.array([sign * mark]))[0]), f"{sign * mark:g}") for mark in marks]


def _round_numbers(low: float, high: float) -> list[float]:
    """Returns at most a few round numbers within the limits: powers of ten, and where these are few 2 and 5 times them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        found = [factor * 10.0**power for power in powers for factor in factors]
        found = [value for value in found if low <= value <= high]
        if len(found) <= _LABELS:
            break
    return found[:: math.ceil(len(found) / _LABELS)] if found else []


def can_be_log(values: Reals) -> bool:
    """Returns whether a logarithmic axis has a place for all values: they have one sign, and none is 0."""
    return len(values) > 0 and bool(np.all(values > 0.0) or np.all(values < 0.0))


def find_dot_scale(values: Reals, direction: Direction, chosen: str = "") -> DotScale:
    """Returns the axis of values in the user's direction: logarithmic where that is `chosen`, or where nothing is and the values differ by orders of magnitude. The
    worst are cut off where they would press the others flat."""
    if not len(values):
        return DotScale(0.0, 1.0, log=False)
    sizes = np.abs(values)
    # Without the few at either end: one value next to 0 makes no orders of magnitude.
    small, large = np.quantile(sizes, (_WORST, 1.0 - _WORST))
    is_steep = can_be_log(values) and bool(large >= _STEEP * small)
    log = can_be_log(values) and (chosen == "log" or (chosen != "linear" and is_steep))
    placed = np.sign(values) * np.log10(sizes) if log else values
    low, high = _cut_worst(placed, direction)
    around = _MARGIN * (high - low) or abs(low) * 1e-3 or 1.0
    low, high = low - around, high + around
    if not log:
        return DotScale(low, high, log=False)
    sign = 1.0 if values[0] > 0.0 else -1.0
    return DotScale(sign * 10.0 ** (sign * low), sign * 10.0 ** (sign * high), log=True)


def _cut_worst(values: Reals, direction: Direction) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    edge = float(np.quantile(values, _WORST if direction == "max" else 1.0 - _WORST))
    near = high - edge if direction == "max" else edge - low
    if len(values) < _FEW or high - low <= _FAR * near or near <= 0.0:
        return low, high
    return (edge, high) if direction == "max" else (low, edge)


@dataclass(frozen=True, slots=True)
class DotLink:
    """A dot that opens its program: where it is drawn, and its description."""

    record: RecordId
    path: str
    words: str


@dataclass(frozen=True, slots=True)
class DotPicture:
    """The dots as they are drawn. `passed`, `failed` and `refused` are paths of SVG by the classes of their colours, `best` is the line of the best so far; `links` lie over
    the dots that passed, `strip_links` over the others. The labels of the axes are at shares of their lengths. `left_out` counts programs that are not drawn,
    `earlier` those of earlier versions of the task, `cut` those that are worse than the axis reaches."""

    passed: Mapping[str, str]
    failed: Mapping[str, str]
    refused: Mapping[str, str]
    best: str
    links: tuple[DotLink, ...]
    strip_links: tuple[DotLink, ...]
    legend: Mapping[str, str]
    log: bool
    log_fits: bool
    y_labels: Sequence[tuple[float, str]]
    x_labels: Sequence[tuple[float, str]]
    drawn: int
    left_out: int
    earlier: int
    cut: int


@dataclass(frozen=True, slots=True)
class _Dots:
    """Records with what is drawn of them: the class of the colour, the words, and where: `across` from 0 to 1, `up` from 0 to 1 (NaN: it has no value)."""

    records: Sequence[RecordId]
    hues: Sequence[str]
    words: Sequence[str]
    across: Sequence[float]
    up: Sequence[float]
    screened: Sequence[bool]
    rank: Sequence[float]
    """Smaller is drawn first, and the last one of a cell is the one that is opened."""


def draw_dots(campaign: Campaign, x: str = TIMES[0], colour: str = COLOURS[0], y: str = "") -> DotPicture:
    """Draws every program by one of `TIMES` and one of `COLOURS`, on an axis that is `linear`, `log`, or as the values want it."""
    columns, direction = report.frame(campaign), campaign.task.fitness.direction
    everything = np.flatnonzero(columns.flag_attempts())
    since = everything[everything >= columns.since]
    inside = np.where(columns.violations > 0.0, np.nan, columns.fitness)
    values = inside if direction == "max" else -inside
    places = _thin_records(since, inside)
    passed = values[since][~np.isnan(values[since])]
    scale = find_dot_scale(passed, direction, y)
    spent = _find_spent(campaign, places, x)
    end = max(float(spent[-1]), 1.0) if len(spent) else 1.0
    hues, names = find_hues(campaign, everything, colour), _names(campaign, colour)
    shown = {names[place] or NOBODY[colour] for place in since.tolist()}
    dots = _Dots(
        records=(places + 1).tolist(),
        hues=[hues[names[place] or NOBODY[colour]] for place in places.tolist()],
        words=[_describe(campaign, place + 1, values[place]) for place in places.tolist()],
        across=(spent / end).tolist(),
        up=scale.shares(values[places]).tolist(),
        screened=columns.outcome(Outcome.SCREENED)[places].tolist(),
        rank=inside[places].tolist(),
    )
    found = ticks(0.0, end, _LABELS)
    beyond = passed < scale.low if direction == "max" else passed > scale.high
    return DotPicture(
        passed=_draw_paths(dots, lambda at: _height(dots.up[at]), lambda at: not math.isnan(dots.up[at])),
        failed=_draw_paths(dots, lambda _: _FAILED, lambda at: math.isnan(dots.up[at]) and not dots.screened[at]),
        refused=_draw_paths(dots, lambda _: _REFUSED, lambda at: dots.screened[at]),
        best=_draw_best(dots),
        links=_link(dots, lambda at: None if math.isnan(dots.up[at]) else _height(dots.up[at])),
        strip_links=_link(
            dots, lambda at: None if not math.isnan(dots.up[at]) else _REFUSED if dots.screened[at] else _FAILED
        ),
        legend={name: hue for name, hue in hues.items() if name in shown},
        log=scale.log,
        log_fits=can_be_log(passed),
        y_labels=scale.labels() if len(passed) else [],
        x_labels=[(value / end, label) for value, label in zip(found.values, found.labels, strict=True)],
        drawn=len(places),
        left_out=len(since) - len(places),
        earlier=len(everything) - len(since),
        cut=int(np.count_nonzero(beyond)),
    )


def _thin_records(places: Numbers, inside: Reals) -> Numbers:
    """Returns at most `MOST` places, evenly, and all that were the best when they came."""
    if len(places) <= MOST:
        return places
    values = np.nan_to_num(inside[places], nan=-np.inf)
    best = np.maximum.accumulate(values)
    is_best = np.concatenate(([True], values[1:] > best[:-1]))
    evenly = np.linspace(0, len(places) - 1, MOST).astype(np.int64)
    return places[np.union1d(evenly, np.flatnonzero(is_best))]


def _find_spent(campaign: Campaign, places: Numbers, x: str) -> Reals:
    """Returns where each record stands on the horizontal axis."""
    if x == TIMES[0]:
        return (places + 1).astype(np.float64)
    active = campaign.log.active_of((places + 1).tolist())
    return np.array([active[record] for record in (places + 1).tolist()], np.float64)


def _names(campaign: Campaign, colour: str) -> Sequence[str]:
    columns = campaign.state.columns
    return columns.operators if colour == COLOURS[0] else columns.models


def find_hues(campaign: Campaign, places: Numbers, colour: str) -> dict[str, str]:
    """Returns the class of each name's colour by one of `COLOURS`, that of the most frequent name first; `places` are all attempts, so that a name has one colour in every picture of a campaign."""
    names = _names(campaign, colour)
    ranked = [name for name, _ in Counter(names[place] or NOBODY[colour] for place in places.tolist()).most_common()]
    return {name: f"hue{min(place, _HUES - 1)}" for place, name in enumerate(ranked)}


def _describe(campaign: Campaign, record: RecordId, value: float) -> str:
    history, fitness = campaign.state.history, campaign.task.fitness
    found = history.outcome(record).value if math.isnan(value) else f"{fitness.name} {wording.number(value, fitness)}"
    if math.isnan(value) and history.outcome(record) is Outcome.OK:
        found = "misses a constraint"
    makers = [name for name in (history.operator(record), history.model(record)) if name]
    return ", ".join([f"{record}: {found}", *makers])


def _height(share: float) -> float:
    return HEIGHT * (1.0 - share)


def _draw_paths(dots: _Dots, height: Callable[[int], float], is_drawn: Callable[[int], bool]) -> dict[str, str]:
    paths = defaultdict[str, list[str]](list)
    for at, hue in enumerate(dots.hues):
        if is_drawn(at):
            paths[hue].append(_point(WIDTH * dots.across[at], height(at)))
    # The rarest last, so that many dots of one colour hide none of another.
    return {hue: "".join(found) for hue, found in sorted(paths.items(), key=lambda each: -len(each[1]))}


def _point(x: float, y: float) -> str:
    return f"M{x:.1f} {y:.1f}h0"


def _draw_best(dots: _Dots) -> str:
    """Draws the best so far, which holds until a better one comes."""
    best, path, last = -math.inf, "", 0.0
    for at, rank in enumerate(dots.rank):
        if rank > best:
            x, y = WIDTH * dots.across[at], _height(dots.up[at])
            path += f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}"
            best, last = rank, x
    return f"{path}H{WIDTH:.1f}" if path and last < WIDTH else path


def _link(dots: _Dots, height: Callable[[int], float | None]) -> tuple[DotLink, ...]:
    """Returns one link for each cell that has a dot, to the best one there, and of those that failed to the last."""
    cells: dict[tuple[int, int], tuple[int, float]] = {}
    for at in range(len(dots.records)):
        y = height(at)
        if y is None:
            continue
        cell = int(WIDTH * dots.across[at] / _CELL), int(y / _CELL)
        before = cells.get(cell)
        if before is None or not dots.rank[at] < dots.rank[before[0]]:
            cells[cell] = at, y
    return tuple(
        DotLink(dots.records[at], _point(WIDTH * dots.across[at], y), dots.words[at]) for at, y in cells.values()
    )


def read_choices(request: Request) -> dict[str, str]:
    """Returns what an address chooses of the picture, and of the curve beside it; raises `ConfigError`."""
    known = {"x": tuple(CURVES), "time": TIMES, "colour": COLOURS, "axis": AXES}
    return {key: query_choice(request, key, values) for key, values in known.items()}


def show_dots(request: Request) -> Response:
    """Answers with the picture for a campaign's page, or with nothing where the campaign has not grown since it had `seen` so many events."""
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        if query_number(request, "seen") == campaign.events:
            return Response(status_code=204)
        chosen = read_choices(request)
        y = "" if chosen["axis"] == AXES[0] else chosen["axis"]
        return render_page(
            request,
            "dots.html",
            picture=draw_dots(campaign, chosen["time"], chosen["colour"], y),
            fitness=campaign.task.fitness,
            events=campaign.events,
            times=TIMES,
            colours=COLOURS if any(campaign.state.columns.models) else COLOURS[:1],
            chosen=chosen,
            address=request.url.path,
            width=WIDTH,
            height=HEIGHT,
            strip=STRIP,
        )


ROUTES = (Route("/c/{name}/dots", show_dots),)
