"""The pipe to the guardian."""

import subprocess

import pytest

from evolve.models.lifeline import Lifeline


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as process:
        yield process
        process.kill()


def test_a_group_that_is_held_when_the_pipe_ends_is_killed(sleeper):
    lifeline = Lifeline()
    with lifeline.holding(sleeper.pid):
        lifeline.close()
        assert sleeper.wait(10) == -9
    lifeline.close()


def test_a_group_that_is_over_is_left_alone(sleeper):
    lifeline = Lifeline()
    with lifeline.holding(sleeper.pid):
        pass
    lifeline.close()
    assert sleeper.poll() is None


def test_a_guardian_that_is_gone_breaks_no_call(sleeper):
    lifeline = Lifeline()
    with lifeline.holding(sleeper.pid):
        lifeline._guardian.kill()
        lifeline._guardian.wait()
    lifeline.close()
    assert sleeper.poll() is None
