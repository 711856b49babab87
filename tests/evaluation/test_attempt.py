"""Calling a task's own code, which may raise anything."""

import sys

import pytest

from evolve.evaluation.task_code import Raised, attempt


def fails():
    raise ValueError("first\nsecond")


def test_an_answer_is_given_back():
    """Nothing is wrapped where nothing is raised."""
    assert attempt(lambda: 42) == 42


def test_what_is_raised_is_kept_with_its_traceback():
    """The traceback begins in the task's code, not in the judge's."""
    raised = attempt(fails)
    assert isinstance(raised, Raised)
    assert raised.line == "ValueError: first second"
    assert "in fails" in raised.trace
    assert "in attempt" not in raised.trace


@pytest.mark.parametrize("error", [KeyError(10**5000), ValueError("\ud800")], ids=["a long number", "half a pair"])
def test_an_error_that_cannot_be_said_is_named(error):
    """Its words may be the program's, and a judge that fails at them judges nothing."""

    def fails():
        raise error

    raised = attempt(fails)
    assert isinstance(raised, Raised)
    assert raised.line.startswith(f"{type(error).__name__}:")
    assert type(error).__name__ in raised.trace


def test_an_exit_in_a_tasks_code_is_an_error():
    """Else it would take the judge process with it."""
    raised = attempt(lambda: sys.exit(3))
    assert isinstance(raised, Raised)
    assert raised.line == "SystemExit: 3"


def test_an_interrupt_passes():
    """A person who interrupts the judge means the judge."""

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(interrupted)


def test_a_long_traceback_keeps_its_end():
    """Where the error is named."""

    def deep(left):
        if left == 0:
            raise ValueError("x" * 5000 + "the end")
        deep(left - 1)

    raised = attempt(lambda: deep(5))
    assert isinstance(raised, Raised)
    assert len(raised.trace) == 4000
    assert raised.trace.endswith("the end")
