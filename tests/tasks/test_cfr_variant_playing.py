"""Facts about how a program's functions play a game in `cfr_variant`, in this process."""

from typing import Any

import cfr_rules as rules
import numpy as np
import pytest
from task_files import judging_files

FILES = judging_files("cfr_variant", "games", "tree", "values", "playing")
trees, values, playing = FILES.tree, FILES.values, FILES.playing


def played(source: str, name: str, *horizons: int, seed: int = 0, units: float = 1.0, alternating: bool = True) -> Any:
    return playing.played(
        rules.Here(source),
        trees.tree(name),
        horizons,
        alternating=alternating,
        units=units,
        rng=np.random.default_rng(seed),
    )


def loss(source: str, name: str, horizon: int = 1001, **options: Any) -> float:
    """NashConv of the average after so many iterations; the known variants leave out the first policy, so that 1,001 are 1,000 updates."""
    return float(values.nash_conv(trees.tree(name), played(source, name, horizon, **options).averages[horizon]))


@pytest.mark.parametrize(
    ("variant", "name", "value"),
    [
        ("CFR", "kuhn2", 1.9e-3),
        ("CFR+", "kuhn2", 1.5e-4),
        ("LCFR", "kuhn2", 2.1e-4),
        ("DCFR", "kuhn2", 3.6e-4),
        ("PCFR+", "kuhn2", 3.5e-8),
        ("DPCFR+", "kuhn2", 1.6e-13),
        ("CFR", "kuhn3", 3.4e-3),
        ("CFR+", "kuhn3", 2.7e-5),
        ("DCFR", "kuhn3", 2.7e-6),
        ("PCFR+", "kuhn3", 5.1e-6),
        ("DPCFR+", "kuhn3", 5.4e-10),
        ("CFR+", "goof4", 5.5e-4),
        ("DCFR", "goof4", 6.6e-4),
        ("PCFR+", "goof4", 1.8e-7),
        ("DPCFR+", "goof4", 8.1e-12),
    ],
)
def test_known_variants_lose_what_others_have_measured(variant: str, name: str, value: float) -> None:
    """After 1,000 updates, to two digits. Left out is LCFR in three-player Kuhn poker (4.1e-4 here, 4.7e-4 there), and CFR and LCFR in Goofspiel, where
    ties are broken by rounding: each order of the sets has another value."""
    assert loss(rules.VARIANTS[variant], name) == pytest.approx(value, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "value"),
    [("CFR", 2.2e-2), ("CFR+", 5.0e-4), ("LCFR", 1.0e-2), ("DCFR", 3.8e-4), ("PCFR+", 1.5e-3), ("DPCFR+", 1.7e-3)],
)
def test_known_variants_lose_in_leduc_poker_about_what_others_have_measured(variant: str, value: float) -> None:
    """After 1,000 updates, to a seventh: rounding decides there, too."""
    assert loss(rules.VARIANTS[variant], "leduc2") == pytest.approx(value, rel=0.15)


def test_the_order_in_which_sets_and_actions_are_shown_changes_nothing_for_who_looks_at_each_alone() -> None:
    """Beyond rounding: each seed draws another order."""
    assert loss(rules.CFR_PLUS, "kuhn3", 100, seed=1) == pytest.approx(
        loss(rules.CFR_PLUS, "kuhn3", 100, seed=2), rel=1e-9
    )


def test_the_units_of_regrets_change_nothing_for_who_looks_at_proportions() -> None:
    """They do for who adds a number to regrets."""
    adds = rules.CFR.replace("0.0 * r_pred", "1.0")
    assert loss(rules.CFR, "kuhn2", 100, units=64.0) == pytest.approx(loss(rules.CFR, "kuhn2", 100), rel=1e-9)
    assert loss(adds, "kuhn2", 100, units=64.0) != pytest.approx(loss(adds, "kuhn2", 100), rel=1e-2)


def test_a_horizon_is_what_a_run_of_that_length_finds() -> None:
    """So the program cannot know which it is evaluated by."""
    both, short = played(rules.CFR, "kuhn2", 50, 100), played(rules.CFR, "kuhn2", 50)
    for one, other in zip(both.averages[50], short.averages[50], strict=True):
        assert (one == other).all()
    assert any((one != other).any() for one, other in zip(both.averages[50], both.averages[100], strict=True))


def test_players_who_all_move_at_once_come_to_an_equilibrium_too() -> None:
    """By another way than those who move in turn."""
    at_once, in_turn = (loss(rules.CFR, "kuhn2", 300, alternating=each) for each in (False, True))
    assert at_once < 0.05
    assert at_once != in_turn


