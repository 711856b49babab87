"""A game that a candidate's three functions play against themselves: the judge walks the tree, averages, and checks each answer.

The candidate's process is told regrets, and how far a player comes by itself; information sets and their actions in a random order, regrets in
units of the judge's choice. It is never told the game, its tree, nor when it ends.

Invariant: a policy here has no negative number and adds up to 1 in each set, and no average has a part that the candidate did not play."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from tree import Decisions, Integers, Tree
from values import Floats, Worth, reach, regrets, shares, uniform

BEGIN_SECONDS = 5.0
"""Wall time of the first policies, which includes the import of the program."""
ANSWER_SECONDS = 2.0
"""Wall time of one iteration of one player."""
LARGEST = 1e200
"""No number of an answer is larger, so that sums of them are finite."""
CALM = 1e-9
"""Changes of a policy below this are none."""


class Session(Protocol):
    """What is needed of a candidate's session."""

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Any:
        """The answer of one of its functions."""
        ...


class Unusable(ValueError):
    """An answer that is no policy, or no weight."""


@dataclass(frozen=True, slots=True)
class Played:
    """The average policies after each of the horizons, and the policies of the last iteration; a policy per player each. `recency` is the share of
    the iterations, from the last one back, that has half of all weight; `restlessness` how much a policy still changed in the last tenth of them, as the mean over actions."""

    averages: Mapping[int, tuple[Floats, ...]]
    last: tuple[Floats, ...]
    recency: float
    restlessness: float


class Seat:
    """One player: what it plays now, the sum of what it has played, and its decisions in the order that the candidate sees."""

    def __init__(self, decisions: Decisions, units: float, rng: Generator) -> None:
        self.decisions = decisions
        self.policy = uniform(decisions)
        self.reach = reach(decisions, self.policy)
        self._total = np.zeros(decisions.actions)
        self._units = units
        self._sets = rng.permutation(decisions.sets)
        place = np.argsort(self._sets)
        self._actions = np.lexsort((rng.random(decisions.actions), place[decisions.owner]))
        counts = decisions.counts[self._sets]
        self._first = np.cumsum(counts) - counts
        self._owner = np.repeat(np.arange(decisions.sets), counts)

    @property
    def layout(self) -> tuple[Integers, Integers]:
        """What the candidate is told of the decisions: the first action of each set, and the set of each action."""
        return self._first, self._owner

    def question(self, worth: Floats) -> tuple[Floats, Floats]:
        """Regrets and own reach as the candidate sees them."""
        found = regrets(self.decisions, worth, self.policy)
        return found[self._actions] * self._units, self.reach[self.decisions.above[self._sets]]

    def weigh(self, answer: object) -> float:
        """Adds the policy that was played to the sum, with the weight of an answer; gives the mean of the weight over sets."""
        weight = numbers(answer, self.decisions.sets, "average_weight()", scalar=True)
        of_sets = np.empty(self.decisions.sets)
        of_sets[self._sets] = weight
        of_sets *= self.reach[self.decisions.above]
        self._total += of_sets[self.decisions.owner] * self.policy
        return float(weight.mean())

    def move(self, answer: object) -> float:
        """Plays the policy of an answer from now on; gives the mean change over actions."""
        shown = shares(numbers(answer, self.decisions.actions, "policy()"), self._first, self._owner)
        before, self.policy = self.policy, np.empty(self.decisions.actions)
        self.policy[self._actions] = shown
        self.reach = reach(self.decisions, self.policy)
        return float(np.abs(self.policy - before).mean())

    @property
    def average(self) -> Floats:
        """The policy that was played on average."""
        return shares(self._total, self.decisions.first, self.decisions.owner)


@dataclass(slots=True)
class _Record:
    """The weight of each iteration, and how much it changed policies."""

    weights: list[float] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)


