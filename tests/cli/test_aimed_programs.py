"""Programs of a task with objectives and constraints, in tables and alone."""

import json

from tests.written import aiming_campaign


def records(result) -> list[dict]:
    """What stdout holds, which is JSON alone."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_front_is_listed_on_demand(call, home, monkeypatch):
    """With a column for each objective."""
    monkeypatch.setenv("COLUMNS", "200")
    aiming_campaign(home).close()
    lines = call("program", "list", "--front").stdout.splitlines()
    assert lines[0].split()[:5] == ["program", "nearness", "length", "seconds", "evidence"]
    assert [line.split()[:4] for line in lines[1:]] == [
        ["number/3", "6.5", "3", "9"],
        ["number/2*", "7", "2", "8"],
        ["number/4", "6", "1.5", "5"],
    ]
    elites = call("program", "list").stdout.splitlines()
    assert elites[0].split()[4] == "violation"
    assert elites[-1].split()[:5] == ["number/6", "9", "9", "1", "0.5"]
    found = records(call("program", "list", "--front", "--json"))
    assert [objective["value"] for objective in found[0]["objectives"]] == [3.0, 9.0]
    everything = call("program", "list", "--all").stdout.splitlines()
    assert everything[-1].startswith("number/6")
    assert "ok, misses constraints" in everything[-1]


def test_a_task_without_objectives_has_no_front(call, short):
    """That is an error with its remedy, and no empty list."""
    result = call("program", "list", "--front")
    assert result.exit_code == 1
    assert "task 'number' of campaign 'number' has no objectives, so there is no front. Do:" in result.stderr


def test_a_program_is_shown_with_its_objectives_and_what_it_misses(call, home):
    """And so is one that meets the constraints."""
    aiming_campaign(home).close()
    shown = call("program", "show", "number/6").stdout
    assert "objectives   length 9 (max), seconds 1 (min)\n" in shown
    assert "constraints  missed, violation 0.5\n             memory 300, wanted at most 200\n" in shown
    assert "constraints  met\n" in call("program", "show", "number/3").stdout
    assert records(call("program", "show", "number/6", "--json"))[0]["record"]["violation"] == 0.5


def test_a_campaign_is_shown_with_its_front(call, home):
    """In JSON, too."""
    aiming_campaign(home).close()
    shown = call("campaign", "show").stdout
    assert "objectives  length 2 (max), seconds 8 (min)\n" in shown
    assert "front       3 programs, hypervolume 4.5 beyond length 1, seconds 10\n" in shown
    page = records(call("campaign", "show", "--json"))[0]
    assert (page["front"]["members"], page["closest"]) == (3, None)
