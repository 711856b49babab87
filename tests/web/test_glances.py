"""The list of campaigns says little at once, and the best when the log was opened."""

import time

from evolve import plugins
from evolve.web import glances as module
from evolve.web.glances import Glance, Glances
from tests.written import short_campaign


def line_with_best(glances: Glances, path) -> Glance:
    """The line as soon as the thread has opened the log."""
    for _ in range(500):
        line = glances.line("number", path)
        if line.found is not None:
            return line
        time.sleep(0.01)
    raise AssertionError("nobody opened the log")


def test_a_short_log_is_opened_in_the_background(tmp_path):
    short_campaign(tmp_path).close()
    path = tmp_path / "archive" / "campaigns" / "number.db"
    line = line_with_best(Glances(plugins.load(), tmp_path), path)
    assert (line.opening.task, line.opening.records, line.opening.events, line.behind) == ("number", 6, 8, 0)
    assert line.found is not None
    assert line.found.best is not None
    assert (line.found.best.name, line.found.best.fitness) == ("number/6", 6.5)


def test_a_long_log_is_not_opened_for_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHORT", 5)
    short_campaign(tmp_path).close()
    path = tmp_path / "archive" / "campaigns" / "number.db"
    glances = Glances(plugins.load(), tmp_path)
    line = glances.line("number", path)
    assert (line.long, line.found, line.behind) == (True, None, 8)
    assert not glances.line("number", path).found


def test_a_page_that_opened_a_log_tells_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHORT", 5)
    glances = Glances(plugins.load(), tmp_path)
    with short_campaign(tmp_path) as campaign:
        glances.keep(campaign)
        line = glances.line("number", campaign.log.path)
    assert line.found is not None
    assert (line.found.events, line.behind) == (8, 0)


def test_a_log_that_cannot_be_read_is_a_line_with_the_reason(tmp_path):
    path = tmp_path / "torn.db"
    path.write_bytes(b"no database")
    line = Glances(plugins.load(), tmp_path).line("torn", path)
    assert "torn.db" in line.opening.problem
    assert (line.found, line.running) == (None, False)
