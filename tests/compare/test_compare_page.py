"""The files of a comparison."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

from evolve.drawing import alone

from evolve.compare import Group, Question, page, weighed
from evolve.compare.picture import picture
from tests.compare.runs import CIRCUMSTANCES, arm, failed, run

HOSTILE = "<script>alert(1)</script> | [x](javascript:y) ![z](http://example.org/a.png) `|`\n# heading\x1b[2J"


def hostile():
    """Names of arms, campaigns, tasks, anchors and settings are somebody else's words."""
    about = replace(CIRCUMSTANCES, anchors=((20.0, HOSTILE),), settings={"strategy.name": HOSTILE})
    courses = tuple(run(seed, (5, 2.0), campaign=f"{HOSTILE}{seed}", circumstances=about) for seed in range(3))
    return weighed([Group(HOSTILE, courses), arm("b", [1.0, 2.0, 3.0])], Question(targets=(2.0,)))


def test_the_page_shows_the_tables_the_picture_and_how_to_do_it_again():
    """In this order."""
    text = page.markdown(weighed([arm("a", [1.0, 2.0]), arm("b", [3.0, 4.0])], Question()), "evolve compare number")
    parts = [
        "# Comparison",
        "![Best so far of each arm](comparison.svg)",
        "| arm |",
        "- Nothing can be",
        "| against a |",
        "| won/tied/lost",
        "| programs to reach",
        "## Again",
        "`evolve compare number`",
        "a-s0, a-s1",
    ]
    assert [text.find(part) for part in parts] == sorted(text.find(part) for part in parts)
    assert -1 not in [text.find(part) for part in parts]


def test_nobodys_words_mean_anything_in_the_page():
    """No HTML, no link, no heading, no cell of their own."""
    text = page.markdown(hostile(), HOSTILE)
    text = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<script>" not in text.replace("\\<script", "")
    assert "](javascript:" not in text.replace("\\](", "")
    assert "\n# heading" not in text
    assert "\x1b" not in text


def test_nobodys_words_mean_anything_in_the_picture():
    """It is well-formed, and has no element but its own."""
    root = ElementTree.fromstring(alone(picture(hostile())))
    assert "script" not in {element.tag.rpartition("}")[2] for element in root.iter()}


def test_values_are_json_without_what_json_has_no_word_for():
    """What failed is null."""
    found = weighed([Group("a", (failed(0, "a"), failed(1, "a"))), arm("b", [1.0, 2.0])], Question(baseline="b"))
    plain = json.loads(page.text(found))
    assert plain["lines"][0]["finals"] == [None, None]
    assert plain["duels"][0]["difference"]["estimate"] is None
    assert plain["fitness"]["name"] == "nearness"
    assert plain["end"] == 100.0


def test_the_picture_has_a_band_for_each_arm_and_the_anchors():
    """By their names."""
    text = picture(weighed([arm("climb", [1.0, 2.0]), arm("walk", [3.0, 4.0])], Question()))
    assert all(name in text for name in ("climb", "walk", "Somebody 2020", "programs", "nearness"))
    assert text.count("fill-opacity") == 2