def test_what_a_program_is_told_is_laid_out_as_the_brief_says() -> None:
    """Actions of a set side by side, `first` the first of them, no set with a single one; regrets of the policy that is played add up to nothing."""
    checking = """
import numpy as np

def regret_update(R, r, t, state):
    assert len(r) == len(state.infoset) == len(R)
    assert (np.flatnonzero(np.diff(state.infoset, prepend=-1)) == state.first).all()
    assert (np.diff(state.first, append=len(r)) >= 2).all()
    assert np.abs(np.add.reduceat(r * state.played, state.first)).max() < 1e-12
    return R + r

def policy(R, r_pred, t, state):
    numbers = np.maximum(R, 0) + 0.1
    state.played = numbers / np.add.reduceat(numbers, state.first)[state.infoset]
    return numbers

def average_weight(t, own_reach, state):
    assert len(own_reach) == len(state.first)
    assert 0 <= own_reach.min() and own_reach.max() == 1
    return np.ones(len(state.first))
"""
    played(checking, "kuhn3", 20)
    played(checking, "goof4", 20)


FAULTY = {
    "not a number": ("policy", "R * np.nan"),
    "negative": ("policy", "-R - 1"),
    "infinite": ("policy", "R + np.inf"),
    "too large": ("policy", "R + 1e201"),
    "one too few": ("policy", "R[1:]"),
    "a column": ("policy", "R[:, None]"),
    "truth values": ("policy", "R > 0"),
    "complex": ("policy", "R + 1j"),
    "a list of truth values": ("policy", "[True] * len(R)"),
    "a large whole number": ("policy", "[10**400] * len(R)"),
    "nothing": ("policy", "None"),
    "a single number": ("policy", "1.0"),
    "a negative weight": ("average_weight", "-1.0"),
    "a weight that is a truth value": ("average_weight", "True"),
    "a weight that is too large": ("average_weight", "1e201"),
    "a weight for each action": ("average_weight", "np.ones(len(state.infoset))"),
}


@pytest.mark.parametrize(("function", "answer"), FAULTY.values(), ids=FAULTY)
def test_what_is_no_policy_and_no_weight_is_refused(function: str, answer: str) -> None:
    """With the name of the function that returned it."""
    source = f"{rules.CFR}\n\ndef {function}(R, own_reach, t, state={{}}):\n    return {answer}\n"
    if function == "average_weight":
        source = source.replace("(R, own_reach, t, state={})", "(t, own_reach, state)")
    with pytest.raises(playing.Unusable, match=rf"{function}\(\) must return"):
        played(source, "kuhn2", 3)


@pytest.mark.parametrize("answer", ["None", "[]", "[[1.0, 1.0, 1.0]]", "{}"])
def test_a_program_that_answers_in_the_place_of_the_binding_is_refused(answer: str) -> None:
    """What does not have its form is no answer."""

    class Replaced(rules.Here):
        def call(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Any:
            return super().call(function, *arguments) if function == "begin" else eval(answer)

    with pytest.raises(playing.Unusable, match=r"not what binding\.py returns, in iteration 1"):
        playing.played(
            Replaced(rules.CFR), trees.tree("kuhn2"), [3], alternating=True, units=1.0, rng=np.random.default_rng(0)
        )


def test_where_nothing_was_ever_weighed_the_average_is_uniform() -> None:
    """Also where weights are so small that they vanish."""
    for weight in ("0", "5e-324 * own_reach * 0.1"):
        never = rules.CFR.replace("t**0.0", weight)
        average = played(never, "kuhn2", 10).averages[10]
        assert all((policy == 0.5).all() for policy in average)


@pytest.mark.parametrize(
    ("weights", "share"),
    [([1.0] * 100, 0.5), ([0.0] * 90 + [1.0] * 10, 0.05), ([0.0] * 10, 1.0), ([1.0] + [0.0] * 9, 1.0)],
)
def test_recency_is_the_share_that_has_half_of_all_weight(weights: list[float], share: float) -> None:
    """From the last iteration back."""
    assert playing.recency(weights) == pytest.approx(share)


def test_restlessness_looks_at_the_last_tenth() -> None:
    """And has a least value."""
    assert playing.restlessness([1.0] * 90 + [0.01] * 10) == pytest.approx(-2.0)
    assert playing.restlessness([0.0] * 10) == pytest.approx(-9.0)