def played(
    session: Session, game: Tree, horizons: Sequence[int], *, alternating: bool, units: float, rng: Generator
) -> Played:
    """Plays as many iterations as the largest horizon has; raises `Unusable`. Where players do not alternate, all move at once."""
    seats = [Seat(decisions, units, rng) for decisions in game.decisions]
    worth, record = Worth(game), _Record()
    averages = {}
    first = session.call("begin", [seat.layout for seat in seats], seconds=BEGIN_SECONDS)
    for seat, answer in zip(seats, _list(first, len(seats)), strict=True):
        seat.move(answer)
    for iteration in range(1, max(horizons) + 1):
        try:
            _iteration(session, seats, worth, alternating, record)
        except Unusable as error:
            raise Unusable(f"{error}, in iteration {iteration}") from None
        if iteration in horizons:
            averages[iteration] = tuple(seat.average for seat in seats)
    return Played(averages, tuple(seat.policy for seat in seats), recency(record.weights), restlessness(record.changes))


def _iteration(session: Session, seats: Sequence[Seat], worth: Worth, alternating: bool, record: _Record) -> None:
    weight = change = 0.0
    for movers in _turns(len(seats), alternating):
        reaches = [seat.reach for seat in seats]
        turns = [[player, *seats[player].question(worth.of(player, reaches))] for player in movers]
        answers = session.call("advance", turns, seconds=ANSWER_SECONDS)
        for player, answer in zip(movers, _list(answers, len(movers)), strict=True):
            told_weight, told_policy = _list(answer, 2)
            weight += seats[player].weigh(told_weight)
            change += seats[player].move(told_policy)
    record.weights.append(weight)
    record.changes.append(change / len(seats))


def _turns(players: int, alternating: bool) -> Iterator[list[int]]:
    """Who moves at the same time, one after the other."""
    if alternating:
        yield from ([player] for player in range(players))
    else:
        yield list(range(players))


def _list(answer: object, count: int) -> list[Any]:
    """An answer of the binding, which the program may have replaced."""
    if type(answer) is not list or len(answer) != count:
        raise Unusable("the answer is not what binding.py returns")
    return answer


def numbers(answer: object, count: int, whose: str, *, scalar: bool = False) -> Floats:
    """An answer as `count` numbers of 0 or more, or one for all where `scalar` allows it; raises `Unusable`. Truth values are none."""
    wanted = f"{whose} must return {count} finite numbers from 0 to {LARGEST:g}{', or a single one' if scalar else ''}"
    if scalar and type(answer) in (int, float):
        answer = [answer] * count
    if type(answer) is list and len(answer) == count and all(type(value) in (int, float) for value in answer):
        if not all(0 <= value <= LARGEST for value in answer):
            raise Unusable(f"{wanted}, got others")
        return np.array(answer, dtype=np.float64)
    if not isinstance(answer, np.ndarray):
        raise Unusable(f"{wanted}, got a {type(answer).__name__}")
    if answer.dtype.kind not in "iuf" or answer.shape != (count,):
        raise Unusable(f"{wanted}, got an array of {answer.dtype.name} with shape {answer.shape}")
    found = answer.astype(np.float64)
    if not ((found >= 0.0) & (found <= LARGEST)).all():
        raise Unusable(f"{wanted}, got {found[~((found >= 0.0) & (found <= LARGEST))][0]}")
    return found


def recency(weights: Sequence[float]) -> float:
    """The share of iterations, from the last one back, that has half of all weight: 1/2 where all count alike, 1 where none counts."""
    sums = np.cumsum(weights[::-1])
    if sums[-1] == 0.0:
        return 1.0
    return (int(np.searchsorted(sums, sums[-1] / 2)) + 1) / len(weights)


def restlessness(changes: Sequence[float]) -> float:
    """The logarithm of the mean change in the last tenth of the iterations."""
    late = changes[-max(1, len(changes) // 10) :]
    return math.log10(max(math.fsum(late) / len(late), CALM))
