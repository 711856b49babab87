"""Exact packings: fractions instead of floating point, and nothing but the standard library, so that anyone can check one.

Invariant: `verify` believes nothing; it recomputes everything that a certificate says."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

STEPS = 10**17
"""Radii are made smaller in steps of 1e-17."""
DECIMALS = 16

PROVES = "so many circles as the parameter n says lie in the unit square, no two of them overlap, and their radii add up to the value"
NUMBER = re.compile(r"-?[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
"""How a certificate writes a number: as a whole one, or as a fraction."""

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Grid:
    """Circles as whole multiples of `1 / scale`: whole numbers are as exact as fractions, and ten times as fast."""

    scale: int
    points: list[tuple[int, int]]
    radii: list[int]

    def wall(self, circle: int) -> int:
        """The distance from the centre to the nearest side; negative outside the square."""
        x, y = self.points[circle]
        return min(x, y, self.scale - x, self.scale - y)

    def squared_distance(self, one: int, other: int) -> int:
        """In multiples of `1 / scale ** 2`."""
        (x, y), (u, v) = self.points[one], self.points[other]
        return (x - u) ** 2 + (y - v) ** 2


def certificate(centres: Sequence[Sequence[float]], radii: Sequence[float]) -> dict[str, Any]:
    """Circles that provably do not overlap: floats are taken as the fractions that they are, and every radius is made smaller by
    the first of 1e-17, 2e-17, 4e-17, ... that leaves no overlap."""
    points = [(_clamped(x), _clamped(y)) for x, y in centres]
    grid = _grid(points, [Fraction(radius) for radius in radii])
    exact = [Fraction(radius, grid.scale) for radius in _shrunk(grid)]
    return {
        "centres": [[str(x), str(y)] for x, y in points],
        "radii": [str(radius) for radius in exact],
        "sum": str(sum(exact, Fraction(0))),
    }


def proven(certificate: Mapping[str, Any], parameters: Mapping[str, Any]) -> Fraction:
    """The exact fitness; raises `ValueError` as `verify` does, and for another number of circles than the task asks for."""
    value, count = verify(certificate), len(certificate["centres"])
    if count != parameters["n"]:
        raise ValueError(f"there are {count} circles, wanted {parameters['n']}")
    return value


def verify(certificate: Mapping[str, Any]) -> Fraction:
    """The exact sum of the radii. Raises `ValueError` unless the circles lie in the unit square, none overlap, and the sum is the
    one that is written."""
    points = [(_number(x), _number(y)) for x, y in certificate["centres"]]
    radii = [_number(radius) for radius in certificate["radii"]]
    if len(points) != len(radii):
        raise ValueError(f"there are {len(points)} centres and {len(radii)} radii")
    grid = _grid(points, radii)
    for circle, radius in enumerate(grid.radii):
        if not 0 <= radius <= grid.wall(circle):
            raise ValueError(f"circle {circle} is not in the unit square")
    for one, other in combinations(range(len(points)), 2):
        if (grid.radii[one] + grid.radii[other]) ** 2 > grid.squared_distance(one, other):
            raise ValueError(f"circles {one} and {other} overlap")
    total = sum(radii, Fraction(0))
    if total != _number(certificate["sum"]):
        raise ValueError(f"the radii add up to {total}, not to {certificate['sum']}")
    return total


def rounded_down(value: Fraction) -> float:
    """The largest float that is not above `value` cut to 16 decimals."""
    cut = Fraction(math.floor(value * 10**DECIMALS), 10**DECIMALS)
    nearest = float(cut)
    return nearest if Fraction(nearest) <= cut else math.nextafter(nearest, -math.inf)


def _number(text: Any) -> Fraction:
    """Nothing but what `certificate` writes is a number here: no float, no exponent that fills the memory."""
    if type(text) is not str or not NUMBER.fullmatch(text):
        raise ValueError(f"this is no exact number: {text!r:.60}")
    return Fraction(text)


def _grid(points: Sequence[Point], radii: Sequence[Fraction]) -> Grid:
    scale = math.lcm(STEPS, *(number.denominator for number in chain(radii, *points)))
    whole = [[number.numerator * (scale // number.denominator) for number in numbers] for numbers in (*points, radii)]
    return Grid(scale, [(x, y) for x, y in whole[:-1]], whole[-1])


def _shrunk(grid: Grid) -> list[int]:
    """What holds at one step holds at every later one, so each step looks only at what was still wrong."""
    step = grid.scale // STEPS
    pairs = [(one, other, grid.squared_distance(one, other)) for one, other in combinations(range(len(grid.points)), 2)]
    while True:
        radii = [max(radius - step, 0) for radius in grid.radii]
        pairs = [pair for pair in pairs if (radii[pair[0]] + radii[pair[1]]) ** 2 > pair[2]]
        if not pairs and all(radius <= grid.wall(circle) for circle, radius in enumerate(radii)):
            return radii
        step *= 2


def _clamped(value: float) -> Fraction:
    return min(max(Fraction(value), Fraction(0)), Fraction(1))
