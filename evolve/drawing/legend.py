"""What the lines of a chart are called: names above the chart, and a letter at each level's line.

Invariant: no name lies on a line or on another name."""

from collections.abc import Sequence
from dataclasses import dataclass

from evolve.drawing.frame import LETTER, ROW, Frame
from evolve.drawing.ink import dash, line_ink
from evolve.drawing.levels import Named

_SWATCH = 26.0
_GAP = 12.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A name with the line that stands for it."""

    name: str
    ink: str
    dash: str | None
    thick: float | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands; the first row is 0. Its name may be cut to the width of the chart."""

    entry: Entry
    name: str
    x: float
    row: int


LEVEL_DASH = "4 4"


def entries(names: Sequence[str], levels: Sequence[Named]) -> list[Entry]:
    """Of all lines of a chart; a single series without levels has no need of one."""
    if len(names) + len(levels) < 2:
        return []
    lines = [Entry(name, line_ink(place), dash(place), 2) for place, name in enumerate(names)]
    return [*lines, *(Entry(level.told, "level", LEVEL_DASH, None) for level in levels)]


def places(found: Sequence[Entry], width: float) -> tuple[Place, ...]:
    """Where each entry stands, row by row."""
    placed, x, row = [], 8.0, 0
    most = int((width - 16 - _SWATCH) / LETTER)
    for entry in found:
        name = entry.name if len(entry.name) <= most else f"{entry.name[: max(most - 1, 1)]}…"
        wide = _SWATCH + 6 + LETTER * len(name)
        if x > 8.0 and x + wide > width:
            x, row = 8.0, row + 1
        placed.append(Place(entry, name, x, row))
        x += wide + _GAP
    return tuple(placed)


def rows(placed: Sequence[Place]) -> int:
    """How many rows they take."""
    return placed[-1].row + 1 if placed else 0


def drawn(placed: Sequence[Place], frame: Frame) -> list[str]:
    """The legend below the name of the vertical axis."""
    parts = []
    for place in placed:
        y = ROW * (2 + place.row)
        ends = (place.x, y - 4, place.x + _SWATCH, y - 4)
        parts += [
            frame.rule(ends, place.entry.ink, place.entry.dash, place.entry.thick),
            frame.text(place.name, place.x + _SWATCH + 6, y, ink="text"),
        ]
    return parts
