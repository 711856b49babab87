"""Step functions in floating point: what a candidate answered, repaired, and what there is to say about it.

Invariant: the steps that leave this file are finite, as many as were asked for, and what their kind allows; `erdos` up to rounding."""

import hashlib
import math
from collections.abc import Sequence
from itertools import dropwhile

import numpy as np
from exact import HIGH, LOW, MAXIMISED
from numpy.typing import NDArray

LARGEST = float(np.finfo(np.float64).max)
NEGLIGIBLE = 2.0**-64
"""A step below this share of the highest one counts as 0: denormal numbers and powers of ten far apart gain nothing."""
ACTIVE = 0.999
"""A knot is active where the autoconvolution reaches this share of its maximum."""
SILHOUETTE = 16
"""Parts that a function is cut in to tell one basin from another."""

Steps = tuple[float, ...]
Array = NDArray[np.float64]


def steps_from(answer: object, kind: str, count: int) -> Steps:
    """A candidate's answer as `count` steps, repaired: of c1 and c2 negative steps are 0; all kinds but `erdos` are multiplied by a power of
    two, which changes no ratio, so that the highest step is between 1/2 and 1; `erdos` is moved into [0, 1] and balanced. Raises `ValueError`
    for anything that is not a list of `count` finite real numbers, and for a function without a ratio."""
    # Looked at before it is converted: an array of no numbers can have any length, at no cost to the program.
    if isinstance(answer, np.ndarray) and answer.shape != (count,):
        raise ValueError(f"construct() must return {count} numbers, got an array of shape {answer.shape}")
    values = answer.tolist() if isinstance(answer, np.ndarray) else answer
    if not isinstance(values, list | tuple):
        raise ValueError(f"construct() must return a list of {count} numbers, got {_shortened(answer)}")
    if len(values) != count:
        raise ValueError(f"construct() must return {count} numbers, got {len(values)}")
    numbers = [_number(index, value) for index, value in enumerate(values)]
    steps = _balanced(_balanced(_clipped(numbers))) if kind == "erdos" else _scaled(kind, numbers)
    if math.fsum(steps) == 0.0:
        raise ValueError("the steps add up to 0, so that there is no ratio")
    return steps


def _number(index: int, value: object) -> float:
    """Exact types, because `bool` is an `int` and a subclass may compare as it likes."""
    if type(value) is not float and type(value) is not int:
        raise ValueError(f"step {index} must be a number, got {_shortened(value)}")
    if not -LARGEST <= value <= LARGEST:
        got = value if isinstance(value, float) else f"an integer of {value.bit_length()} bits"
        raise ValueError(f"step {index} must be a finite number, got {got}")
    return float(value)


def _shortened(value: object) -> str:
    """The type of `value`, with its length or, where it is short by nature, itself."""
    name = type(value).__name__
    if isinstance(value, str | list | tuple | dict):
        return f"{name} of length {len(value)}"
    return f"{name} {value!r}" if isinstance(value, bool | float | complex) else name


def _scaled(kind: str, numbers: Sequence[float]) -> Steps:
    kept = [number if number > 0.0 or kind == "c3abs" else 0.0 for number in numbers]
    _, exponent = math.frexp(max(map(abs, kept)))
    return tuple(_cleaned(math.ldexp(number, -exponent)) for number in kept)


def _cleaned(step: float) -> float:
    return step if abs(step) >= NEGLIGIBLE else 0.0


def _clipped(numbers: Sequence[float]) -> Steps:
    return tuple(_cleaned(min(max(number, 0.0), 1.0)) for number in numbers)


def _balanced(steps: Steps) -> Steps:
    """As `exact` does it, but for rounding: twice, so that what is left to `exact` is a rounding error of steps that can be changed."""
    excess = math.fsum(steps) - len(steps) / 2
    if excess == 0.0:
        return steps
    movable = math.fsum(step for step in steps if LOW <= step <= HIGH)
    if movable == 0.0:
        raise ValueError(
            f"the steps must add up to {len(steps) / 2:g}: {excess:+.3g}, and none between 0.1 and 0.9 can be changed"
        )
    factor = 1.0 - excess / movable
    balanced = tuple(step * factor if LOW <= step <= HIGH else step for step in steps)
    if not all(0.0 <= step <= 1.0 for step in balanced):
        raise ValueError(f"the steps must add up to {len(steps) / 2:g}: {excess:+.3g} is too far from that")
    return balanced


def knots(kind: str, steps: Sequence[float]) -> Array:
    """The autoconvolution at its knots, the width of a step being 1; of `erdos` the overlap for every shift. Shape (2 n - 1,)."""
    values = np.array(steps, dtype=np.float64)
    return np.convolve(values, (1.0 - values)[::-1]) if kind == "erdos" else np.convolve(values, values)


def ratio(kind: str, steps: Sequence[float]) -> float:
    """The number that the kind is about, in floating point; `exact.ratio` has the formulas without rounding."""
    found = knots(kind, steps)
    if kind == "erdos":
        return float(2.0 * found.max() / len(steps))
    total = math.fsum(steps)
    if kind == MAXIMISED:
        squares = 2.0 * found @ found + found[1:] @ found[:-1]
        return float(squares / (3.0 * total**2 * found.max()))
    return float(2.0 * len(steps) * np.abs(found).max() / total**2)


def score(kind: str, value: float) -> float:
    """The ratio as a fitness, of which more is better: the negative ratio of the kinds that are minimised."""
    return value if kind == MAXIMISED else -value


def active(found: Array) -> int:
    """How many knots are within a thousandth of the maximum."""
    sizes = np.abs(found)
    return int((sizes >= ACTIVE * sizes.max()).sum())


def zeros(steps: Sequence[float]) -> float:
    """The share of the steps that are 0."""
    return sum(step == 0.0 for step in steps) / len(steps)


def asymmetry(steps: Sequence[float]) -> float:
    """From 0, its own mirror image, to 1: the difference from the mirror image, over what it could be. Zeros at the ends do not count."""
    values = np.array(trimmed(steps))
    # Rounding can carry a function without a mirror image past the end of the axis.
    return min(1.0, float(np.abs(values - values[::-1]).sum() / (2.0 * np.abs(values).sum())))


def trimmed(steps: Sequence[float]) -> list[float]:
    """The steps without the zeros at both ends."""
    left = list(dropwhile(lambda step: step == 0.0, steps))
    return list(dropwhile(lambda step: step == 0.0, reversed(left)))[::-1]


def fingerprint(kind: str, steps: Sequence[float]) -> str:
    """Names the outline of a function: equal for multiples, mirrored and moved copies, and for copies that were polished a little.

    The support is cut in equal parts, and each is told by how its mean compares with the whole's, in powers of four."""
    values = np.array(trimmed(steps))
    parts = [part.mean() for part in np.array_split(np.repeat(values, SILHOUETTE), SILHOUETTE)]
    levels = [_level(part / np.abs(values).mean()) for part in parts]
    outlines = [levels, levels[::-1]]
    if kind == "c3abs":
        outlines += [[-level for level in outline] for outline in outlines]
    return hashlib.sha256(f"{kind} {min(outlines)}".encode()).hexdigest()[:16]


def _level(share: float) -> int:
    """0 below an eighth of the mean, 1 below a half, 2 below twice, 3 above; with the sign of what is compared."""
    return int(math.copysign(sum(abs(share) >= border for border in (0.125, 0.5, 2.0)), share))
