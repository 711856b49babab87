"""What a comparison says."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from evolve.types import Fitness
from evolve_compare import report
from evolve_compare.comparison import Comparison, compare_outcomes
from evolve_compare.fairness import ComparedArm
from evolve_view.charts import alone
from tests.plugins.evolve_compare.example_outcomes import CONDITIONS, arm, failed, run

CLEAR = [arm("climb", [10.0 + seed for seed in range(8)]), arm("best_of_n", [1.0 + seed / 2 for seed in range(8)])]


def found(*groups: ComparedArm, **question: object) -> Comparison:
    """A comparison."""
    return compare_outcomes(groups, **question)


def test_a_clear_difference_is_told_with_its_interval():
    """And from what it follows."""
    told = report.list_findings(found(*CLEAR))
    assert len(told) == 1
    assert told[0].startswith(
        "climb is better than best_of_n: better by 10.8 (9.5 to 12.0), from 8 pairs of one seed (p = 0.0078"
    )
    assert told[0].endswith("corrected for 1 comparison).")


def test_no_difference_is_told_as_what_it_is():
    """With what contains 0."""
    values = [1.0, 7.0, 3.0, 4.0, 9.0, 2.0, 8.0, 5.0]
    told = report.list_findings(found(arm("a", values), arm("b", values[::-1])))[0]
    assert told.startswith("No difference between b and a is seen: the interval of the gain, ")
    assert "contains 0 (8 pairs of one seed; p = 1.00, corrected for 1 comparison)." in told


def test_equal_campaigns_without_a_gain_are_told_as_such():
    """Nobody found anything."""
    assert report.list_findings(found(arm("a", [0.0] * 8), arm("b", [0.0] * 8))) == (
        "No campaign found a program that is better than the seed program.",
        "No difference: all campaigns of b and a ended with the same value.",
    )


@pytest.mark.parametrize(
    ("seeds", "many", "least"), [(1, "1 pair", "1"), (2, "2 pairs", "0.50 or more"), (5, "5 pairs", "0.062 or more")]
)
def test_few_seeds_are_told_to_be_too_few_without_a_p(seeds, many, least):
    """And how many would be enough."""
    one = found(arm("a", [0.0] * seeds), arm("b", [9.0] * seeds))
    assert report.list_findings(one)[0] == (
        f"Nothing can be concluded of b and a from {many} of one seed: however far apart they were, p would be {least}, so that none is told. "
        "Try: run at least 6 seeds."
    )
    headings, rows = report.duel_table(one)
    assert [dict(zip(headings, row, strict=True))["p"] for row in rows] == ["-"]
    assert [row[-2:] for row in rows] == [("-", "too few")]


def test_unpaired_arms_are_told_to_be_unpaired():
    """Seven campaigns against eight."""
    one = report.list_findings(found(arm("a", [1.0, 2.0]), ComparedArm("b", (run(7, (5, 2.0)),))))[0]
    assert "from 1 campaign of each, unpaired" in one
    assert "from 7 campaigns of each, unpaired" in report.list_findings(found(CLEAR[0], arm("best_of_n", [1.0] * 7)))[0]


def test_the_best_arm_comes_first():
    """Of a fitness to minimise that is the smallest; isolation and what failed stand beside it."""
    headings, rows = report.arm_table(found(CLEAR[1], CLEAR[0]))
    assert headings[:2] == ("arm", "middle (95% interval)")
    assert [row[0] for row in rows] == ["climb", "best_of_n"]
    assert rows[0][2:] == ("10 to 17", "8", "strict", "100", "50 s")


def test_a_campaign_that_failed_is_counted_where_its_arm_stands():
    """And an arm without any value comes last."""
    _, rows = report.arm_table(found(ComparedArm("bad", (failed(0, "bad"), failed(1, "bad"))), arm("good", [1.0, 2.0])))
    assert [row[0] for row in rows] == ["good", "bad"]
    assert rows[1][1:4] == ("none", "-", "2 (2 failed)")


def test_claimed_scores_are_marked():
    """As everywhere."""
    claimed = ComparedArm("b", tuple(run(seed, (5, 2.0), trust="claimed") for seed in range(2)))
    _, rows = report.arm_table(found(arm("a", [1.0, 1.0]), claimed))
    assert rows[0][1] == "2 [claimed]"


def test_tokens_and_money_are_told_where_there_are_any():
    """Medians; of a model that costs nothing no money."""
    assert report.arm_table(found(*CLEAR))[0][-2:] == ("evaluated", "time")
    for spent, told, cells in (
        ({"tokens": 1200, "money": 0.5}, ("tokens", "usd"), [("", ""), ("1,200", "0.50")]),
        ({"tokens": 1200}, ("tokens",), [("",), ("1,200",)]),
    ):
        courses = arm("b", [1.0, 2.0]).outcomes
        paid = ComparedArm("b", tuple(replace(one, spent=replace(one.spent, **spent)) for one in courses))
        headings, rows = report.arm_table(found(arm("a", [5.0, 6.0]), paid))
        assert (headings[7:], [row[7:] for row in rows]) == (told, cells)


def test_a_comparison_says_what_it_is_about():
    """The task, how many campaigns, at what, and which fitness."""
    assert report.describe_comparison(found(*CLEAR)) == (
        "2 arms on number, 8 campaigns each, all at 100 programs: nearness (max) of the best programs"
    )
    assert Fitness().direction == "max"


HOSTILE = "<script>alert(1)</script> | [x](javascript:y) ![z](http://example.org/a.png) `|`\n# heading\x1b[2J"


def hostile():
    """Names of arms, campaigns, tasks, anchors and settings are somebody else's words."""
    about = replace(CONDITIONS, anchors=((20.0, HOSTILE),), settings={"strategy.name": HOSTILE})
    outcomes = tuple(run(seed, (5, 2.0), campaign=f"{HOSTILE}{seed}", conditions=about) for seed in range(3))
    return compare_outcomes([ComparedArm(HOSTILE, outcomes), arm("b", [1.0, 2.0, 3.0])])


