"""The list of campaigns."""

import pytest

from evolve_view.campaigns import CampaignLines
from tests.plugins.evolve_view.hostile import text_of
from tests.written import Written, number_task, short_campaign


@pytest.fixture
def home(tmp_path):
    short_campaign(tmp_path, "one").close()
    written = Written(tmp_path, name="two")
    written.seed(5.0)
    written.proposal(5.5)
    written.campaign.close()
    other = Written(tmp_path, number_task(name="elsewhere"), name="three")
    other.seed(5.0)
    other.campaign.close()
    return tmp_path


def read(browse, home, path) -> str:
    answer = browse(home).get(path)
    assert answer.status_code == 200
    return " ".join(text_of(answer.text).split())


def test_an_empty_workspace_says_how_to_begin(browse, tmp_path):
    assert "evolve run online_bin_packing" in read(browse, tmp_path, "/")


def test_the_list_has_task_best_programs_and_strategy_of_each(browse, home):
    page = read(browse, home, "/")
    assert "three elsewhere 5 nearness 0 islands 30programs" in page
    assert "one number 6.5 nearness 4 islands 30programs" in page
    assert page.index("three") < page.index("two") < page.index("one")


def test_a_noisy_best_is_the_mean_of_its_evaluations_with_their_error(browse, tmp_path):
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.again(1, 4.0)
    written.campaign.close()
    assert "number 4.5 ± 0.5 nearness" in read(browse, tmp_path, "/")


def test_a_log_that_cannot_be_read_is_a_line(browse, home):
    (home / "archive" / "campaigns" / "torn.db").write_bytes(b"no database")
    assert "torn cannot be read:" in read(browse, home, "/")


def test_a_log_that_is_written_is_read_again(tmp_path):
    lines, written = CampaignLines(), Written(tmp_path)
    written.seed(5.0)
    path = written.campaign.log.path
    first = lines.read(path)
    assert (first.state, first.best, first.programs) == ("running", 5.0, 0)
    written.proposal(6.0)
    written.campaign.close()
    second = lines.read(path)
    assert (second.state, second.best, second.programs) == ("", 6.0, 1)
    assert lines.read(path) is second
