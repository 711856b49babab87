"""Where things lie in a heat map and in a scatter, in units of their pictures.

Invariant: pure; what is better has the lighter colour, whichever direction the task searches in."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evolve.report import AxisLine, Heat
from evolve.types import Direction, RecordId

SHADES = 10
"""Colours of a heat map, the last one for the best."""
WIDTH, HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 32, 16, 48
"""Right of the cells is room for a half of the last number below them."""
_TICKS = 8
_LABEL = 60
_DIGITS = 4
"""Of a number in a legend, at least."""


@dataclass(frozen=True, slots=True)
class Cell:
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
class Tick:
    """A number beside an axis."""

    at: float
    says: str


@dataclass(frozen=True, slots=True)
class Shade:
    """A colour of the legend with the values that it stands for, the worse one first."""

    number: int
    says: str


@dataclass(frozen=True, slots=True)
class Map:
    """A heat map: cells of `width` times `height`, and where the best cell is, None where there is none."""

    x: AxisLine
    y: AxisLine
    width: float
    height: float
    cells: tuple[Cell, ...]
    best: Cell | None
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    shades: tuple[Shade, ...]

    @property
    def left(self) -> int:
        """Where the cells begin."""
        return _LEFT

    @property
    def right(self) -> int:
        """Where they end."""
        return WIDTH - _RIGHT

    @property
    def bottom(self) -> int:
        """And below."""
        return HEIGHT - _BOTTOM


def heat_map(heat: Heat, direction: Direction) -> Map:
    """Lays out a heat map; the first bin of y is at the bottom."""
    width, height = (WIDTH - _LEFT - _RIGHT) / heat.x.bins, (HEIGHT - _TOP - _BOTTOM) / heat.y.bins
    sign = 1.0 if direction == "max" else -1.0
    worths = [sign * cell.fitness for cell in heat.cells if not cell.violation]
    starts = _starts(worths)
    cells = tuple(
        Cell(
            column=cell.x_bin,
            row=cell.y_bin,
            x=_LEFT + cell.x_bin * width,
            y=HEIGHT - _BOTTOM - (cell.y_bin + 1) * height,
            shade=_shade(sign * cell.fitness, starts),
            record=cell.record,
            fitness=cell.fitness,
            elites=cell.elites,
            violation=cell.violation,
        )
        for cell in heat.cells
    )
    best = min(cells, key=lambda cell: (cell.violation, -sign * cell.fitness, cell.record), default=None)
    x_ticks = tuple(Tick(_LEFT + (WIDTH - _LEFT - _RIGHT) * share, says) for share, says in _ticks(heat.x))
    y_ticks = tuple(Tick(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * share, says) for share, says in _ticks(heat.y))
    return Map(heat.x, heat.y, width, height, cells, best, x_ticks, y_ticks, _shades(worths, starts, sign))


def _starts(worths: Sequence[float]) -> tuple[float, ...]:
    """Where each shade begins: one for each value where there are few, else equally many cells for each, as far as they differ."""
    values = sorted(set(worths))
    if len(values) <= SHADES:
        return tuple(values)
    ranked = sorted(worths)
    return tuple(dict.fromkeys(ranked[place * len(ranked) // SHADES] for place in range(SHADES)))


def _shade(worth: float, starts: Sequence[float]) -> int:
    """The shade that begins last is the last one."""
    return SHADES - max(len(starts), 1) + max(bisect_right(starts, worth) - 1, 0)


def _shades(worths: Sequence[float], starts: Sequence[float], sign: float) -> tuple[Shade, ...]:
    if not starts:
        return ()
    single = len(set(worths)) == len(starts)
    borders = _told_apart([sign * value for value in (starts if single else (*starts, max(worths)))])
    says = borders if single else [f"{start} to {end}" for start, end in pairwise(borders)]
    return tuple(Shade(_shade(start, starts), text) for start, text in zip(starts, says, strict=True))


def _told_apart(values: Sequence[float]) -> list[str]:
    """Each with as many digits as tell it from its neighbours."""
    found = []
    for place, value in enumerate(values):
        others = [other for other in values[max(place - 1, 0) : place + 2] if other != value]
        digits = next(
            (
                most
                for most in range(_DIGITS, 17)
                if all(f"{value:.{most}g}" != f"{other:.{most}g}" for other in others)
            ),
            17,
        )
        found.append(f"{value:.{digits}g}")
    return found


def _ticks(axis: AxisLine) -> list[tuple[float, str]]:
    """At borders of bins, not more than fit; always at both ends."""
    if not axis.name:
        return []
    step = -(-axis.bins // _TICKS)
    places = [*range(0, axis.bins - (step - 1) // 2, step), axis.bins]
    says = _told_apart([axis.low + (axis.high - axis.low) * place / axis.bins for place in places])
    return [(place / axis.bins, one) for place, one in zip(places, says, strict=True)]


@dataclass(frozen=True, slots=True)
class Dot:
    """A program in a scatter."""

    x: float
    y: float
    record: RecordId
    says: str
    on_front: bool


@dataclass(frozen=True, slots=True)
class Scatter:
    """Programs over two objectives, those of the front last, so that nothing hides them."""

    x_name: str
    y_name: str
    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """A program with its values of the two objectives, as the user writes them."""

    record: RecordId
    x: float
    y: float
    says: str
    on_front: bool


def scatter(x_name: str, y_name: str, placed: Sequence[Placed]) -> Scatter:
    """Lays out a scatter."""
    xs, ys = _span([one.x for one in placed]), _span([one.y for one in placed])
    across, down = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def to_x(value: float) -> float:
        return _LEFT + across * (value - xs[0]) / (xs[1] - xs[0])

    def to_y(value: float) -> float:
        return HEIGHT - _BOTTOM - down * (value - ys[0]) / (ys[1] - ys[0])

    dots = [Dot(to_x(one.x), to_y(one.y), one.record, one.says, one.on_front) for one in placed]
    return Scatter(
        x_name[:_LABEL],
        y_name[:_LABEL],
        tuple(sorted(dots, key=lambda dot: dot.on_front)),
        tuple(Tick(to_x(value), f"{value:.4g}") for value in _steps(*xs)),
        tuple(Tick(to_y(value), f"{value:.4g}") for value in _steps(*ys)),
    )


def _span(values: Sequence[float]) -> tuple[float, float]:
    """A little more than the values need; never empty."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def _steps(low: float, high: float) -> list[float]:
    return [low + (high - low) * (place + 0.5) / 5 for place in range(5)]
