"""`evolve campaign fork`."""

import json
from pathlib import Path

import pytest

from evolve.campaign import Campaign
from evolve.plugins import load

AXES = 'archive.axes=[{name="distance", low=0, high=1, bins=4}]'


def test_a_fork_says_what_it_is_and_what_is_left_of_its_budget(call, short):
    """What was spent before counts."""
    result = call("campaign", "fork", "number", "--set", AXES, "--budget", "50programs", "--seed", "3")
    assert result.exit_code == 0, result.output
    for line in (
        "campaign   number-2, forked from number: 6 records, none evaluated again",
        "spent      4 programs, 0 s before the fork, which count; budget 50programs, left 46 programs",
        "best       number-2/6  nearness 6.5 (+1.5 to the seed)",
        "next       evolve run --continue number-2",
    ):
        assert line in result.stdout, line
    replayed = call("campaign", "replay", "number-2")
    assert "equal to what the log says" in replayed.stdout
    shown = call("campaign", "show", "number-2").stdout
    assert "forked from  number" in shown
    assert "  seed = 3" in shown


def test_a_fork_whose_budget_is_spent_names_a_larger_one(call, short):
    """To type next."""
    result = call("campaign", "fork", "number", "--budget", "4programs", "--name", "mine")
    assert "next       evolve run --continue mine --budget 8programs" in result.stdout


def test_a_fork_as_json(call, short):
    """One object."""
    found = json.loads(call("campaign", "fork", "--strategy", "random", "--json").stdout)
    assert (found["name"], found["forked_from"], found["records"]) == ("number-2", "number", 6)
    assert found["best"]["name"] == "number-2/6"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "task.n=3"), "a fork evaluates nothing, so it keeps the task"),
        (
            ("--set", 'archive.axes=[{name="colour", low=0, high=1, bins=4}]'),
            "has a number for each of the axes colour",
        ),
        (("--set", "archive.axes=3"), "setting 'archive.axes'"),
        (("--strategy", "island"), "no strategy is called 'island'"),
        (("--name", "number"), "there is a campaign 'number' already"),
        (("--model", "mailbox:"), "--model 'mailbox:' names no model"),
        (("--model", "command:'"), "the settings of 'command' are not usable"),
        (("--model", "m@http://127.0.0.1:9/v1", "--budget", "5usd"), "counts money, and model 'm' has no prompt_price"),
        (("--budget", "5"), "a budget cannot be used: got '5'"),
    ],
)
def test_a_fork_that_cannot_be_makes_nothing(call, short, words, message):
    """One line."""
    result = call("campaign", "fork", "number", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert [path.name for path in (short / "archive" / "campaigns").glob("*.db")] == ["number.db"]


def test_a_campaign_without_models_is_forked_with_some(call, short):
    """Its operators are those of a campaign with models then, and their resource that of its budget."""
    assert call("campaign", "fork", "number", "--model", "mailbox:mail", "--budget", "9calls").exit_code == 0
    with Campaign.open("number-2", load(), short) as forked:
        (member,) = forked.settings.models.members
    assert (member.name, member.settings["folder"]) == ("mailbox", str(Path("mail").absolute()))
    shown = call("campaign", "show", "number-2").stdout
    assert 'models.resource = "calls"' in shown
