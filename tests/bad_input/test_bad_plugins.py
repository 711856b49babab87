"""Plugins that do not load or break: one clear message that names the plugin, and nothing lost."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Call, checked, error_of, process

pytestmark = pytest.mark.integration


def plugin(folder: Path, source: str) -> None:
    """An installed package with a plugin, as `pip` leaves one."""
    about = folder / "mine-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[evolve]\nmine = plugin_of_this_test\n")
    (folder / "plugin_of_this_test.py").write_text(source)


IMPORTS = "from evolve import hookimpl\nfrom evolve.hookspecs import OperatorEntry, StrategyEntry\n"
REGISTERS = "\n@hookimpl\ndef register_{}():\n    return [{}]\n"


@pytest.mark.parametrize("command", [["run", "number", "--budget", "3programs"], ["plugin", "list"]])
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_module\n", "plugin 'mine' raised ModuleNotFoundError: No module named 'no_such_module'"),
        ("def broken(:\n", "plugin 'mine' raised SyntaxError"),
        (IMPORTS + "@hookimpl\ndef register_strategy(): ...\n", "a hook that does not exist"),
        (IMPORTS + REGISTERS.format("operators", "1 / 0"), "plugin 'mine' raised ZeroDivisionError"),
        (
            IMPORTS + REGISTERS.format("operators", "OperatorEntry('tune_literals', None)"),
            "'tune_literals' is registered by two plugins",
        ),
    ],
    ids=["import", "syntax", "hook", "raises", "name"],
)
def test_a_plugin_that_does_not_load_is_named(home: Path, tmp_path: Path, command, source: str, message: str) -> None:
    """And nothing runs without it."""
    plugin(tmp_path / "site", source)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    with process(*command, env=environment) as running:
        out, errors = running.communicate(timeout=60)
    assert (running.returncode, out, home.exists()) == (1, "", False)
    assert message in checked(errors)


def test_an_operator_that_raises_stops_the_campaign(
    call: Call, home: Path, tmp_path: Path, digest: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After five times in a row, named; the screened records are in the log."""
    entry = "OperatorEntry('breaks', lambda settings: Breaks())"
    source = "class Breaks:\n    def propose(self, selection, context):\n        return 1 / 0\n"
    plugin(tmp_path / "site", IMPORTS + source + REGISTERS.format("operators", entry))
    monkeypatch.syspath_prepend(tmp_path / "site")
    words = ("--budget", "100programs", "--workers", "1", "--set", 'operators.names=["breaks"]')
    message = error_of(call("run", "number", *words))
    assert "'breaks' raised ZeroDivisionError: division by zero" in message
    assert "5 proposals in a row failed" in message
    assert len(digest("number")) == 64
    monkeypatch.delitem(sys.modules, "plugin_of_this_test")
