"""The reports that the documentation keeps as examples."""

import re
from pathlib import Path

import pytest

from evolve_view.commands import MARK

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("*-report.html"))


def test_there_are_two():
    """One with a certificate, one with held-out cases."""
    assert [path.name for path in EXAMPLES] == ["circle_packing-report.html", "online_bin_packing-report.html"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_a_report_that_tells_of_no_machine_and_is_linked(path):
    """It has no folder of whoever made it, and is no larger than a page may be."""
    text = path.read_text("utf-8")
    assert MARK in text[:100]
    assert len(text) < 1_500_000
    plain = re.sub(r"data:image/svg\+xml;base64,[^\"]*", "", text)
    assert re.findall(r"[\s\"'(>](?:/(?:home|root|tmp|work|Users|var|mnt)/\S*)", plain) == []
    assert f"(examples/{path.name})" in (DOCS / "inspecting.md").read_text("utf-8")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_shows_a_campaign_that_found_something(path):
    """With the chart of its best so far."""
    text = path.read_text("utf-8")
    assert "No improvement" not in text.split("<nav", 1)[0]
    assert "best so far: " in text
