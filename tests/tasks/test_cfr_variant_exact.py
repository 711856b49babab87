"""Facts about what policies lose in `cfr_variant`: exactly, in floating point, and by trying all pure answers."""

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from task_files import judging_files

FILES = judging_files("cfr_variant", "games", "tree", "values", "exact")
games, trees, values, exact = FILES.games, FILES.tree, FILES.values, FILES.exact


def drawn(name: str, seed: int) -> list[Any]:
    """A random policy for each player, some actions of which are never played."""
    rng = np.random.default_rng(seed)
    policies = []
    for decisions in trees.tree(name).decisions:
        numbers = np.maximum(rng.normal(size=decisions.actions), 0.0)
        policies.append(values.shares(numbers, decisions.first, decisions.owner))
    return policies


def told_sets(rules: Any, player: int) -> list[Any]:
    """What a player may be told, in the order of depth and then of a walk through the game."""
    found: dict[Any, int] = {}

    def walk(history: tuple[Any, ...], depth: int) -> None:
        turn = rules.turn(history)
        if turn == games.OVER:
            return
        if turn == player:
            found.setdefault(rules.told(history, player), depth)
        for move in rules.moves(history):
            walk((*history, move), depth + (turn == player))

    walk((), 0)
    return sorted(found, key=lambda told: found[told])


def won(rules: Any, player: int, policies: Sequence[Mapping[Any, Sequence[Fraction]]], history: Any = ()) -> Fraction:
    """What a player wins on average, by a walk through all histories."""
    turn = rules.turn(history)
    if turn == games.OVER:
        return Fraction(rules.payoffs(history)[player])
    moves = rules.moves(history)
    if turn == games.CHANCE:
        odds = [Fraction(1, len(moves))] * len(moves)
    else:
        odds = list(policies[turn][rules.told(history, turn)])
    return sum(
        (
            share * won(rules, player, policies, (*history, move))
            for share, move in zip(odds, moves, strict=True)
            if share
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_what_the_best_of_all_pure_answers_wins(seed: int) -> None:
    """In Kuhn poker for two each player has 64 of them; all are played against the other's policy."""
    rules, game = games.rules("kuhn2"), trees.tree("kuhn2")
    counts = [exact.quantised(*pair) for pair in zip(game.decisions, drawn("kuhn2", seed), strict=True)]
    sets = [told_sets(rules, player) for player in range(2)]
    policies = [
        {
            told: [Fraction(int(count), exact.ONE) for count in each[2 * number : 2 * number + 2]]
            for number, told in enumerate(sets[player])
        }
        for player, each in enumerate(counts)
    ]
    total = Fraction(0)
    for player in range(2):
        answers = itertools.product([(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))], repeat=6)
        against = list(policies)
        best = Fraction(-10)
        for answer in answers:
            against[player] = dict(zip(sets[player], answer, strict=True))
            best = max(best, won(rules, player, against))
        total += best
    assert exact.nash_conv(game, counts) == total


@pytest.mark.parametrize("name", ["kuhn2", "kuhn3", "goof4"])
def test_the_exact_loss_agrees_with_floating_point(name: str) -> None:
    """But for the rounding to multiples of 2^-40; also where payoffs are disguised."""
    policies = drawn(name, 7)
    for game in (trees.tree(name), trees.disguised(trees.tree(name), 0.3, np.random.default_rng(2))):
        counts = [exact.quantised(*pair) for pair in zip(game.decisions, policies, strict=True)]
        assert float(exact.nash_conv(game, counts)) == pytest.approx(values.nash_conv(game, policies), abs=1e-9)


def test_an_equilibrium_of_kuhn_poker_loses_nothing() -> None:
    """The one in which the first player never bets first, with thirds in whole numbers; the disguise makes it another game's."""
    rules, game = games.rules("kuhn2"), trees.tree("kuhn2")
    bets = [
        {(0, ()): 0, (1, ()): 0, (2, ()): 0, (0, (0, 1)): 0, (1, (0, 1)): 1, (2, (0, 1)): 3},
        {(0, (0,)): 1, (1, (0,)): 0, (2, (0,)): 3, (0, (1,)): 0, (1, (1,)): 1, (2, (1,)): 3},
    ]
    counts = [
        np.array([[3 - bets[player][told], bets[player][told]] for told in told_sets(rules, player)]).ravel()
        for player in range(2)
    ]
    assert exact.nash_conv(game, counts, 3) == 0
    assert exact.nash_conv(trees.disguised(game, 0.1, np.random.default_rng(1)), counts, 3) > Fraction(1, 200)


@pytest.mark.parametrize("name", ["kuhn3", "goof4"])
def test_a_rounded_policy_adds_up_and_is_near(name: str) -> None:
    """Each set's counts add up to 2^40, and no count is further off than a set has actions."""
    for decisions, policy in zip(trees.tree(name).decisions, drawn(name, 3), strict=True):
        counts = exact.quantised(decisions, policy)
        assert (np.add.reduceat(counts, decisions.first) == exact.ONE).all()
        assert np.abs(counts - policy * exact.ONE).max() <= decisions.counts.max()


def test_logarithms_end_where_rounding_begins() -> None:
    """A loss of 0 is no infinite score."""
    assert exact.log10(Fraction(0)) == exact.log10(Fraction(1, exact.ONE)) == pytest.approx(-12.0412, abs=1e-4)
    assert exact.log10(Fraction(1, 1000)) == pytest.approx(-3.0)
