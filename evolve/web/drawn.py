"""Charts as data for the script that draws them: series, levels, and what the axes are called.

Invariant: no chart has more than `MOST` points, whatever the campaign has; the first and the last are always among them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeVar

from starlette.responses import JSONResponse

from evolve import report
from evolve.campaign import Campaign
from evolve.report import Point
from evolve.types import ConfigError

MOST = 2_000
T = TypeVar("T")
Spent = Literal["programs", "seconds", "tokens", "money", "calls"]
_AXES: dict[Spent, str] = {
    "programs": "programs judged",
    "seconds": "seconds",
    "tokens": "tokens",
    "money": "US dollars",
    "calls": "calls of models",
}


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or with `marks` only points. `step`: a value holds until the next one."""

    name: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    step: bool = False
    marks: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A value to compare with, and between which limits it lies, where that is known."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """What the script draws."""

    x: str
    y: str
    series: tuple[Series, ...]
    levels: tuple[Level, ...] = ()
    digits: int = 4

    def response(self) -> JSONResponse:
        """As JSON."""
        return JSONResponse(asdict(self))


def thinned(values: Sequence[T], most: int = MOST) -> Sequence[T]:
    """Evenly fewer, with the first and the last."""
    if len(values) <= most:
        return values
    return [values[place * (len(values) - 1) // (most - 1)] for place in range(most)]


def axis(text: str) -> Spent:
    """What a curve is drawn against; raises `ConfigError`."""
    for name in _AXES:
        if name == (text or "programs"):
            return name
    raise ConfigError(f"a curve is drawn against {', '.join(_AXES)}, got {text[:40]!r}. Do: choose one of them")


def axis_label(against: Spent) -> str:
    """What stands under the axis."""
    return _AXES[against]


def best_so_far(name: str, points: Sequence[Point], against: Spent, most: int = MOST) -> Series:
    """The fitness of the best program, which holds until a better one comes."""
    shown = thinned(points, most)
    return Series(name, tuple(_at(point, against) for point in shown), tuple(p.fitness for p in shown), step=True)


def measured_again(points: Sequence[Point], against: Spent, most: int) -> Series:
    """Those of the points whose program was measured again."""
    shown = thinned([point for point in points[:-1] if point.confirmed], most)
    xs, ys = tuple(_at(point, against) for point in shown), tuple(point.fitness for point in shown)
    return Series("measured again later", xs, ys, marks=True)


def curve_chart(campaign: Campaign, against: Spent) -> Chart:
    """The best so far with the anchors, the seed, and how sure the best one is."""
    fitness, points = campaign.task.fitness, report.curve(campaign)
    series = [best_so_far("best so far", points, against, MOST // 2)]
    if not campaign.task.deterministic:
        series.append(measured_again(points, against, MOST // 2))
    return Chart(axis_label(against), fitness.name, tuple(series), tuple(_levels(campaign)), fitness.digits)


def _at(point: Point, against: Spent) -> float:
    return float(getattr(point, against))


def _levels(campaign: Campaign) -> list[Level]:
    best = report.best(campaign)
    if best is None:
        return []
    anchors = [Level(f"{gap.by} {gap.year or ''}".strip(), gap.value) for gap in best.anchors]
    seed = [] if best.seed is None else [Level("seed", best.seed)]
    if not best.standard_error:
        return [*anchors, *seed]
    half = 2.0 * best.standard_error
    return [*anchors, *seed, Level("best ± 2 standard errors:", best.fitness, best.fitness - half, best.fitness + half)]
