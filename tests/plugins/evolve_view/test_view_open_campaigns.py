"""Campaigns are opened once, followed, and never by a name that is a path; their list says little at once."""

import threading
import time

import pytest

from evolve import plugins
from evolve.types import ConfigError, StoreError
from evolve_view import open_campaigns
from evolve_view import open_campaigns as module
from evolve_view.open_campaigns import KEPT, CampaignLine, CampaignList, OpenCampaigns, StillOpening
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


def line_with_best(glances: CampaignList, path) -> CampaignLine:
    """The line as soon as the thread has opened the log."""
    for _ in range(500):
        line = glances.read_line("number", path)
        if line.state is not None:
            return line
        time.sleep(0.01)
    raise AssertionError("nobody opened the log")


@pytest.mark.integration
def test_a_short_log_is_opened_in_the_background(tmp_path):
    short_campaign(tmp_path).close()
    path = tmp_path / "archive" / "campaigns" / "number.db"
    line = line_with_best(CampaignList(plugins.load(), tmp_path), path)
    assert (line.header.task, line.header.records, line.header.events, line.behind) == ("number", 6, 8, 0)
    assert line.state is not None
    assert line.state.best is not None
    assert (line.state.best.name, line.state.best.fitness) == ("number/6", 6.5)


def test_a_long_log_is_not_opened_for_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHORT", 5)
    short_campaign(tmp_path).close()
    path = tmp_path / "archive" / "campaigns" / "number.db"
    glances = CampaignList(plugins.load(), tmp_path)
    line = glances.read_line("number", path)
    assert (line.long, line.state, line.behind) == (True, None, 8)
    assert not glances.read_line("number", path).state


def test_a_page_that_opened_a_log_tells_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHORT", 5)
    glances = CampaignList(plugins.load(), tmp_path)
    with short_campaign(tmp_path) as campaign:
        glances.keep(campaign)
        line = glances.read_line("number", campaign.log.path)
    assert line.state is not None
    assert (line.state.events, line.behind) == (8, 0)


def test_a_log_that_cannot_be_read_is_a_line_with_the_reason(tmp_path):
    path = tmp_path / "torn.db"
    path.write_bytes(b"no database")
    line = CampaignList(plugins.load(), tmp_path).read_line("torn", path)
    assert "torn.db" in line.header.problem
    assert (line.state, line.running) == (None, False)
