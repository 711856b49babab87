"""`evolve program star`, `tag` and `comment`, and what shows them."""

import json

import pytest

from evolve.store.comments import Comments


def log(home):
    return home / "archive" / "campaigns" / "number.db"


def test_a_starred_program_is_listed_and_shown(call, short):
    """And no longer when its star is taken; the log stays as it is."""
    before = log(short).read_bytes()
    assert call("program", "star", "number/2").stdout == "program  number/2\nstarred  yes\n"
    call("program", "star", "best")
    listed = [json.loads(line)["id"] for line in call("program", "list", "--starred", "--json").stdout.splitlines()]
    assert listed == [6, 2]
    assert "number/2" in call("program", "list", "number", "--starred").stdout
    assert "starred      yes" in call("program", "show", "2").stdout
    assert call("program", "unstar", "2").stdout == "program  number/2\nmarks    none\n"
    assert json.loads(call("program", "show", "2", "--json").stdout)["marks"] == {
        "starred": False,
        "tags": [],
        "comments": [],
    }
    assert log(short).read_bytes() == before


def test_tags_are_a_persons_own(call, short):
    """A program may have several."""
    for tag in ("odd", "grid like"):
        call("program", "tag", "2", tag)
    call("program", "tag", "4", "odd")
    assert "grid like, odd" in call("program", "show", "2").stdout
    tagged = [json.loads(line)["id"] for line in call("program", "list", "--tag", "odd", "--json").stdout.splitlines()]
    assert sorted(tagged) == [2, 4]
    call("program", "untag", "2", "odd")
    assert Comments(log(short)).of(2).tags == ("grid like",)
    assert "has no such record" in call("program", "list", "--tag", "none").stdout


def test_a_tag_that_a_program_has_not_cannot_be_taken(call, short):
    """With those that it has."""
    result = call("program", "untag", "2", "odd")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "2 has no tag 'odd': it has none. Do: nothing" in result.stderr
    call("program", "tag", "2", "grid like")
    assert (
        "2 has no tag 'grid lik': its tags are 'grid like'. Did you mean 'grid like'? Do: name one of them"
        in call("program", "untag", "2", "grid lik").stderr
    )
    assert call("program", "untag", "2", " grid like ").exit_code == 0


def test_a_comment_is_shown_with_who_wrote_it_and_harms_no_terminal(call, short, monkeypatch):
    """And is removed by its number."""
    monkeypatch.setenv("LOGNAME", "ann")
    call("program", "comment", "2", "why so large? \x1b[2J")
    call("program", "comment", "2", "second")
    shown = call("program", "show", "2").stdout
    assert "ann: " in shown
    assert "why so large?" in shown
    assert "\x1b" not in shown
    result = call("program", "comment", "2", "--remove", "1", "--json")
    assert [one["text"] for one in json.loads(result.stdout)["marks"]["comments"]] == ["second"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("star", "number/99"), "has no record 99"),
        (("comment", "2"), "Do: give a TEXT, or --remove NUMBER"),
        (("comment", "2", "x", "--remove", "1"), "Do: give a TEXT, or --remove NUMBER"),
        (("comment", "2", "--remove", "1"), "there is no comment 1: the program has 0"),
        (("comment", "2", "x" * 10_001), "got 10,001"),
        (("tag", "2", " "), "a tag is one line"),
    ],
)
def test_what_cannot_be_marked_is_one_line(call, short, words, message):
    """And makes nothing."""
    result = call("program", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not Comments(log(short)).path.exists()


def test_the_file_of_marks_is_no_campaign(call, short):
    """It is not listed, and none can be called so."""
    call("program", "star", "2")
    assert [json.loads(line)["name"] for line in call("campaign", "list", "--json").stdout.splitlines()] == ["number"]
    assert "does not end in .comments" in call("campaign", "show", "number.comments").stderr


def test_a_fork_begins_without_marks(call, short):
    """They are about the campaign that they were made in."""
    call("program", "star", "2")
    assert call("campaign", "fork", "number", "--name", "other", "--seed", "3").exit_code == 0
    assert call("program", "list", "other", "--starred", "--json").stdout == ""
