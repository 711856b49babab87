"""Warnings of the engine on a terminal."""

import io
import logging
import sys

import pytest

from evolve.cli.progress import print_warnings


def test_a_warning_is_one_line_that_no_terminal_obeys(capsys: pytest.CaptureFixture[str]):
    """On stderr, once, for as long as somebody watches."""
    with print_warnings():
        logging.getLogger("evolve.models.patience").warning("model %r is down:\n\x1b[2Jno route", "m")
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith("evolve: warning: model 'm' is down:")
    assert "\x1b" not in told.err
    assert logging.getLogger("evolve").handlers == []


def test_it_goes_where_stderr_is_when_it_is_told(monkeypatch: pytest.MonkeyPatch):
    """A table that is redrawn puts itself there."""
    with print_warnings():
        above = io.StringIO()
        monkeypatch.setattr(sys, "stderr", above)
        logging.getLogger("evolve.engine").warning("model 'm' is back after 3 s")
    assert above.getvalue() == "evolve: warning: model 'm' is back after 3 s\n"
