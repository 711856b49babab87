"""The tables of the comparison of search power: made-up results whose numbers are known by hand."""

import importlib.util
import sys
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location(
    "search_power_table", Path(__file__).parents[1] / "benchmarks" / "search_power" / "table.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
table = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = table
_SPEC.loader.exec_module(table)


def run(arm, seed, scores, *, task="made", direction="max", start=0.0, held_out=None):
    """A run from the contents of a result whose best score so far was `scores`."""
    cases = {case: {"seed": 0.0, "best": best} for case, best in (held_out or {}).items()}
    return table.read_run(
        {
            "task": task,
            "arm": arm,
            "seed": seed,
            "direction": direction,
            "best_so_far": scores,
            "search": {"seed": start, "best": scores[-1]},
            "held_out": cases,
            "prompt_tokens": 100,
            "completion_tokens": 10,
        }
    )


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1.0] * 6, 2 / 64),
        ([-1.0] * 6, 2 / 64),
        ([1.0, 1.0, 1.0], 2 / 8),
        # Sums of four signs: 2 of 16 are 4 away from 0, 8 are 2 away, and 6 are 0.
        ([1.0, 1.0, 1.0, -1.0], 10 / 16),
        ([0.0, 0.0, 0.0], 1.0),
    ],
)
def test_the_p_value_counts_all_choices_of_signs(differences, expected):
    assert table.sign_flip_p(differences) == expected


def test_an_interval_needs_six_blocks():
    """With five, one of 32 parts of the line at each end is more than is to be left out."""
    assert table.sign_flip_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert table.sign_flip_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == (1.0, 6.0)


def test_a_longer_row_of_blocks_narrows_the_interval():
    """With eight, six of 256 parts are left out at each end. The sixth mean from below is that of 0, 1 and 3, behind those of 0; 0, 1; 1; 0, 2; and 0, 1, 2."""
    assert table.sign_flip_interval([float(value) for value in range(8)]) == pytest.approx((4 / 3, 7 - 4 / 3))


def test_the_interval_excludes_nought_where_the_test_does():
    """Both say the same of seven blocks, of which one goes the other way."""
    ahead, mixed = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -2.0]
    assert table.sign_flip_p(ahead) == 2 / 128
    low, _ = table.sign_flip_interval(ahead)
    assert low > 0
    assert table.sign_flip_p(mixed) > 0.05
    low, high = table.sign_flip_interval(mixed)
    assert low < 0 < high


def test_many_blocks_are_drawn_and_not_counted():
    """2 ** 40 choices would not end; what is drawn is the same each time."""
    assert table.sign_flip_p([1.0] * 40) == 0.0
    assert table.sign_flip_interval([1.0] * 40) == (1.0, 1.0)


def test_equal_arms_share_their_ranks():
    assert table.rank({"a": 3.0, "b": 1.0, "c": 3.0}) == {"a": 1.5, "b": 3.0, "c": 1.5}


def test_shares_are_of_the_way_from_the_seed_to_the_best_known():
    """Where smaller is better, too; a failure counts as far below the seed."""
    runs = [run("a", 1, [4.0, 3.0], direction="min", start=5.0), run("b", 1, [5.0, 1.0], direction="min", start=5.0)]
    scale = table.scale_of(runs)
    assert [table.best_share(one, scale) for one in runs] == [0.5, 1.0]
    assert [table.area_share(one, scale) for one in runs] == [0.375, 0.5]
    assert table.share(None, 0.0, 1.0) == -1.0
    assert table.share(-9.0, 0.0, 1.0) == -1.0


def test_a_campaign_that_ended_sooner_keeps_what_it_had():
    runs = [run("a", 1, [1.0, 1.0, 1.0, 2.0]), run("b", 1, [1.0, 2.0])]
    scale = table.scale_of(runs)
    assert [table.area_share(one, scale) for one in runs] == [0.625, 0.875]
    assert "Fewer calls than others on the task: made b 1: 2." in table.format_tables(runs, "a")


def test_held_out_shares_are_means_over_cases():
    """A case that nobody does better than the seed counts 0; one that a program fails on, -1."""
    runs = [
        run("a", 1, [1.0], held_out={"far": 2.0, "long": 0.0, "odd": None}),
        run("b", 1, [1.0], held_out={"far": 4.0, "long": 0.0, "odd": 1.0}),
    ]
    scale = table.scale_of(runs)
    assert table.held_out_share(runs[0], scale) == pytest.approx((0.5 + 0.0 - 1.0) / 3)
    assert table.held_out_share(runs[1], scale) == pytest.approx((1.0 + 0.0 + 1.0) / 3)


def test_a_block_with_one_arm_alone_is_left_out_and_named():
    """So is no other: arms need not be on all tasks."""
    runs = [run(arm, seed, [value]) for seed in (1, 2) for arm, value in (("default", 2.0), ("other", 1.0))]
    runs += [run("default", 3, [2.0]), run("other", 1, [9.0], task="elsewhere")]
    found = table.compare(
        {one.block: {two.arm: two.best for two in runs if two.block == one.block} for one in runs}, "default", "other"
    )
    assert (found.better, found.equal, found.worse, found.difference, found.p) == (2, 0, 0, 1.0, 0.5)
    assert "Left out against `other`, where one arm is missing: elsewhere 1, made 3." in table.format_tables(
        runs, "default"
    )


def test_the_tables_say_what_is_decided_and_what_is_not():
    """Six blocks that all go one way decide; where half of them do not, nothing is decided."""
    arms = (("default", 3.0), ("worse", 1.0))
    runs = [run(arm, seed, [value], held_out={"far": 1.0}) for seed in range(6) for arm, value in arms]
    text = table.format_tables(runs, "default")
    assert "| made | `default` | 6 | 1 | 0 | 3 (3 to 3) | 1.00 (1.00 to 1.00) |" in text
    assert "| `worse` | best | 6 | 6 / 0 / 0 | +1.00 | +1.00 to +1.00 | 0.031 | +0.667 |" in text
    assert "Not decided by these runs: `worse` on held out (p = 1)." in text
