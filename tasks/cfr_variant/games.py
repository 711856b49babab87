"""The rules of the games: small ones with hidden information, whose payoffs add up to zero.

A history is a tuple of what has happened, chance first: cards, dice, bids. Every move of chance is as likely as the others. Rules are those of OpenSpiel
(https://arxiv.org/abs/1908.09453), whose values of the uniform policy are these games' values, too.

Invariant: `told` gives a player all that it has seen and done itself, and nothing else."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from evolve import EvolveError

CHANCE, OVER = -1, -2
FOLD, CALL, RAISE = "f", "c", "r"
PASS, BET = 0, 1
Move: TypeAlias = int | str
History: TypeAlias = tuple[Move, ...]


class Rules(Protocol):
    """A game for `players`; all that is asked about a history is asked about one that can happen."""

    @property
    def players(self) -> int:
        """How many there are."""
        ...

    def turn(self, history: History) -> int:
        """The player who moves, `CHANCE` or `OVER`."""
        ...

    def moves(self, history: History) -> Sequence[Move]:
        """What may come next, where the game is not over."""
        ...

    def told(self, history: History, player: int) -> Hashable:
        """What a player knows: equal for histories that it cannot tell apart."""
        ...

    def payoffs(self, history: History) -> Sequence[int]:
        """What each player has won, at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Kuhn:
    """Kuhn poker: a card each of players + 1, one chip each, and one more for who bets; who has bet has the better card, or all have passed.

    H. W. Kuhn (1950), https://doi.org/10.1515/9781400881727-010; for more players Szafron, Gibson and Sturtevant (2013),
    https://www.ifaamas.org/Proceedings/aamas2013/docs/p247.pdf."""

    players: int

    def turn(self, history: History) -> int:
        actions = history[self.players :]
        if len(history) < self.players:
            return CHANCE
        # Everybody else answers a first bet once.
        most = actions.index(BET) + self.players if BET in actions else self.players
        return OVER if len(actions) == most else len(actions) % self.players

    def moves(self, history: History) -> Sequence[Move]:
        if len(history) < self.players:
            return [card for card in range(self.players + 1) if card not in history]
        return [PASS, BET]

    def told(self, history: History, player: int) -> Hashable:
        return history[player], history[self.players :]

    def payoffs(self, history: History) -> Sequence[int]:
        cards, actions = history[: self.players], history[self.players :]
        bold = [place % self.players for place, action in enumerate(actions) if action == BET]
        winner = max(bold or range(self.players), key=lambda player: cards[player])
        paid = [1 + (player in bold) for player in range(self.players)]
        return [(player == winner) * sum(paid) - paid[player] for player in range(self.players)]


@dataclass(frozen=True, slots=True)
class Leduc:
    """Leduc poker for two: six cards of three ranks, a card each, a round of bets, an open card, another round; a pair with the open card
    wins, else the higher rank. Southey and others (2005), https://arxiv.org/abs/1207.1411."""

    players: int = 2

    def turn(self, history: History) -> int:
        if len(history) < self.players:
            return CHANCE
        first, card, second = _rounds(history)
        last = first if card is None else second
        if last.endswith(FOLD) or (card is not None and _is_closed(last)):
            return OVER
        return CHANCE if _is_closed(last) else len(last) % self.players

    def moves(self, history: History) -> Sequence[Move]:
        if self.turn(history) == CHANCE:
            return [card for card in range(6) if card not in history]
        first, card, second = _rounds(history)
        last = first if card is None else second
        return [
            *([FOLD] if last.endswith(RAISE) else []),
            CALL,
            *([RAISE] if last.count(RAISE) < 2 else []),
        ]

    def told(self, history: History, player: int) -> Hashable:
        return history[player], history[self.players :]

    def payoffs(self, history: History) -> Sequence[int]:
        first, card, second = _rounds(history)
        paid = [1, 1]
        for actions, size in ((first, 2), (second, 4)):
            for place, action in enumerate(actions):
                if action != FOLD:
                    paid[place % 2] = max(paid) + size * (action == RAISE)
        last = first if card is None else second
        if last.endswith(FOLD):
            winner = len(last) % 2
        else:
            strength = [(_rank(history[player]) == _rank(card), _rank(history[player])) for player in range(2)]
            if strength[0] == strength[1]:
                return [0, 0]
            winner = int(strength[1] > strength[0])
        won = paid[1 - winner]
        return [won, -won] if winner == 0 else [-won, won]


