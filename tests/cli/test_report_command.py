"""`evolve report` writes one file, and replaces nothing that is not its own."""

import os

import pytest

from tests.written import Written, number_task


def test_it_writes_a_page_into_the_current_folder(short, call):
    """Named after the campaign; the command says where and how large."""
    result = call("report", "number", "--no-picture")
    page = (short / "elsewhere" / "number-report.html").read_text("utf-8")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("report  number-report.html (")
    assert page.startswith("<!doctype html>\n<!-- evolve report -->\n<html")
    assert "nearness 6.5 (+1.5 to the seed)" in page


def test_without_a_name_it_is_about_the_campaign_written_last(short, call):
    assert call("report", "--no-picture").exit_code == 0
    assert (short / "elsewhere" / "number-report.html").exists()


def test_a_dash_is_stdout(short, call):
    result = call("report", "number", "-o", "-", "--no-picture")
    assert result.stdout.startswith("<!doctype html>\n<!-- evolve report -->\n")
    assert list((short / "elsewhere").iterdir()) == []


def test_a_report_replaces_a_report_and_nothing_else(short, call):
    folder = short / "elsewhere"
    (folder / "mine.html").write_text("mine")
    refused = call("report", "number", "-o", "mine.html", "--no-picture")
    assert (refused.exit_code, (folder / "mine.html").read_text()) == (1, "mine")
    assert (
        "mine.html is there already, and is no report. Try: name another file (-o), or replace it with --force"
        in refused.stderr
    )
    assert call("report", "number", "-o", "mine.html", "--no-picture", "--force").exit_code == 0
    assert call("report", "number", "-o", "mine.html", "--no-picture").exit_code == 0
    assert "Campaign number" in (folder / "mine.html").read_text()
    assert [each.name for each in folder.iterdir()] == ["mine.html"]


@pytest.mark.parametrize(
    ("target", "said"),
    [(".", ". is a folder. Try: name a file in it"), ("nowhere/a.html", "cannot be written to nowhere/a.html")],
)
def test_what_cannot_be_written_is_said(short, call, target, said):
    result = call("report", "number", "-o", target, "--no-picture")
    assert result.exit_code == 1
    assert said in result.stderr


def test_a_campaign_that_runs_is_reported_as_it_is_now(home, call):
    """Its writer goes on."""
    written = Written(home)
    written.seed(5.0)
    with written.campaign:
        text = call("report", "number", "-o", "-", "--no-picture").stdout
        assert f"The campaign is running (process {os.getpid()})" in text
        written.proposal(6.0)
        again = call("report", "number", "-o", "-", "--no-picture").stdout
    assert "nearness 6 (+1 to the seed)" in again


@pytest.mark.integration
def test_a_picture_that_cannot_be_drawn_is_missed_and_no_more(short, call):
    """The folder of the task is gone."""
    result = call("report", "number", "-o", "-", "--sandbox", "none")
    assert result.exit_code == 0
    assert "There is no picture of the result: " in result.stdout


def test_hostile_words_stay_words(home, call):
    """Of a program, of its file's name, and of the task's author."""
    hostile = "</script><svg onload=alert(1)>"
    written = Written(home, number_task(brief=hostile))
    written.seed(5.0)
    written.proposal(6.0, operator="diff", model=hostile)
    written.campaign.close()
    page = call("report", "number", "-o", "-", "--no-picture").stdout
    assert hostile not in page
    assert "&lt;/script&gt;&lt;svg onload=alert(1)&gt;" in page
