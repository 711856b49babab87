"""Settings by their dotted names, and what was decided when."""

from tests.plugins.evolve_view.hostile import text_of
from tests.written import Written


def test_a_later_setting_is_the_one_that_is_shown(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.campaign.change({"budget": ["77programs"]})
    written.campaign.close()
    page = " ".join(text_of(browse(tmp_path).get("/c/number/settings").text).split())
    assert 'budget ["77programs"]' in page
    assert 'changed: budget = ["77programs"]' in page
    assert "archive.islands 4" in page
    assert "a run on one core, isolation reduced" in page
    assert "Find the number." in page
