"""Groups of commands that are named by a noun."""

import pytest


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("campaign", "lst"), "list"), (("program", "shwo", "best"), "show"), (("task", "chek"), "check")],
)
def test_a_misspelt_verb_is_told_as_one(call, words, meant):
    """And is no name of a campaign."""
    result = call(*words)
    assert result.exit_code == 2
    assert f"there is no command {words[1]!r}. Did you mean {meant!r}?" in result.stderr


def test_a_campaign_may_be_called_nearly_like_a_verb(call, short):
    """Then it is meant."""
    (short / "archive" / "campaigns" / "number.db").rename(short / "archive" / "campaigns" / "lists.db")
    assert call("program", "lists").exit_code == 0


def test_what_is_no_verb_belongs_to_list(call, short):
    """The default verb."""
    assert call("program", "number").stdout == call("program", "list", "number").stdout
