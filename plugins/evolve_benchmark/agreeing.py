"""Whether two answers say the same, as plain data: what rounding does to the last half of a number's digits is no difference.

Invariant: an answer that was never checked may be looked at here; nothing of it is executed, and nothing that it holds raises."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILON = math.sqrt(float(np.finfo(np.float64).eps))
"""The relative difference of two floats that say the same: half of the digits. Of an array the largest number counts."""


def agreeing(one: Any, other: Any) -> bool:
    """Whether two values as they arrive from programs are the same."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return _arrays(one, other)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(agreeing, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(agreeing(value, other[key]) for key, value in one.items())
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=EPSILON) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def _arrays(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    ours, theirs = one[finite].astype(np.longdouble), other[finite].astype(np.longdouble)
    largest = float(np.abs(ours).max(initial=0.0))
    return bool(np.abs(ours - theirs).max(initial=0.0) <= math.sqrt(float(np.finfo(one.dtype).eps)) * largest)
