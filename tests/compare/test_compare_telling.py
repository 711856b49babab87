"""What a comparison says."""

from dataclasses import replace

import pytest

from evolve.compare import Comparison, Group, Question, telling, weighed
from evolve.types import Fitness
from tests.compare.runs import arm, failed, run

CLEAR = [arm("climb", [10.0 + seed for seed in range(8)]), arm("best_of_n", [1.0 + seed / 2 for seed in range(8)])]


def found(*groups: Group, **question: object) -> Comparison:
    """A comparison."""
    return weighed(groups, Question(**question))


def test_a_clear_difference_is_told_with_its_interval():
    """And from what it follows."""
    told = telling.findings(found(*CLEAR))
    assert len(told) == 1
    assert told[0].startswith(
        "climb is better than best_of_n: better by 10.8 (9.5 to 12.1), from 8 pairs of one seed (p = 0.0078"
    )
    assert told[0].endswith("corrected for 1 comparison).")


def test_no_difference_is_told_as_what_it_is():
    """With what contains 0, and what would have been seen."""
    values = [1.0, 7.0, 3.0, 4.0, 9.0, 2.0, 8.0, 5.0]
    told = telling.findings(found(arm("a", values), arm("b", values[::-1])))[0]
    assert told.startswith("No difference between b and a is seen: the interval of the gain, ")
    assert "contains 0 (8 pairs of one seed; p = 1.00, corrected for 1 comparison)." in told
    assert "would have been found four times in five; a smaller one may be there." in told


def test_equal_campaigns_without_a_gain_are_told_as_such():
    """Nobody found anything."""
    assert telling.findings(found(arm("a", [0.0] * 8), arm("b", [0.0] * 8))) == (
        "No campaign found a program that is better than the seed program.",
        "No difference: all campaigns of b and a ended with the same value.",
    )


@pytest.mark.parametrize(
    ("seeds", "many", "least"), [(1, "1 pair", "1"), (2, "2 pairs", "0.50 or more"), (5, "5 pairs", "0.062 or more")]
)
def test_few_seeds_are_told_to_be_too_few_without_a_p(seeds, many, least):
    """And how many would be enough."""
    one = found(arm("a", [0.0] * seeds), arm("b", [9.0] * seeds))
    assert telling.findings(one)[0] == (
        f"Nothing can be concluded of b and a from {many} of one seed: however far apart they were, p would be {least}, so that none is told. "
        "Do: run at least 6 seeds."
    )
    headings, rows = telling.duel_table(one)
    assert [dict(zip(headings, row, strict=True))["p"] for row in rows] == ["-"]
    assert [row[-2:] for row in rows] == [("-", "too few")]


def test_unpaired_arms_are_told_to_be_unpaired():
    """Seven campaigns against eight."""
    one = telling.findings(found(arm("a", [1.0, 2.0]), Group("b", (run(7, (5, 2.0)),))))[0]
    assert "from 1 campaign of each, unpaired" in one
    assert "from 7 campaigns of each, unpaired" in telling.findings(found(CLEAR[0], arm("best_of_n", [1.0] * 7)))[0]


def test_the_best_arm_comes_first():
    """Of a fitness to minimise that is the smallest; isolation and what failed stand beside it."""
    headings, rows = telling.arm_table(found(CLEAR[1], CLEAR[0]))
    assert headings[:2] == ("arm", "middle (95% interval)")
    assert [row[0] for row in rows] == ["climb", "best_of_n"]
    assert rows[0][2:] == ("10 to 17", "0.34 (0.28 to 0.40)", "8", "strict")
    assert telling.cost_table(found(CLEAR[1], CLEAR[0]))[1][0] == ("climb", "100", "5", "50 s")


def test_a_campaign_that_failed_is_counted_where_its_arm_stands():
    """And an arm without any value comes last."""
    _, rows = telling.arm_table(found(Group("bad", (failed(0, "bad"), failed(1, "bad"))), arm("good", [1.0, 2.0])))
    assert [row[0] for row in rows] == ["good", "bad"]
    assert rows[1][1:5] == ("none", "-", "0", "2 (2 failed)")


def test_claimed_scores_are_marked():
    """As everywhere."""
    claimed = Group("b", tuple(run(seed, (5, 2.0), trust="claimed") for seed in range(2)))
    _, rows = telling.arm_table(found(arm("a", [1.0, 1.0]), claimed))
    assert rows[0][1] == "2 [claimed]"


def test_tokens_and_money_are_told_where_there_are_any():
    """Medians; of a model that costs nothing no money."""
    assert telling.cost_table(found(*CLEAR))[0] == ("took (median)", "judged", "measured", "time")
    for spent, told, cells in (
        ({"tokens": 1200, "money": 0.5}, ("tokens", "usd"), [("0", "0.00"), ("1,200", "0.50")]),
        ({"tokens": 1200}, ("tokens",), [("0",), ("1,200",)]),
    ):
        courses = arm("b", [1.0, 2.0]).courses
        paid = Group("b", tuple(replace(one, spent=replace(one.spent, **spent)) for one in courses))
        headings, rows = telling.cost_table(found(arm("a", [5.0, 6.0]), paid))
        assert (headings[4:], [row[4:] for row in rows]) == (told, cells)


def test_wins_and_targets_have_a_column_for_each_arm():
    """Of unreached ones it is told how many came to them."""
    one = found(*CLEAR, targets=(12.0,))
    assert telling.win_table(one) == (
        ("won/tied/lost against", "climb", "best_of_n"),
        (("climb", "-", "8/0/0"), ("best_of_n", "0/0/8", "-")),
    )
    headings, rows = telling.target_table(one)
    assert headings == ("programs to reach", "climb", "best_of_n")
    assert ("12 (asked for)", "6/8, 50 (50 to >100)", "0/8") in rows


def test_the_scale_of_the_area_is_told():
    """Where there is one."""
    assert "seed program's value (0) to the best that is known (20, of all anchors" in telling.scale(found(*CLEAR))
    nothing = [Group("a", tuple(run(seed, seed_value=None) for seed in range(2))), arm("b", [0.0, 0.0])]
    nothing[1] = Group("b", tuple(replace(one, seed_value=None) for one in nothing[1].courses))
    assert telling.scale(found(*nothing)) == "No area is told: nothing is known that is better than the seed program."


def test_a_comparison_says_what_it_is_about():
    """The task, how many campaigns, at what, and which fitness."""
    assert telling.about(found(*CLEAR)) == (
        "2 arms on number, 8 campaigns each, all at 100 programs: nearness (max) of the best programs"
    )
    assert Fitness().direction == "max"
