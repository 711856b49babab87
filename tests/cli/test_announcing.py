"""What is said while models are called before a campaign begins."""

import threading

import pytest

from evolve.cli import model_specs
from evolve.cli.model_specs import INTERRUPTED_CHECK, announce_calls


def test_a_slow_check_says_who_is_called(monkeypatch):
    """On one line of stderr, while it goes on."""
    told, lines = threading.Event(), []

    def say(text, *, err):
        lines.append((text, err))
        told.set()

    monkeypatch.setattr(model_specs, "say", say)
    with announce_calls(["small", "large"], after=0.0):
        assert told.wait(30)
    assert lines == [("evolve: calling small, large ...", True)]


def test_a_quick_check_says_nothing(capsys):
    """It was over before."""
    with announce_calls(["small"], after=3600.0):
        pass
    assert capsys.readouterr().err == ""


def test_an_interrupt_meanwhile_says_that_nothing_has_begun():
    """There is no log then."""
    with pytest.raises(KeyboardInterrupt, match="no log was made or changed") as caught, announce_calls(["small"]):
        raise KeyboardInterrupt
    assert str(caught.value) == INTERRUPTED_CHECK
