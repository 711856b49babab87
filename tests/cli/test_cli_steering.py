"""Requests to a campaign, without and with an engine."""

import json
import os
import tomllib

import pytest

from evolve.campaign.inbox import Configure, Hint, Inbox, Request
from evolve.cli import steering
from evolve.log import Log
from evolve.types import LessonWritten, Paused, Ruled, SettingsChanged
from tests.written import Written


def log(home):
    return home / "archive" / "campaigns" / "number.db"


def events(home, kind):
    with Log.open(log(home), readonly=True) as opened:
        return [stamped.event for stamped in opened.events(only=kind)]


def test_a_ruling_says_who_is_the_best_now(call, short):
    """And nothing is left beside the log."""
    result = call("program", "quarantine", "number/6", "--why", "a cheat")
    assert result.exit_code == 0, result.output
    assert (
        result.stdout == "campaign  number\nruling    quarantined: number/6\nbest      number/2  (before: number/6)\n"
    )
    assert events(short, Ruled)[0].why == "a cheat"
    assert "quarantined  number/6" in call("campaign", "show").stdout
    released = call("program", "release", "6")
    assert released.stdout == "campaign  number\nruling    released: number/6\nbest      number/6  (before: number/2)\n"
    assert not (log(short).parent / "number.inbox").exists()
    assert call("campaign", "replay").exit_code == 0


def test_the_best_can_be_named_so(call, short):
    """With all that came of the record before it."""
    assert "quarantined: number/6" in call("program", "quarantine", "best").stdout
    found = json.loads(call("program", "quarantine", "number/2", "--descendants", "--json").stdout)
    assert (found["records"], found["former"], found["best"]) == (["number/2"], "number/2", "number/1")


