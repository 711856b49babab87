"""Where levels are drawn, and which letter stands for which.

Invariant: no letter lies on another one, as long as there is room."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from evolve.drawing.scale import Scale
from evolve.drawing.series import Level

_APART = 12.0
"""Pixels from one letter to the next."""
_FAR = 2.0
"""Times the height of all points: levels further away would press the points flat."""


@dataclass(frozen=True, slots=True)
class Named:
    """A level, its letter, and the heights in pixels of its line and of the letter. One that is `beyond` the chart, above it or below it, has neither."""

    told: str
    letter: str
    line: float
    text: float
    beyond: str = ""


def outside(value: float, heights: Sequence[float]) -> bool:
    """Whether a level is so far from the points that it would press them flat; nothing is far where all points are equal, or there are none."""
    if not heights or min(heights) == max(heights):
        return False
    far = _FAR * (max(heights) - min(heights))
    return not min(heights) - far <= value <= max(heights) + far


def named(levels: Sequence[Level], up: Scale) -> tuple[Named, ...]:
    """The levels in the order in which they stand, the highest first. A single one needs no letter."""
    order = sorted(levels, key=lambda level: -level.value)
    inside = [level for level in order if up.low <= level.value <= up.high]
    letters = dict(zip(inside, ascii_lowercase, strict=False)) if len(inside) > 1 else {}
    heights = dict(zip(inside, _apart([up.place(level.value) for level in inside], up), strict=True))
    return tuple(_named(level, letters.get(level, ""), heights, up) for level in order)


def _named(level: Level, letter: str, heights: dict[Level, float], up: Scale) -> Named:
    if level not in heights:
        beyond = "above" if level.value > up.high else "below"
        return Named(f"{beyond}: {level.name}", "", 0.0, 0.0, beyond)
    told = f"{letter}: {level.name}" if letter else level.name
    return Named(told, letter, up.place(level.value), heights[level])


def _apart(lines: Sequence[float], up: Scale) -> list[float]:
    """Heights near the lines, from the top downwards, each a little below the one before; moved up together where they leave the chart."""
    found: list[float] = []
    for line in lines:
        found.append(max([line, *([found[-1] + _APART] if found else [])]))
    for place in range(len(found) - 1, -1, -1):
        lowest = up.start if place == len(found) - 1 else found[place + 1] - _APART
        found[place] = min(found[place], lowest)
    return found
