"""How large a change is asked for: mostly a small one, at times a large one.

A power law as in heavy-tailed mutation (Doerr, Le, Makhmara and Nguyen 2017, https://doi.org/10.1145/3071178.3071301), told to a
language model in words as in LLaMEA (https://arxiv.org/abs/2412.03250). Invariant: the wish follows from the program's length and the step's random numbers."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from evolve.blocks import changeable
from evolve.types import Program


def wanted_lines(lines: int, exponent: float, rng: Generator) -> int:
    """How many of so many lines a change is to touch: k of 1 to half of them with a probability in proportion to k ** -exponent."""
    most = max(1, lines // 2)
    sums, total = _shares(most, exponent)
    return min(bisect_right(sums, rng.random() * total), most - 1) + 1


@lru_cache(maxsize=16)
def _shares(most: int, exponent: float) -> tuple[Sequence[float], float]:
    """Of 1 to so many lines, what the shares of the first ones come to, and what all do."""
    shares = np.arange(1, most + 1, dtype=np.float64) ** -exponent
    return array("d", np.cumsum(shares)), float(shares.sum())


@lru_cache(maxsize=64)
def changeable_lines(program: Program) -> int:
    """The lines with something on them that may change."""
    spans = changeable(program.files)
    texts = (program.files[path][span.start : span.end] for path, found in spans.items() for span in found)
    return sum(1 for text in texts for line in text.splitlines() if line.strip())


def in_words(wanted: int, lines: int) -> str:
    """The wish as a prompt says it."""
    touched = "one line" if wanted == 1 else f"about {wanted} lines"
    return f"Choose a change that touches {touched}, of {lines} that may change."