def test_the_page_shows_the_tables_the_picture_and_the_campaigns():
    """In this order."""
    text = report.format_page(compare_outcomes([arm("a", [1.0, 2.0]), arm("b", [3.0, 4.0])]))
    parts = [
        "# Comparison",
        "![Best so far of each arm](comparison.svg)",
        "| arm |",
        "- Nothing can be",
        "| against a |",
        "## Campaigns",
        "a-s0, a-s1",
    ]
    assert [text.find(part) for part in parts] == sorted(text.find(part) for part in parts)
    assert -1 not in [text.find(part) for part in parts]


def test_nobodys_words_mean_anything_in_the_page():
    """No HTML, no link, no heading, no cell of their own."""
    text = report.format_page(hostile())
    text = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<script>" not in text.replace("\\<script", "")
    assert "](javascript:" not in text.replace("\\](", "")
    assert "\n# heading" not in text
    assert "\x1b" not in text


def test_nobodys_words_mean_anything_in_the_picture():
    """It is well-formed, and has no element but its own."""
    root = ElementTree.fromstring(alone(report.draw_bands(hostile())))
    assert "script" not in {element.tag.rpartition("}")[2] for element in root.iter()}


def test_values_are_json_without_what_json_has_no_word_for():
    """What failed is null."""
    found = compare_outcomes([ComparedArm("a", (failed(0, "a"), failed(1, "a"))), arm("b", [1.0, 2.0])], "b")
    plain = json.loads(report.format_json(found))
    assert plain["lines"][0]["finals"] == [None, None]
    assert plain["duels"][0]["difference"]["estimate"] is None
    assert plain["fitness"]["name"] == "nearness"
    assert plain["end"] == 100.0


def test_the_picture_has_a_band_for_each_arm_and_the_anchors():
    """By their names."""
    text = report.draw_bands(compare_outcomes([arm("climb", [1.0, 2.0]), arm("walk", [3.0, 4.0])]))
    assert all(name in text for name in ("climb", "walk", "Somebody 2020", "programs", "nearness"))
    assert text.count("fill-opacity") == 2
