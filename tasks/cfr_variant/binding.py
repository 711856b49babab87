"""The program as the judge calls it: keeps what the program has computed for each player between two calls, and calls its three functions.

It runs in the program's own process, so the judge believes nothing that it says but policies and weights, which it checks."""

from types import SimpleNamespace

import numpy as np
import seed as program

_players = []


class Player:
    """One player of the game that this process plays: its regrets, and the program's state for it."""

    def __init__(self, first, infoset):
        self.state = SimpleNamespace(first=first, infoset=infoset)
        self.t = 1
        self.R = np.zeros(len(infoset))

    def policy(self, r):
        """What the player plays in iteration t, after the regrets r of the last one."""
        return program.policy(self.R, r, self.t, self.state)

    def advance(self, r, own_reach):
        """The weight of iteration t in the average, and what the player plays next."""
        self.R = program.regret_update(self.R, r, self.t, self.state)
        weight = program.average_weight(self.t, own_reach, self.state)
        self.t += 1
        return [weight, self.policy(r)]


def begin(layouts):
    """The first policy of each player; a layout is the first action of each information set, and the set of each action."""
    _players[:] = [Player(first, infoset) for first, infoset in layouts]
    return [player.policy(np.zeros(len(player.R))) for player in _players]


def advance(turns):
    """Weight and next policy of each player that moves: a turn is the player, its regrets, and how often it comes to each set by itself."""
    return [_players[player].advance(r, own_reach) for player, r, own_reach in turns]
