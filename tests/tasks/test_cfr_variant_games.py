"""Facts about the games of `cfr_variant` and their trees."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from task_files import judging_files

from evolve.types import EvolveError

FILES = judging_files("cfr_variant", "games", "tree", "values", "exact")
games, trees, exact = FILES.games, FILES.tree, FILES.exact
SMALL = ("kuhn2", "kuhn3", "goof4")


def uniform_loss(name: str) -> Fraction:
    """NashConv where everybody plays all actions alike, without any rounding."""
    game = trees.tree(name)
    one = math.lcm(*(int(count) for decisions in game.decisions for count in decisions.counts))
    return exact.nash_conv(game, [one // decisions.counts[decisions.owner] for decisions in game.decisions], one)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("kuhn2", Fraction(11, 12)),
        ("kuhn3", Fraction(33, 16)),
        ("goof4", Fraction(17, 12)),
        ("leduc2", Fraction(1709, 360)),
    ],
)
def test_the_uniform_policy_loses_what_openspiel_says(name: str, loss: Fraction) -> None:
    """Exactly; 1709/360 is 4.747222..."""
    assert uniform_loss(name) == loss


def test_the_uniform_policy_loses_in_liars_dice_what_openspiel_says() -> None:
    """To all the digits that are known."""
    assert float(uniform_loss("liars5")) == pytest.approx(1.441742, abs=5e-7)


@pytest.mark.parametrize(("name", "nodes"), [("kuhn2", 58), ("leduc2", 9457), ("liars5", 51_181)])
def test_trees_have_as_many_histories_as_the_published_games(name: str, nodes: int) -> None:
    """Moves of chance among them."""
    assert trees.tree(name).nodes == nodes


@pytest.mark.parametrize(
    ("rules", "history", "payoffs"),
    [
        (games.Kuhn(2), (2, 0, 0, 0), [1, -1]),
        (games.Kuhn(2), (0, 2, 1, 0), [1, -1]),
        (games.Kuhn(2), (0, 2, 0, 1, 1), [-2, 2]),
        (games.Kuhn(3), (0, 3, 1, 0, 0, 1, 1, 0), [-2, -1, 3]),
        (games.Kuhn(3), (1, 0, 3, 1, 0, 1), [-2, -1, 3]),
        (games.Leduc(), (0, 5, "r", "f"), [1, -1]),
        (games.Leduc(), (0, 5, "c", "r", "r", "f"), [3, -3]),
        (games.Leduc(), (0, 5, "r", "c", 1, "c", "c"), [3, -3]),
        (games.Leduc(), (0, 5, "r", "c", 2, "r", "r", "c"), [-11, 11]),
        (games.Leduc(), (0, 1, "c", "c", 2, "c", "c"), [0, 0]),
        (games.Goofspiel(4), (3, 2, 2, 1, 0, 3, 1, 0), [1, -1]),
        (games.Goofspiel(4), (3, 3, 2, 2, 1, 1, 0, 0), [0, 0]),
        (games.LiarsDice(5), (0, 1, 0, 10), [1, -1]),
        (games.LiarsDice(5), (1, 4, 5, 10), [-1, 1]),
        (games.LiarsDice(5), (0, 4, 0, 5, 10), [-1, 1]),
        (games.LiarsDice(5), (1, 2, 0, 5, 10), [1, -1]),
    ],
)
def test_ends_pay_what_the_rules_say(rules: Any, history: Any, payoffs: list[int]) -> None:
    """Worked out by hand; the highest face of a die counts as every face."""
    assert rules.turn(history) == games.OVER
    assert list(rules.payoffs(history)) == payoffs


def test_a_player_is_not_told_what_the_other_holds() -> None:
    """In Goofspiel it sees who won each prize, and nothing of a bid that is not complete."""
    goofspiel, kuhn = games.Goofspiel(4), games.Kuhn(2)
    assert goofspiel.told((3, 1, 2), 1) == goofspiel.told((2, 1, 3), 1) == ((1,), (1,))
    assert goofspiel.told((0, 1, 2), 1) != goofspiel.told((2, 1, 0), 1)
    assert kuhn.told((1, 2, 0), 0) == kuhn.told((1, 0, 0), 0)


@pytest.mark.parametrize("name", SMALL)
def test_the_sets_of_a_tree_are_in_the_order_of_their_depth(name: str) -> None:
    """Above each set stands an action of the level before, and the levels are all there is."""
    for decisions in trees.tree(name).decisions:
        assert decisions.counts.min() >= 2
        assert decisions.levels[-1].actions.stop == decisions.actions
        before = slice(-1, 0)
        for level in decisions.levels:
            above = decisions.above[level.sets]
            assert ((above >= 1 + before.start) & (above < 1 + before.stop)).all()
            before = level.actions


@pytest.mark.parametrize("name", SMALL)
def test_disguised_payoffs_add_up_to_zero_and_differ_as_much_as_wanted(name: str) -> None:
    """And a disguise of 0 is none."""
    game = trees.tree(name)
    other = trees.disguised(game, 0.1, np.random.default_rng(1))
    assert (other.payoffs.sum(axis=0) == 0).all()
    factors = other.payoffs[game.payoffs != 0] / (game.payoffs[game.payoffs != 0] * other.unit)
    assert 0.9 - 1e-3 < factors.min() < 0.92
    assert 1.08 < factors.max() < 1.1 + 1e-3
    same = trees.disguised(game, 0.0, np.random.default_rng(1))
    assert (same.payoffs == game.payoffs * same.unit).all()


def test_a_game_that_there_is_not_is_an_error_with_the_names() -> None:
    """Of those that there are."""
    with pytest.raises(EvolveError, match=r"no game 'chess'\. Do: name one of kuhn2, "):
        trees.tree("chess")
