"""Campaigns are opened once, followed, and never by a name that is a path."""

import threading

import pytest

from evolve import plugins
from evolve.types import ConfigError, StoreError
from evolve_view import open_campaigns
from evolve_view.open_campaigns import KEPT, OpenCampaigns, StillOpening
from tests.written import Written, short_campaign


@pytest.fixture
def shelf(tmp_path):
    found = OpenCampaigns(tmp_path, plugins.load())
    yield found
    found.close()


def test_a_campaign_is_opened_once_and_followed(tmp_path, shelf):
    written = Written(tmp_path)
    written.seed(5.0)
    with shelf.campaign("number") as first:
        assert first.state.progress.records == 1
    written.proposal(6.0)
    with shelf.campaign("number") as second:
        assert second is first
        assert second.state.progress.records == 2
    written.campaign.close()


def test_another_log_under_the_same_name_is_another_campaign(tmp_path, shelf):
    short_campaign(tmp_path, "number").close()
    with shelf.campaign("number") as campaign:
        assert campaign.state.progress.records == 6
    other = Written(tmp_path, name="other")
    other.seed(5.0)
    other.campaign.close()
    campaigns = tmp_path / "archive" / "campaigns"
    (campaigns / "other.db").rename(campaigns / "number.db")
    with shelf.campaign("number") as campaign:
        assert campaign.state.progress.records == 1


@pytest.mark.parametrize("name", ["", ".", "..", "../number", "/etc/passwd", "number.db", "a/b", "a\0b"])
def test_a_path_is_no_name(tmp_path, shelf, name):
    short_campaign(tmp_path).close()
    with pytest.raises(ConfigError), shelf.campaign(name):
        pass


def test_a_log_that_lies_elsewhere_is_opened_by_the_name_that_it_was_given(tmp_path):
    short_campaign(tmp_path / "there").close()
    path = tmp_path / "there" / "archive" / "campaigns" / "number.db"
    shelf = OpenCampaigns(tmp_path / "here", plugins.load(), {"mine": path})
    assert shelf.logs() == [("mine", path)]
    with shelf.campaign("mine") as campaign:
        assert campaign.state.progress.records == 6
    shelf.close()


def test_a_log_of_the_workspace_that_was_named_is_listed_once(tmp_path):
    short_campaign(tmp_path).close()
    path = tmp_path / "archive" / "campaigns" / "number.db"
    assert OpenCampaigns(tmp_path, plugins.load(), {"number": path}).logs() == [("number", path)]


def test_a_log_that_takes_long_is_said_to_be_opening_and_is_there_later(tmp_path, shelf, monkeypatch):
    short_campaign(tmp_path).close()
    held, opened = threading.Event(), open_campaigns.Campaign.open

    def slowly(*arguments):
        assert held.wait(10)
        return opened(*arguments)

    monkeypatch.setattr(open_campaigns.Campaign, "open", slowly)
    monkeypatch.setattr(open_campaigns, "OPENING_SECONDS", 0.01)
    for _ in range(2):
        with pytest.raises(StillOpening), shelf.campaign("number"):
            pass
    held.set()
    monkeypatch.setattr(open_campaigns, "OPENING_SECONDS", 10.0)
    with shelf.campaign("number") as campaign:
        assert campaign.state.progress.records == 6


def test_a_log_that_cannot_be_read_is_said_to_be_so_each_time(tmp_path, shelf):
    (tmp_path / "archive" / "campaigns").mkdir(parents=True)
    (tmp_path / "archive" / "campaigns" / "torn.db").write_bytes(b"no database")
    for _ in range(2):
        with pytest.raises(StoreError), shelf.campaign("torn"):
            pass


def test_the_campaigns_asked_for_longest_ago_are_closed(tmp_path, shelf):
    names = [f"number-{place}" for place in range(KEPT + 1)]
    for name in names:
        written = Written(tmp_path, name=name)
        written.seed(5.0)
        written.campaign.close()
        with shelf.campaign(name):
            pass
    with shelf.campaign(names[-1]) as kept:
        pass
    with shelf.campaign(names[-1]) as again:
        assert again is kept
    with shelf.campaign(names[0]) as reopened:
        assert reopened.state.progress.records == 1
