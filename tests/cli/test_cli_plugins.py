"""`evolve plugin`."""

import json
from importlib.metadata import EntryPoint

import pytest

from evolve.cli import plugin


@pytest.fixture
def commands(monkeypatch):
    """Commands of two modules, of which one is a plugin."""
    points = [
        EntryPoint("tune", "evolve.operators:tune", "evolve.commands"),
        EntryPoint("greet", "greetings.commands:greet", "evolve.commands"),
        EntryPoint("program.greet", "greetings.commands:greet_program", "evolve.commands"),
    ]
    monkeypatch.setattr(plugin, "entry_points", lambda group: points)


def test_bundled_plugins_are_listed_with_what_they_provide(call):
    """List is the default verb."""
    text = call("plugin").stdout
    assert "tune_literals" in text
    found = {line["name"]: line for line in map(json.loads, call("plugin", "list", "--json").stdout.splitlines())}
    assert found["evolve.operators"]["bundled"] is True
    assert {"tune_literals", "perturb_literals"} <= set(found["evolve.operators"]["operators"])
    assert {"islands", "best_of_n", "sequential", "random"} <= set(found["evolve.strategies"]["strategies"])
    assert {"mailbox", "cassette", "command"} <= set(found["evolve.models"]["models"])


def test_what_a_plugin_provides_has_a_row_for_each_kind(call):
    """What it does not provide is not told."""
    rows = [line.split() for line in call("plugin").stdout.splitlines() if line.startswith("evolve.operators ")]
    assert [row[2] for row in rows] == ["operators", "hooks"]
    assert rows[1][3] == "screen_program"


def test_commands_are_listed_with_their_plugin_or_alone(call, commands):
    """A package may bring a command and nothing else."""
    found = {line["name"]: line for line in map(json.loads, call("plugin", "list", "--json").stdout.splitlines())}
    assert found["evolve.operators"]["commands"] == ["tune"]
    assert (found["greetings.commands"]["commands"], found["greetings.commands"]["bundled"]) == (
        ["greet", "program.greet"],
        False,
    )
    assert "third party" in call("plugin").stdout