def _rounds(history: History) -> tuple[str, Move | None, str]:
    """The actions of the first round, the open card, and the actions of the second round."""
    after = history[2:]
    place = next((index for index, move in enumerate(after) if type(move) is int), None)
    if place is None:
        return "".join(map(str, after)), None, ""
    return "".join(map(str, after[:place])), after[place], "".join(map(str, after[place + 1 :]))


def _is_closed(actions: str) -> bool:
    """Whether a round of bets is over without a fold: a call that does not open it."""
    return len(actions) > 1 and actions.endswith(CALL)


def _rank(card: Move | None) -> int:
    """Two of six cards have the same rank."""
    assert type(card) is int, "a showdown has an open card"
    return card // 2


@dataclass(frozen=True, slots=True)
class Goofspiel:
    """Goofspiel for two with `cards` cards each: prizes of cards, ..., 2, 1 points in this order, for each a hidden bid of one of one's own
    cards; the higher one wins the prize, equal ones nobody. A player sees who won each prize, and not the other's card. Who has more points wins 1.

    S. M. Ross (1971), https://doi.org/10.2307/3212187."""

    cards: int
    players: int = 2

    def turn(self, history: History) -> int:
        return OVER if len(history) == 2 * self.cards else len(history) % 2

    def moves(self, history: History) -> Sequence[Move]:
        spent = history[len(history) % 2 :: 2]
        return [card for card in range(self.cards) if card not in spent]

    def told(self, history: History, player: int) -> Hashable:
        return history[player::2], tuple(_sign(mine, other) for mine, other in _bids(history))

    def payoffs(self, history: History) -> Sequence[int]:
        points = sum((self.cards - place) * _sign(mine, other) for place, (mine, other) in enumerate(_bids(history)))
        return [_sign(points, 0), _sign(0, points)]


def _bids(history: History) -> list[tuple[int, int]]:
    """The pairs of bids that are complete."""
    return [(int(mine), int(other)) for mine, other in zip(history[::2], history[1::2], strict=False)]


def _sign(one: int, other: int) -> int:
    return (one > other) - (one < other)


@dataclass(frozen=True, slots=True)
class LiarsDice:
    """Liar's dice for two with a die each of so many `sides`, which the other does not see. In turn, a player claims how many dice show a face,
    each time more than before (first by the number, then by the face), or says that the last claim is a lie; who is wrong then loses 1. The highest face counts as
    every face."""

    sides: int
    players: int = 2

    def turn(self, history: History) -> int:
        if len(history) < 2:
            return CHANCE
        return OVER if history[-1] == self._liar and len(history) > 2 else len(history) % 2

    def moves(self, history: History) -> Sequence[Move]:
        if len(history) < 2:
            return range(self.sides)
        claims = history[2:]
        return range(int(claims[-1]) + 1 if claims else 0, self._liar + (1 if claims else 0))

    def told(self, history: History, player: int) -> Hashable:
        return history[player], history[2:]

    def payoffs(self, history: History) -> Sequence[int]:
        claim = int(history[-2])
        wanted, face = claim // self.sides + 1, claim % self.sides
        shown = sum(die in (face, self.sides - 1) for die in history[:2])
        # Whose turn it would be now made the claim.
        right = 1 if shown >= wanted else -1
        return [right, -right] if len(history) % 2 == 0 else [-right, right]

    @property
    def _liar(self) -> int:
        """The move that is no claim, above all of them."""
        return 2 * self.sides


GAMES: Mapping[str, Callable[[], Rules]] = {
    "kuhn2": lambda: Kuhn(2),
    "kuhn3": lambda: Kuhn(3),
    "kuhn4": lambda: Kuhn(4),
    "leduc2": Leduc,
    "goof4": lambda: Goofspiel(4),
    "goof5": lambda: Goofspiel(5),
    "liars5": lambda: LiarsDice(5),
    "liars6": lambda: LiarsDice(6),
}


def rules(name: str) -> Rules:
    """The game of this name; raises `EvolveError`."""
    if name not in GAMES:
        raise EvolveError(f"there is no game {name!r}. Do: name one of {', '.join(GAMES)}")
    return GAMES[name]()