def test_a_second_ruling_changes_nothing_and_says_so(call, short):
    """It is no error."""
    call("program", "quarantine", "6")
    result = call("program", "quarantine", "6")
    assert (result.exit_code, result.stdout.splitlines()[1]) == (0, "ruling    number/6 is quarantined already")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("program", "quarantine", "number/99"), "campaign 'number' has no record 99: it has 1 to 6"),
        (("program", "quarantine", "number/5"), "number/5 has no program"),
        (("program", "release", "number/x"), "a program is named NAME/ID, got 'number/x'"),
        (("program", "quarantine", "nobody/1"), "there is no campaign 'nobody'"),
        (("program", "quarantine", "1", "--descendants"), "nothing would be left in campaign 'number'"),
        (("campaign", "hint", "number", "  "), "a hint is a text, got an empty one"),
        (("campaign", "hint", "numbr", "x"), "there is no campaign 'numbr'"),
        (("campaign", "stop", "nobody"), "there is no campaign 'nobody'"),
    ],
)
def test_what_cannot_be_is_one_line_and_changes_nothing(call, short, words, message):
    """The request is gone, too."""
    result = call(*words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "Try: " in result.stderr
    with Log.open(log(short), readonly=True) as opened:
        assert opened.count() == 8
    assert not (log(short).parent / "number.inbox").exists()


def test_a_hint_is_a_lesson_that_is_shown(call, short):
    """By a person."""
    result = call("campaign", "hint", "number", "look near 7")
    assert result.stdout.startswith("campaign  number\nhint      written down as lesson 1")
    assert "lessons    look near 7  (person)" in call("campaign", "show", "number").stdout
    page = json.loads(call("campaign", "show", "number", "--json").stdout)
    assert page["lessons"] == [{"text": "look near 7", "by": "person", "about": 0}]


def test_a_hint_that_no_prompt_carries_is_said_to_be_none(call, home):
    """A campaign without models has no prompts; one with a model says nothing of it."""
    Written(home, name="plain").campaign.close()
    section = {"name": "me", "kind": "mailbox", "settings": {"folder": str(home / "mail")}}
    Written(home, name="asking", models={"members": [section]}).campaign.close()
    assert call("campaign", "hint", "plain", "look near 7").stdout == (
        "campaign  plain\nhint      written down as lesson 1; the campaign has no model, so that no prompt will carry it: "
        "it stands in the log and in the report\n"
    )
    assert call("campaign", "hint", "asking", "look near 7").stdout.endswith("written down as lesson 1\n")


def test_a_campaign_that_does_not_run_needs_no_stop(call, short):
    """It says so."""
    assert call("campaign", "stop").stdout == "campaign  number\nstop      it is not running\n"
    assert json.loads(call("campaign", "stop", "--json").stdout)["process"] is None


@pytest.mark.parametrize(
    ("command", "told"),
    [("pause", "it is not running"), ("unpause", "it is not running; evolve run --continue number goes on")],
)
def test_a_campaign_that_does_not_run_is_not_paused(call, short, command, told):
    """It says so, and nothing is written."""
    assert told in call("campaign", command, "number").stdout
    assert json.loads(call("campaign", command, "--json").stdout) == {
        "campaign": "number",
        "told": told,
        "process": None,
    }
    assert events(short, Paused) == []


def test_settings_change_where_nothing_runs(call, short):
    """At once; the next run has them."""
    result = call("campaign", "config", "number", "--set", "workers=3", "--set", "budget=['40programs']")
    assert result.stdout == "campaign  number\nsettings  changed: workers=3, budget=['40programs']\n"
    assert [event.changes for event in events(short, SettingsChanged)] == [{"workers": 3, "budget": ["40programs"]}]
    assert "36 programs" in call("campaign", "show", "number").stdout
    assert call("campaign", "replay").exit_code == 0


def test_a_campaign_file_is_printed_with_the_settings_that_may_change(call, short):
    """It runs the same search again."""
    lines = {line["key"]: line for line in map(json.loads, call("campaign", "config", "--json").stdout.splitlines())}
    assert lines["workers"] == {"key": "workers", "value": 2, "when": "any time"}
    text = call("campaign", "config", "number").stdout
    assert tomllib.loads(text)["budget"] == ["30programs"]
    assert "# May change any time: " in text
    assert "workers" in text


def test_a_setting_that_is_fixed_is_refused_with_a_fork(call, short):
    """In one line; nothing is written."""
    result = call("campaign", "config", "number", "--set", "archive.islands=2")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Try: evolve campaign fork number --set archive.islands=VALUE, which keeps all records" in result.stderr
    assert events(short, SettingsChanged) == []


def test_a_request_of_another_user_is_refused(call, short):
    """Whatever the folder lets them write; a link and a pipe are none, either."""
    if os.getuid() != 0:
        pytest.skip("only root may give a file away")
    inbox = Inbox(log(short))
    inbox.put(Request("00000001", Configure(("workers=9",))), 1.0)
    (letter,) = inbox.folder.glob("*.json")
    os.chown(letter, 12345, 12345)
    inbox.folder.chmod(0o777)
    os.mkfifo(inbox.folder / "00000000000000000002-00000002.json")
    (inbox.folder / "00000000000000000003-00000003.json").symlink_to(letter)
    assert call("campaign", "hint", "number", "mine").exit_code == 0
    assert events(short, SettingsChanged) == []
    assert len(list(inbox.folder.glob("*.refused"))) == 3


def test_an_inbox_of_another_user_is_not_read(call, short):
    """What lies in it may be replaced at any time; the command says what to do."""
    if os.getuid() != 0:
        pytest.skip("only root may give a folder away")
    inbox = Inbox(log(short))
    inbox.folder.mkdir()
    os.chown(inbox.folder, 12345, 12345)
    result = call("campaign", "hint", "number", "mine")
    assert result.exit_code == 1
    assert "belongs to another user" in result.stderr
    assert inbox.letters() == ()


def test_what_lay_in_the_inbox_is_done_first(call, short):
    """In the order in which it was asked."""
    Inbox(log(short)).put(Request("00000001", Hint("early")), 1.0)
    call("campaign", "hint", "number", "late")
    assert [event.lesson.text for event in events(short, LessonWritten)] == ["early", "late"]


@pytest.mark.integration
def test_an_engine_that_does_not_answer_is_an_error_and_the_request_is_kept(call, short, monkeypatch):
    """Whoever writes the log next does it."""
    monkeypatch.setattr(steering, "ANSWER_SECONDS", 0.1)
    with Log.open(log(short)):
        result = call("campaign", "hint", "number", "kept")
        assert result.exit_code == 1
        assert f"the engine of campaign 'number' (process {os.getpid()}) has not answered" in result.stderr
        stopped = call("campaign", "stop", "number")
        assert "has not answered" in stopped.stderr
    assert call("campaign", "hint", "number", "late").exit_code == 0
    assert [event.lesson.text for event in events(short, LessonWritten)] == ["kept", "late"]


def test_an_engine_that_ends_meanwhile_leaves_it_to_the_command(call, short, monkeypatch):
    """A stop of it has nothing to do."""
    opened = Log.open(log(short))
    monkeypatch.setattr(steering, "_POLL_SECONDS", 0.0)
    monkeypatch.setattr(steering.time, "sleep", lambda _: opened.close())
    assert "written down as lesson 1" in call("campaign", "hint", "number", "mine").stdout
    opened = Log.open(log(short))
    assert "its run has ended" in call("campaign", "stop", "number").stdout
