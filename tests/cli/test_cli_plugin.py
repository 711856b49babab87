"""`evolve plugin list` and `evolve plugin new`."""

import errno
import json
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from evolve.cli import plugin
from evolve.cli.plugin import starter_files


@pytest.fixture
def commands(monkeypatch):
    """Commands of a module that is no plugin."""
    points = [
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
    assert {"tune_literals", "perturb_literals"} <= set(found["evolve.operators"]["provides"]["operators"])
    assert {"islands", "best_of_n", "sequential", "random"} <= set(found["evolve.strategies"]["provides"]["strategies"])
    assert {"mailbox", "cassette", "command"} <= set(found["evolve.models"]["provides"]["models"])


def test_what_a_plugin_provides_has_a_row_for_each_kind(call):
    """What it does not provide is not told."""
    rows = [line.split() for line in call("plugin").stdout.splitlines() if line.startswith("evolve.operators ")]
    assert [row[2] for row in rows] == ["operators", "hooks"]
    assert rows[1][3] == "screen_program"


def test_commands_are_listed_by_their_module(call, commands):
    """A package may bring a command and nothing else."""
    found = {line["name"]: line for line in map(json.loads, call("plugin", "list", "--json").stdout.splitlines())}
    assert found["greetings.commands"]["provides"] == {"commands": ["greet", "program.greet"]}
    assert found["greetings.commands"]["bundled"] is False
    assert "third party" in call("plugin").stdout


def test_a_package_has_the_name_that_was_asked_for():
    """No trace is left of the name that the starter has here."""
    files = starter_files("swap")
    assert set(files) == {"README.md", "pyproject.toml", "src/evolve_swap/__init__.py", "tests/test_swap.py"}
    assert [path for path, text in files.items() if "starter" in path + text] == []


def test_a_package_names_its_module_by_an_entry_point():
    """In the group `evolve`."""
    project = tomllib.loads(starter_files("deep_swap")["pyproject.toml"])["project"]
    assert (project["name"], project["entry-points"]) == (
        "evolve-deep-swap",
        {"evolve": {"deep_swap": "evolve_deep_swap"}},
    )


@pytest.mark.integration
def test_a_package_is_formatted_and_linted(tmp_path):
    """By the rules that ruff has by itself."""
    for path, text in starter_files("swap").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for words in (["format", "--check"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--no-cache", "."], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_it_is_written_into_a_folder_of_its_name(call, home):
    """And the next commands are told."""
    result = call("plugin", "new", "evolve-deep-swap")
    assert result.exit_code == 0, result.output
    folder = home / "elsewhere" / "evolve-deep-swap"
    assert (folder / "src" / "evolve_deep_swap" / "__init__.py").is_file()
    assert "wrote  evolve-deep-swap, with the operator 'deep_swap'" in result.stdout
    assert "evolve plugin check deep_swap" in result.stdout


def test_nothing_is_overwritten(call, home):
    """Not one file."""
    assert call("plugin", "new", "swap").exit_code == 0
    readme = home / "elsewhere" / "evolve-swap" / "README.md"
    readme.write_text("mine")
    result = call("plugin", "new", "swap")
    assert result.exit_code == 1
    assert "there is 'evolve-swap' already. Try: choose another name" in result.stderr
    assert readme.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Swap", "a plugin's name is made of small letters, digits, - and _"),
        ("9lives", "got '9lives'"),
        ("a/b", "got 'a/b'"),
        ("evolve-", "got 'evolve-'"),
        ("tune_literals", "there is the operator 'tune_literals' already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(call, home, name, message):
    """Before anything is written."""
    result = call("plugin", "new", name)
    assert (result.exit_code, list((home / "elsewhere").iterdir())) == (1, [])
    assert message in result.stderr


def test_a_place_that_cannot_be_written_is_one_message(call, home, monkeypatch):
    """With what the system says."""

    def refuse(path: Path, *given: object, **named: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    result = call("plugin", "new", "swap")
    assert result.exit_code == 1
    assert "'evolve-swap' cannot be written: Permission denied" in result.stderr
