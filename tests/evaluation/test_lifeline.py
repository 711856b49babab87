"""The engine's end of the spawner."""

import os
import socket
import sys

import pytest

from evolve.evaluation.lifeline import Lifeline, clean_environment
from evolve.types import SandboxError

pytestmark = pytest.mark.integration


def test_only_named_variables_reach_a_judge():
    """No key, whatever it is called."""
    engine = {"PATH": "/bin", "HOME": "/home", "OPENAI_API_KEY": "secret", "PYTHONSTARTUP": "x", "AWS_SECRET": "secret"}
    kept = clean_environment(engine)
    assert (kept["PATH"], kept["HOME"], kept["OMP_NUM_THREADS"]) == ("/bin", "/home", "1")
    assert "secret" not in kept.values()
    assert "PYTHONSTARTUP" not in kept


def test_a_debugger_is_let_into_all_or_none():
    """And tracebacks are the engine's own business."""
    assert "EVOLVE_DEBUG" not in clean_environment({"EVOLVE_DEBUG": "1"})
    assert clean_environment({"EVOLVE_DEBUG": "attach"})["EVOLVE_DEBUG"] == "attach"


def test_modules_are_found_where_the_engine_finds_them():
    """In a checkout as in an installation; never in the working folder by chance."""
    paths = clean_environment({})["PYTHONPATH"].split(os.pathsep)
    assert paths == [path for path in sys.path if path]


@pytest.fixture
def lifeline(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    line = Lifeline.start()
    yield line
    line.close()


def test_the_end_of_a_worker_is_told(lifeline):
    """This one has no engine to talk to, and ends at once; what it printed and where it listened is closed."""
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    with ours:
        lifeline.ask_worker(3, theirs, write)
        theirs.close()
        os.close(write)
        ours.shutdown(socket.SHUT_WR)
        assert lifeline.receive() == {"ended": 3, "code": 0}
    assert os.read(read, 1000) == b""
    os.close(read)


def test_a_worker_is_killed_when_asked(lifeline):
    """Its exit code is the signal."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lifeline.ask_worker(1, theirs, 2)
        lifeline.kill_worker(1)
        assert lifeline.receive() == {"ended": 1, "code": -9}


def test_a_closed_lifeline_has_ended_its_spawner():
    """In seconds, and with success."""
    line = Lifeline.start()
    line.close()
    assert line.process.returncode == 0


def test_a_spawner_that_is_gone_is_heard(lifeline):
    """As the end of file."""
    lifeline.process.kill()
    assert lifeline.receive() is None


def test_a_spawner_that_ended_by_itself_is_replaced(lifeline, tmp_path):
    """It has removed the folder of its workers; the next one has another."""
    lifeline.control.send(b"no message")
    assert lifeline.receive() is None
    lifeline.process.wait(10)
    assert list(tmp_path.iterdir()) == []
    lifeline.restart()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lifeline.ask_worker(1, theirs, 2)
        lifeline.kill_worker(1)
        assert lifeline.receive() == {"ended": 1, "code": -9}


def test_a_python_that_cannot_be_run_is_one_clear_error(monkeypatch):
    """And nothing stays open."""
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxError, match=r"spawner does not start.*Do: check that /no/such/python can be run"):
        Lifeline.start()
