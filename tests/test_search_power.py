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
    ("sides", "expected"),
    [
        # 2 of the 20 ways to deal three and three are as far from the middle.
        ({"a": ([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])}, 2 / 20),
        ({"a": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])}, 2 / 20),
        # Two tasks with 10 ways each: both all the one way or all the other.
        ({"a": ([3.0, 4.0, 5.0], [1.0, 2.0]), "b": ([3.0, 4.0, 5.0], [1.0, 2.0])}, 2 / 100),
        # Of one each both ways are as far, on each task.
        ({"a": ([2.0], [1.0]), "b": ([2.0], [1.0])}, 2 / 4),
        ({"a": ([1.0, 1.0], [1.0, 1.0])}, 1.0),
    ],
)
def test_the_p_value_counts_all_ways_to_deal_the_campaigns_of_each_task(sides, expected):
    assert table.find_p(sides) == pytest.approx(expected)


def test_the_distribution_is_that_of_mann_and_whitney():
    """Of three and two: U is 0 to 6 in 1, 1, 2, 2, 2, 1 and 1 of ten ways."""
    dealt = table.deal([3.0, 4.0, 5.0], [1.0, 2.0])
    wanted = dict(zip([0, 1, 2, 3, 4, 5, 6], [0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.1], strict=True))
    assert {round(share * 6): chance for share, chance in dealt.items()} == pytest.approx(wanted)


def test_a_draw_is_half_a_pair():
    assert table.superiority([2.0, 3.0], [2.0, 1.0]) == (0.5 + 1 + 1 + 1) / 4
    assert sum(table.deal([2.0, 3.0], [2.0, 1.0]).values()) == pytest.approx(1.0)


def test_an_interval_needs_enough_campaigns():
    """Three and three cannot exclude any shift at 95 %; four and four exclude all beyond the extremes."""
    assert table.find_interval({"a": ([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])}) is None
    assert table.find_interval({"a": ([11.0, 12.0, 13.0, 14.0], [1.0, 2.0, 3.0, 4.0])}) == (7.0, 13.0)


def test_the_interval_excludes_nought_where_the_test_does():
    ahead = {"a": ([5.0, 6.0, 7.0, 8.0, 9.0], [1.0, 2.0, 3.0, 4.0, 4.5])}
    mixed = {"a": ([5.0, 2.5, 7.0, 0.5, 9.0], [1.0, 2.0, 3.0, 4.0, 4.5])}
    assert table.find_p(ahead) < 0.05 < table.find_p(mixed)
    assert table.find_interval(ahead)[0] > 0
    low, high = table.find_interval(mixed)
    assert low < 0 < high


def test_many_campaigns_are_drawn_and_not_counted():
    """What is drawn is the same each time."""
    sides = {"a": ([float(number) for number in range(30)], [float(number) for number in range(40, 70)])}
    assert table.find_p(sides) == table.find_p(sides) < 0.001


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


def test_a_task_with_one_arm_alone_is_left_out_and_named():
    """So is no other: arms need not be on all tasks, nor have equally many campaigns."""
    runs = [run(arm, seed, [value]) for seed in (1, 2) for arm, value in (("default", 2.0), ("other", 1.0))]
    runs += [run("default", 3, [3.0]), run("other", 1, [9.0], task="elsewhere")]
    found = table.compare(
        {"made": {"default": [2.0, 2.0, 3.0], "other": [1.0, 1.0]}, "elsewhere": {"other": [9.0]}}, "default", "other"
    )
    assert (found.tasks, found.runs, found.superiority, found.ahead, found.left_out) == (
        1,
        (3, 2),
        1.0,
        1.0,
        ["elsewhere"],
    )
    assert found.p == pytest.approx(0.1)
    assert "Left out against `other`, where one arm is missing: elsewhere." in table.format_tables(runs, "default")


def test_the_tables_say_what_is_decided_and_what_is_not():
    """Six campaigns that are all better decide; where all are equal, nothing is decided."""
    arms = (("default", 3.0), ("worse", 1.0))
    runs = [run(arm, seed, [value], held_out={"far": 1.0}) for seed in range(6) for arm, value in arms]
    text = table.format_tables(runs, "default")
    assert "| made | `default` | 6 | 1 | 0 | 3 (3 to 3) | 1.00 (1.00 to 1.00) |" in text
    assert "| `worse` | best | 1 | 6 and 6 | 100% | 0.0022 | +0.667 | +0.667 to +0.667 |" in text
    assert "Not decided by these runs: `worse` on held out (p = 1)." in text
