"""Circle packings that the tests share."""

import math
import random
from collections.abc import Callable
from fractions import Fraction

Point = tuple[float, float]

GRID = tuple((x / 10, y / 10) for y in range(1, 10, 2) for x in range(1, 10, 2))
SEED = (*GRID, (0.2, 0.2))

SYMMETRIES: tuple[Callable[[float, float], Point], ...] = (
    lambda x, y: (x, y),
    lambda x, y: (1 - x, y),
    lambda x, y: (x, 1 - y),
    lambda x, y: (1 - x, 1 - y),
    lambda x, y: (y, x),
    lambda x, y: (1 - y, x),
    lambda x, y: (y, 1 - x),
    lambda x, y: (1 - y, 1 - x),
)


def shaken(seed: int, size: float = 0.03) -> tuple[Point, ...]:
    """The seed with every coordinate moved by up to `size`, in the square."""
    draw = random.Random(seed)
    return tuple((_inside(x + draw.uniform(-size, size)), _inside(y + draw.uniform(-size, size))) for x, y in SEED)


def _inside(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def overlaps(centres: list[tuple[Fraction, Fraction]], radii: list[Fraction]) -> list[str]:
    """Every way in which the circles are no packing, by brute force in fractions, written apart from the task's own check."""
    found = []
    for i, ((x, y), r) in enumerate(zip(centres, radii, strict=True)):
        if r < 0 or x - r < 0 or x + r > 1 or y - r < 0 or y + r > 1:
            found.append(f"circle {i} leaves the square")
        for j in range(i):
            u, v = centres[j]
            if (x - u) * (x - u) + (y - v) * (y - v) - (r + radii[j]) * (r + radii[j]) < 0:
                found.append(f"circles {j} and {i} overlap")
    return found


def turned(centres: tuple[Point, ...], symmetry: Callable[[float, float], Point], seed: int) -> tuple[Point, ...]:
    """The centres mirrored or turned, and in another order."""
    copies = [symmetry(x, y) for x, y in centres]
    random.Random(seed).shuffle(copies)
    return tuple(copies)


SEED_TOTAL = 2.5 + (math.sqrt(2) - 1) / 10
