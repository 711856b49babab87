"""A game as flat arrays: for each player its decisions, and for each end of the game what led there.

A *sequence* of a player is what it has done itself: 0 is nothing yet, 1 + a is everything up to its action `a`. A game of perfect recall is fully told by the sequences that
lead to each end (von Stengel, 1996, https://doi.org/10.1006/game.1996.0050), so that the inner nodes of the tree need not be walked.

Invariant: a player's information sets are in the order of their depth, and the actions of a set stand beside one another."""

import functools
import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from games import CHANCE, OVER, History, Rules, rules
from numpy.random import Generator
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
GRAIN = 512
"""Disguised payoffs are multiples of a payoff's 512th part, so that they stay whole numbers."""


@dataclass(frozen=True, slots=True)
class Level:
    """Information sets of one depth: where they and their actions begin and end. `owner` of each action and `first` action of each set are counted
    from where the level begins; `above` is the sequence above each set."""

    sets: slice
    actions: slice
    owner: Integers
    first: Integers
    above: Integers


@dataclass(frozen=True, slots=True)
class Decisions:
    """What one player decides: `first` action of each information set, the `owner` of each action, and the sequence `above` each set."""

    first: Integers
    owner: Integers
    above: Integers
    levels: tuple[Level, ...]

    @property
    def sets(self) -> int:
        """How many information sets there are."""
        return len(self.first)

    @property
    def actions(self) -> int:
        """How many actions there are, in all sets."""
        return len(self.owner)

    @property
    def counts(self) -> Integers:
        """How many actions each set has: two or more."""
        return np.diff(self.first, append=self.actions)


@dataclass(frozen=True, slots=True)
class Tree:
    """A game. Of each end: the sequence of every player (`reached`, a row per player), how often chance goes there (`chance` in `chance_total`), and
    what each player wins (`payoffs`, a row per player, in units of 1 / `unit`)."""

    name: str
    nodes: int
    decisions: tuple[Decisions, ...]
    reached: Integers
    chance: Integers
    chance_total: int
    payoffs: Integers
    unit: int = 1

    @property
    def players(self) -> int:
        """How many play."""
        return len(self.decisions)


@dataclass(slots=True, eq=False)
class _Set:
    """An information set as it is found: what was done before it (an earlier set, and the place of the action there), how many
    such sets came before, and how many actions it has."""

    above: "tuple[_Set, int] | None"
    depth: int
    count: int


_Sequence: TypeAlias = tuple[_Set, int] | None


@dataclass(slots=True)
class _Walk:
    """What is gathered on a walk through all histories: the sets of each player by what it is told there, and the ends."""

    rules: Rules
    sets: list[dict[Hashable, _Set]]
    ends: list[tuple[tuple[_Sequence, ...], int, tuple[int, ...]]] = field(default_factory=list)
    nodes: int = 0

    def visit(self, history: History, own: tuple[_Sequence, ...], odds: int) -> None:
        """Walks everything below a history that chance allows with 1 / odds, where players have come by the sequences `own`."""
        self.nodes += 1
        turn = self.rules.turn(history)
        if turn == OVER:
            payoffs = tuple(self.rules.payoffs(history))
            assert sum(payoffs) == 0, "what one wins others lose"
            self.ends.append((own, odds, payoffs))
            return
        moves = self.rules.moves(history)
        if turn == CHANCE:
            for move in moves:
                self.visit((*history, move), own, odds * len(moves))
        elif len(moves) == 1:  # nothing is decided
            self.visit((*history, moves[0]), own, odds)
        else:
            found = self._found(history, turn, own[turn], len(moves))
            for place, move in enumerate(moves):
                self.visit((*history, move), (*own[:turn], (found, place), *own[turn + 1 :]), odds)

    def _found(self, history: History, player: int, above: _Sequence, count: int) -> _Set:
        """The information set of a history."""
        known, told = self.sets[player], self.rules.told(history, player)
        if told not in known:
            known[told] = _Set(above, 0 if above is None else above[0].depth + 1, count)
        found = known[told]
        assert (found.above, found.count) == (above, count), "a player forgets nothing"
        return found


@functools.lru_cache(maxsize=16)
def tree(name: str) -> Tree:
    """The game of this name, with its published payoffs; raises `EvolveError` where there is none."""
    game = rules(name)
    walk = _Walk(game, [{} for _ in range(game.players)])
    walk.visit((), (None,) * game.players, 1)
    flat = [_flat(sorted(known.values(), key=lambda one: one.depth)) for known in walk.sets]
    total = math.lcm(*(odds for _, odds, _ in walk.ends))
    reached = [[_sequence(own[player], flat[player][1]) for own, _, _ in walk.ends] for player in range(game.players)]
    return Tree(
        name,
        walk.nodes,
        tuple(decisions for decisions, _ in flat),
        np.array(reached, dtype=np.int64),
        np.array([total // odds for _, odds, _ in walk.ends], dtype=np.int64),
        total,
        np.array([payoffs for _, _, payoffs in walk.ends], dtype=np.int64).T.copy(),
    )


def _flat(ordered: list[_Set]) -> tuple[Decisions, dict[_Set, int]]:
    """A player's decisions from its sets in the order of their depth, and where each set's actions begin."""
    counts = [one.count for one in ordered]
    begins = list(itertools.accumulate(counts, initial=0))
    first = dict(zip(ordered, begins, strict=False))
    owner = np.repeat(np.arange(len(ordered)), counts)
    above = np.array([_sequence(one.above, first) for one in ordered], dtype=np.int64)
    levels, begin = [], 0
    for depth in range(ordered[-1].depth + 1):
        end = begin + sum(one.depth == depth for one in ordered)
        actions = slice(begins[begin], begins[end])
        levels.append(
            Level(
                slice(begin, end),
                actions,
                owner[actions] - begin,
                np.array(begins[begin:end], dtype=np.int64) - actions.start,
                above[begin:end],
            )
        )
        begin = end
    decisions = Decisions(np.array(begins[:-1], dtype=np.int64), owner, above, tuple(levels))
    return decisions, first


def _sequence(sequence: _Sequence, first: dict[_Set, int]) -> int:
    return 0 if sequence is None else 1 + first[sequence[0]] + sequence[1]


def disguised(game: Tree, amount: float, rng: Generator) -> Tree:
    """The game with other payoffs: at each end those of all players times one number between 1 - amount and 1 + amount."""
    most = round(GRAIN * amount)
    factors = GRAIN + rng.integers(-most, most, len(game.chance), endpoint=True)
    return replace(game, payoffs=game.payoffs * factors, unit=game.unit * GRAIN)
