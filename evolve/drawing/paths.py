"""Lines and bands as the `d` of a path.

Invariant: a path has a few points for each pixel that it is wide, however many points it is made of, and all of its peaks."""

from collections.abc import Sequence
from itertools import pairwise

Points = Sequence[tuple[float, float]]
_DENSE = 1_000
"""Up to so many points are drawn as they are."""


def stepped(points: Points) -> Points:
    """The corners of a line whose height holds until the next point."""
    found = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        found += [(x, before), (x, y)]
    return found


def thinned(points: Points) -> Points:
    """Of the points in one pixel's column the first, the lowest, the highest and the last, in their order."""
    if len(points) <= _DENSE:
        return points
    kept: list[tuple[float, float]] = []
    column: list[tuple[float, float]] = []
    for point in points:
        if column and int(point[0]) != int(column[0][0]):
            kept += _outline(column)
            column = []
        column.append(point)
    return [*kept, *_outline(column)]


def _outline(column: list[tuple[float, float]]) -> Points:
    heights = [y for _, y in column]
    places = {0, heights.index(min(heights)), heights.index(max(heights)), len(column) - 1}
    return [column[place] for place in sorted(places)]


def line(points: Points, *, step: bool) -> str:
    """An open path."""
    return _path(thinned(stepped(points) if step else points))


def band(low: Points, high: Points, *, step: bool) -> str:
    """The closed path between two lines."""
    below, above = (thinned(stepped(each) if step else each) for each in (low, high))
    return f"{_path([*above, *reversed(below)])}Z" if above else ""


def _path(points: Points) -> str:
    return "".join(f"{'L' if place else 'M'}{x:.1f} {y:.1f}" for place, (x, y) in enumerate(points))
