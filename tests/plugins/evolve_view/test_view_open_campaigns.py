"""Campaigns are opened once, followed, and never by a name that is a path."""

import pytest

from evolve import plugins
from evolve.types import ConfigError, StoreError
from evolve_view.open_campaigns import KEPT, OpenCampaigns
from tests.written import Written, short_campaign


@pytest.fixture
def opened(tmp_path):
    found = OpenCampaigns(tmp_path, plugins.load())
    yield found
    found.close()


def test_a_campaign_is_opened_once_and_followed(tmp_path, opened):
    written = Written(tmp_path)
    written.seed(5.0)
    with opened.campaign("number") as first:
        assert first.state.progress.records == 1
    written.proposal(6.0)
    with opened.campaign("number") as second:
        assert second is first
        assert second.state.progress.records == 2
    written.campaign.close()


def test_another_log_under_the_same_name_is_another_campaign(tmp_path, opened):
    short_campaign(tmp_path, "number").close()
    with opened.campaign("number") as campaign:
        assert campaign.state.progress.records == 6
    other = Written(tmp_path, name="other")
    other.seed(5.0)
    other.campaign.close()
    campaigns = tmp_path / "archive" / "campaigns"
    (campaigns / "other.db").rename(campaigns / "number.db")
    with opened.campaign("number") as campaign:
        assert campaign.state.progress.records == 1


@pytest.mark.parametrize("name", ["", ".", "..", "../number", "/etc/passwd", "number.db", "a/b", "a\0b"])
def test_a_path_is_no_name(tmp_path, opened, name):
    short_campaign(tmp_path).close()
    with pytest.raises(ConfigError), opened.campaign(name):
        pass


def test_a_log_that_lies_elsewhere_is_opened_by_the_name_that_it_was_given(tmp_path):
    short_campaign(tmp_path / "there").close()
    path = tmp_path / "there" / "archive" / "campaigns" / "number.db"
    opened = OpenCampaigns(tmp_path / "here", plugins.load(), {"mine": path})
    assert opened.logs() == [("mine", path)]
    with opened.campaign("mine") as campaign:
        assert campaign.state.progress.records == 6
    opened.close()


def test_a_log_of_the_workspace_that_was_named_is_listed_once(tmp_path):
    short_campaign(tmp_path).close()
    path = tmp_path / "archive" / "campaigns" / "number.db"
    assert OpenCampaigns(tmp_path, plugins.load(), {"number": path}).logs() == [("number", path)]


def test_a_log_that_cannot_be_read_is_said_to_be_so_each_time(tmp_path, opened):
    (tmp_path / "archive" / "campaigns").mkdir(parents=True)
    (tmp_path / "archive" / "campaigns" / "torn.db").write_bytes(b"no database")
    for _ in range(2):
        with pytest.raises(StoreError), opened.campaign("torn"):
            pass


def test_the_campaigns_asked_for_longest_ago_are_closed(tmp_path, opened):
    names = [f"number-{place}" for place in range(KEPT + 1)]
    for name in names:
        written = Written(tmp_path, name=name)
        written.seed(5.0)
        written.campaign.close()
        with opened.campaign(name):
            pass
    with opened.campaign(names[-1]) as kept:
        pass
    with opened.campaign(names[-1]) as again:
        assert again is kept
    with opened.campaign(names[0]) as reopened:
        assert reopened.state.progress.records == 1
