"""The list of campaigns says little at once, and the best when the log was opened."""

import time

from evolve import plugins
from evolve_view import open_campaigns as module
from evolve_view.open_campaigns import CampaignLine, CampaignList
from tests.written import short_campaign


def line_with_best(glances: CampaignList, path) -> CampaignLine:
    """The line as soon as the thread has opened the log."""
    for _ in range(500):
        line = glances.read_line("number", path)
        if line.state is not None:
            return line
        time.sleep(0.01)
    raise AssertionError("nobody opened the log")


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
