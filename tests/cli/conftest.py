"""A workspace for commands, and the command line in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evolve.cli import evolve
from tests.written import short_campaign


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh workspace that the commands use; the current folder is another one."""
    monkeypatch.setenv("EVOLVE_HOME", str(tmp_path))
    monkeypatch.delenv("EVOLVE_DEBUG", raising=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


@pytest.fixture
def call(home: Path) -> Callable[..., Result]:
    """Runs the command line on some words."""
    return lambda *words: CliRunner().invoke(evolve, [str(word) for word in words], prog_name="evolve")


@pytest.fixture
def short(home: Path) -> Path:
    """The workspace with the campaign `number` of six records."""
    short_campaign(home).close()
    return home
