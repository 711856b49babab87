"""Distances of programs by their texts, as methods have them that want programs to differ: 0 for equal ones, 1 at most."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from evolve.types import Program

NEAREST = 5
"""Other programs to which the distance is novelty."""


def measure_novelty(programs: Sequence[Program]) -> list[float]:
    """Returns the mean distance of each program to the nearest others; all are alike where no two differ."""
    found = []
    for place, program in enumerate(programs):
        others = (other for number, other in enumerate(programs) if number != place)
        nearest = sorted(_measure_by_words(program, other) for other in others)[:NEAREST]
        found.append(sum(nearest) / max(1, len(nearest)))
    return found if any(found) else [1.0] * len(programs)


def measure_diversity(programs: Sequence[Program]) -> float:
    """Returns the mean distance of all pairs, by lengths, line counts and characters; 0 where there is no pair."""
    looks = [_look(program) for program in programs]
    pairs = [
        0.4 * _differ(one.length, other.length)
        + 0.3 * _differ(one.lines, other.lines)
        + 0.3 * _differ_in(one.characters, other.characters)
        for one, other in combinations(looks, 2)
    ]
    return sum(pairs) / max(1, len(pairs))


class _Look(NamedTuple):
    length: int
    lines: int
    words: frozenset[str]
    characters: frozenset[str]


@lru_cache(maxsize=512)
def _look(program: Program) -> _Look:
    text = "\n".join(program.files.values())
    words = frozenset(re.findall(r"\w+|[^\w\s]", text))
    return _Look(len(text), text.count("\n"), words, frozenset(text))


@lru_cache(maxsize=4096)
def _measure_by_words(one: Program, other: Program) -> float:
    """Returns a distance of which half is that of the words."""
    near, far = _look(one), _look(other)
    return (
        0.5 * _differ_in(near.words, far.words)
        + 0.3 * _differ(near.lines, far.lines)
        + 0.2 * _differ(near.length, far.length)
    )


def _differ(one: int, other: int) -> float:
    return abs(one - other) / max(1, one, other)


def _differ_in(one: frozenset[str], other: frozenset[str]) -> float:
    return 1 - len(one & other) / max(1, len(one | other))
