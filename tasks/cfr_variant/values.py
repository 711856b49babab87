"""What policies are worth, in floating point: how far players come by themselves, what their actions are worth against the others, regrets.

A policy is an array with a number for each action of a player: how often it takes it where it may. A *reach* has a number for each sequence: how
often the player itself goes there.

Invariant: nothing here changes an array that it was given."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tree import Decisions, Integers, Tree

Floats: TypeAlias = NDArray[np.float64]


class Worth:
    """A game's payoffs as floats, times how often chance goes there: what each player's sequences are worth against the others' reaches."""

    def __init__(self, game: Tree) -> None:
        self._reached = game.reached
        self._sizes = [decisions.actions + 1 for decisions in game.decisions]
        self._payoffs: Floats = game.payoffs * (game.chance / (game.chance_total * game.unit))

    def of(self, player: int, reaches: Sequence[Floats]) -> Floats:
        """For each sequence of a player, the value of the ends that it leads to without another decision."""
        weights = self._payoffs[player]
        for other, reach in enumerate(reaches):
            if other != player:
                weights = weights * reach[self._reached[other]]
        return np.bincount(self._reached[player], weights, self._sizes[player])


def uniform(decisions: Decisions) -> Floats:
    """Every action of a set alike."""
    return 1.0 / decisions.counts[decisions.owner]


def shares(numbers: Floats, first: Integers, owner: Integers) -> Floats:
    """Numbers that are not negative, divided by the sum of those of their set; all alike where that is 0."""
    total = np.add.reduceat(numbers, first)
    alike = 1.0 / np.diff(first, append=len(owner))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total[owner] > 0.0, numbers / total[owner], alike[owner])


def reach(decisions: Decisions, policy: Floats) -> Floats:
    """How often a player goes to each of its sequences."""
    found = np.ones(decisions.actions + 1)
    for level in decisions.levels:
        begin, end = level.actions.start, level.actions.stop
        found[1 + begin : 1 + end] = found[level.above][level.owner] * policy[level.actions]
    return found


def regrets(decisions: Decisions, worth: Floats, policy: Floats) -> Floats:
    """For each action how much better it would have been than the policy in its set: the counterfactual regret.

    Zinkevich and others (2007), https://papers.nips.cc/paper/3306-regret-minimization-in-games-with-incomplete-information."""
    values = worth.copy()
    found = np.empty(decisions.actions)
    for level in reversed(decisions.levels):
        begin, end = level.actions.start, level.actions.stop
        of_actions = values[1 + begin : 1 + end]
        of_sets = np.add.reduceat(of_actions * policy[level.actions], level.first)
        found[level.actions] = of_actions - of_sets[level.owner]
        values += np.bincount(level.above, of_sets, len(values))
    return found


def best_response(decisions: Decisions, worth: Floats) -> float:
    """What a player wins at most against the others' policies."""
    values = worth.copy()
    for level in reversed(decisions.levels):
        begin, end = level.actions.start, level.actions.stop
        of_sets = np.maximum.reduceat(values[1 + begin : 1 + end], level.first)
        values += np.bincount(level.above, of_sets, len(values))
    return float(values[0])


def nash_conv(game: Tree, policies: Sequence[Floats]) -> float:
    """What all players together could win by best responses: 0 for an equilibrium. `exact.nash_conv` proves it."""
    reaches = [reach(decisions, policy) for decisions, policy in zip(game.decisions, policies, strict=True)]
    worth = Worth(game)
    return sum(best_response(decisions, worth.of(player, reaches)) for player, decisions in enumerate(game.decisions))
