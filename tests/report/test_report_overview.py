"""A campaign at a glance."""

import json
from dataclasses import asdict

from evolve import report
from tests.written import Written, short_campaign


def test_an_overview_holds_progress_best_archive_and_machine(tmp_path):
    """Everything that fits on a page, ready for JSON."""
    with short_campaign(tmp_path) as campaign:
        page = report.overview(campaign)
    assert (
        page.name,
        page.events,
        page.records,
        page.programs,
        page.screened,
        page.measurements,
    ) == ("number", 8, 6, 4, 1, 0)
    assert (page.best.name, page.isolation, page.hardware, page.difference) == ("number/6", "reduced", "one core", "")
    assert page.outcomes == {"ok": 4, "crashed": 1, "screened": 1}
    assert page.cells > 0
    assert json.loads(json.dumps(asdict(page)))["settings"]["budget"] == ["30programs"]


def test_a_fresh_campaign_has_a_page_too(tmp_path):
    """Without a best program."""
    with Written(tmp_path).campaign as campaign:
        page = report.overview(campaign)
    assert (page.best, page.records, page.elites) == (None, 0, 0)


def test_what_is_left_of_the_budget_is_told(tmp_path):
    """Four of thirty programs were judged."""
    with short_campaign(tmp_path) as campaign:
        assert report.budget_left(campaign, now=0.0) == "26 programs"
