"""Step functions that the tests share, and slow sums to compare with, written apart from the task's own."""

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

KINDS = ("c1", "c2", "c3abs", "erdos")


def by_hand(ones: Sequence[int], others: Sequence[int]) -> list[int]:
    """The convolution, product by product."""
    found = [0] * (len(ones) + len(others) - 1)
    for i, one in enumerate(ones):
        for j, other in enumerate(others):
            found[i + j] += one * other
    return found


def overlap(steps: Sequence[Fraction], shift: int) -> Fraction:
    """What `erdos` has the largest of, as its definition says it."""
    count = len(steps)
    pairs = [(i, i + shift) for i in range(count) if 0 <= i + shift < count]
    return Fraction(2, count) * sum((steps[i] * (1 - steps[j]) for i, j in pairs), Fraction(0))


heights = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5, 1e-3, 1 / 3, 5e-324])
positive = st.lists(heights, min_size=1, max_size=24).filter(lambda steps: max(steps) > 1e-6)
signed = st.lists(st.floats(-1, 1), min_size=1, max_size=24).filter(lambda steps: abs(sum(steps)) > 1e-3)
"""Steps of `c1` and `c2`; of `c3abs`."""


def balanced(steps: Sequence[float]) -> list[float]:
    """Steps of `erdos`: these, and what is missing to 1 of each, which add up to half their number."""
    return [*steps, *(1.0 - step for step in steps)]


def steps_of(kind: str) -> st.SearchStrategy[list[float]]:
    """Steps that a kind allows."""
    if kind == "erdos":
        return st.lists(st.floats(0.2, 0.8), min_size=1, max_size=12).map(balanced)
    return signed if kind == "c3abs" else positive
