"""A workspace with two tasks, the command line in this process, and a campaign that has ended."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import TASK, Call, write

from evolve.cli import evolve


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace, which is not there yet. The current folder is another one, with the tasks `number` and `other`."""
    monkeypatch.setenv("EVOLVE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("EVOLVE_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    write("number", TASK)
    write("other", TASK)
    return tmp_path / "home"


@pytest.fixture
def call(home: Path) -> Call:
    """The command line on some words, in this process."""
    return lambda *words: CliRunner().invoke(evolve, [str(word) for word in words], prog_name="evolve")


@pytest.fixture
def digest(call: Call, home: Path) -> Callable[[str], str]:
    """What a log holds, proven by a replay."""

    def of(name: str) -> str:
        result = call("campaign", "replay", name, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["digest"]

    return of


@pytest.fixture
def finished(call: Call) -> str:
    """A campaign on the task `number` that has spent its budget of three programs."""
    result = call("run", "number", "--budget", "3programs", "--workers", "1")
    assert result.exit_code == 0, result.output
    return "number"
