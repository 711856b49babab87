"""Rules for online bin packing that the tests share, and a packer of their own, written apart from the task's.

The two published rules are rewritten from their formulas: FunSearch's for Weibull items (https://doi.org/10.1038/s41586-023-06924-6)
and EoH's (https://arxiv.org/abs/2401.02051)."""

from collections.abc import Callable, Sequence
from typing import Any

FIRST_FIT = """
import numpy as np

def score(item, residual):
    return -np.arange(len(residual))
"""
BEST_FIT = "def score(item, residual):\n    return item - residual\n"
FUNSEARCH = """
def score(item, residual):
    room = residual.astype(float)
    value = (room - room.max()) ** 2 / item + room**2 / item**2 + room**2 / item**3
    value[room > item] *= -1
    value[1:] -= value[:-1].copy()
    return value
"""
EOH = """
import numpy as np

def score(item, residual):
    left = (residual - item).astype(float)
    growth = np.exp(left)
    share = (1 - left / residual) * np.sqrt(left)
    return residual / ((growth + 0.7) * growth) + share + np.where(left > 3 * item, 0.8, 0.3)
"""


def function(source: str) -> Callable[..., Any]:
    """A rule as a function in this process."""
    names: dict[str, Any] = {}
    exec(source, names)
    score: Callable[..., Any] = names["score"]
    return score


def first_fit(items: Sequence[int], capacity: int) -> list[int]:
    """What is left in each bin."""
    room: list[int] = []
    for item in items:
        for index, left in enumerate(room):
            if left >= item:
                room[index] -= item
                break
        else:
            room.append(capacity - item)
    return room


def best_fit(items: Sequence[int], capacity: int) -> list[int]:
    """What is left in each bin."""
    room: list[int] = []
    for item in items:
        fitting = [index for index, left in enumerate(room) if left >= item]
        if fitting:
            room[min(fitting, key=lambda index: (room[index], index))] -= item
        else:
            room.append(capacity - item)
    return room
