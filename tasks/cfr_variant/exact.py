"""What a policy loses to best responses, in whole numbers.

A policy is rounded to multiples of 2^-40 first, and is that policy from then on: each set's whole numbers add up to 2^40, and nothing is rounded after that.

Invariant: `nash_conv` is the NashConv of the counts that it was given, as a fraction."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tree import Decisions, Integers, Tree
from values import Floats

ONE = 1 << 40
Whole: TypeAlias = NDArray[Any]
"""Python's own whole numbers, of any size."""


def quantised(decisions: Decisions, policy: Floats) -> Integers:
    """A policy as counts that add up to `ONE` in each set: rounded down, and what is missing goes to the likeliest action."""
    counts = np.floor(policy * ONE).astype(np.int64)
    missing = ONE - np.add.reduceat(counts, decisions.first)
    ends = [*decisions.first[1:].tolist(), decisions.actions]
    likeliest = [
        begin + int(policy[begin:end].argmax()) for begin, end in zip(decisions.first.tolist(), ends, strict=True)
    ]
    counts[likeliest] += missing
    assert counts.min() >= 0, "rounding misses little"
    return counts


def nash_conv(game: Tree, counts: Sequence[Integers], one: int = ONE) -> Fraction:
    """What all players together could win by best responses, where each action is taken `counts` of `one` times."""
    deepest = [len(decisions.levels) for decisions in game.decisions]
    reaches = [_reach(decisions, each, one) for decisions, each in zip(game.decisions, counts, strict=True)]
    found = Fraction(0)
    for player, decisions in enumerate(game.decisions):
        weights: Whole = game.payoffs[player].astype(object) * game.chance.astype(object)
        for other in range(game.players):
            if other != player:
                weights = weights * reaches[other][game.reached[other]]
        others = one ** (sum(deepest) - deepest[player])
        best = _best_response(decisions, weights.tolist(), game.reached[player].tolist())
        found += Fraction(best, others * game.chance_total * game.unit)
    return found


def _reach(decisions: Decisions, counts: Integers, one: int) -> Whole:
    """How often a player goes to each sequence, in units of 1 / one^(its number of levels)."""
    found = [one ** len(decisions.levels)] * (decisions.actions + 1)
    above = decisions.above[decisions.owner].tolist()
    for action, (before, count) in enumerate(zip(above, counts.tolist(), strict=True)):
        found[1 + action] = found[before] * count // one  # without remainder: each level divides once
    return np.array(found, dtype=object)


def _best_response(decisions: Decisions, weights: Sequence[int], reached: Sequence[int]) -> int:
    """What a player wins at most where its ends are worth `weights`, by backward induction."""
    values = [0] * (decisions.actions + 1)
    for sequence, weight in zip(reached, weights, strict=True):
        values[sequence] += weight
    begins, above = decisions.first.tolist(), decisions.above.tolist()
    end = decisions.actions
    for begin, before in zip(reversed(begins), reversed(above), strict=True):
        values[before] += max(values[1 + begin : 1 + end])
        end = begin
    return values[0]


def log10(value: Fraction) -> float:
    """The logarithm of a NashConv; what is below 2^-40, which rounding may hide, counts as 2^-40."""
    return math.log10(max(value, Fraction(1, ONE)))
