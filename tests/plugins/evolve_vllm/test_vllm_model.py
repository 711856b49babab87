"""A model that `vllm serve` answers for, from its start to its end, against a program that plays `vllm`."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import pytest

from evolve.types import ModelDown, ModelError, ModelGone
from evolve_vllm import model

pytestmark = pytest.mark.integration


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_dead(pid: int) -> None:
    """Waits until a process has ended."""
    until = time.monotonic() + 15
    while is_alive(pid):
        assert time.monotonic() < until, f"process {pid} is still there"
        time.sleep(0.02)


def test_nothing_is_started_before_it_is_needed(stage):
    """Making the model and closing it is free: plugins are listed, and settings resolved, without a server."""
    made = stage()
    made.model.close()
    assert made.starts() == []


def test_a_check_starts_the_server_and_waits_until_it_is_well(stage):
    """Also where that takes its time; the next call finds it there."""
    made = stage("--seconds", "0.6")
    made.check()
    assert made.ask("hello") == "echo: hello"
    assert len(made.starts()) == 1


def test_calls_start_it_too_and_do_not_wait(stage):
    """A call is told that the model is down, as the outage policy wants it, until the server is well."""
    made = stage("--seconds", "0.3")
    with pytest.raises(ModelDown, match="does not answer yet") as caught:
        made.ask("hello")
    assert caught.value.retry_after > 0
    assert made.ask_again("hello") == "echo: hello"
    assert len(made.starts()) == 1


def test_a_check_that_runs_out_of_time_leaves_the_server_starting(stage):
    """The next check finds what the first has begun."""
    made = stage("--seconds", "0.6")
    with pytest.raises(ModelDown, match=r"does not answer yet(.|\n)*Try: give it more time"):
        made.check(seconds=0.3)
    made.check()
    assert len(made.starts()) == 1


def test_a_check_ends_soon_after_it_is_cancelled(stage):
    """However long the server would take."""
    made, cancelled = stage("--seconds", "60"), threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    with pytest.raises(ModelError, match="cancelled"):
        made.model.check(time.monotonic() + 60, cancelled)


def test_the_key_is_in_the_environment_and_nowhere_else(stage, tmp_path):
    """Each start has a key of its own, and the engine's own keys stay with the engine."""
    made = stage("--finds-its-port-taken", engine={"OPENAI_API_KEY": "sk-secret", "HF_HOME": "/models"})
    made.check()
    first, second = made.starts()
    keys = [start["environment"]["VLLM_API_KEY"] for start in (first, second)]
    assert len(set(keys)) == 2
    assert keys[1] == made.clients[-1].key
    assert all(key not in " ".join(start["argv"]) for key in keys for start in (first, second))
    assert "OPENAI_API_KEY" not in first["environment"]
    assert first["environment"]["HF_HOME"] == "/models"
    assert keys[1] not in made.log.read_text()
    assert keys[1] not in repr(made.model)
    assert "sk-secret" not in repr(made.model)


def test_a_port_that_somebody_else_takes_meanwhile_is_given_up_for_another(stage):
    """Between the choice of a port and the server's start."""
    made = stage("--finds-its-port-taken")
    made.check()
    assert made.ask("hello") == "echo: hello"
    assert len(made.starts()) == 2


def test_a_server_that_never_comes_up_is_an_error_with_the_end_of_its_log(stage, tmp_path):
    """It is not started again: what is wrong is said once, and stays wrong."""
    made = stage("--fails", "ValueError: the model's context is too long for this GPU")
    for _ in range(2):
        with pytest.raises(ModelGone) as caught:
            made.check()
        message = str(caught.value)
        assert "ended with exit code 3" in message
        assert message.endswith("INFO loading org/tiny\nValueError: the model's context is too long for this GPU")
        assert str(made.log) in message
    assert len(made.starts()) == 1


def test_a_server_that_takes_too_long_is_stopped(stage):
    """And the error says how long it had, and what it said."""
    made = stage("--seconds", "60", start_seconds=2.0)
    with pytest.raises(ModelGone, match=r"did not answer in 2 s(.|\n)*loading org/tiny"):
        made.check()
    wait_until_dead(made.starts()[0]["pid"])


def test_a_server_that_dies_is_started_again(stage):
    """Meanwhile the model is down, and not gone. The new start has another port and key."""
    made = stage()
    made.check()
    with pytest.raises(ModelDown):
        made.ask("die")
    assert made.ask_again("hello") == "echo: hello"
    assert len(made.starts()) == 2
    assert made.clients[0].closed


def test_a_server_that_dies_again_and_again_is_given_up(stage, monkeypatch):
    """After so many tries within an hour."""
    monkeypatch.setattr(model, "RESTARTS", 2)
    made = stage()
    made.check()
    for _ in range(2):
        with pytest.raises(ModelDown):
            made.ask("die")
        assert made.ask_again("hello") == "echo: hello"
    with pytest.raises(ModelDown):
        made.ask("die")
    with pytest.raises(ModelGone, match="exit code 7 and was started again 2 times"):
        made.ask_again("hello")
    assert len(made.starts()) == 3


def test_a_server_that_is_ill_is_stopped_and_started_again(stage):
    """It runs and answers no call any more: a call that fails makes the plugin ask for its health."""
    made = stage(start_seconds=2.0)
    made.check()
    with pytest.raises(ModelDown):
        made.ask("fall ill")
    assert made.ask_again("hello") == "echo: hello"
    assert len(made.starts()) == 2


def test_closing_ends_the_server_and_all_that_it_started(stage):
    """Also what ignores signals."""
    made = stage("--ignores-signals", "--starts-a-worker")
    made.check()
    start = made.starts()[0]
    assert is_alive(start["worker"])
    made.model.close()
    assert [is_alive(start["pid"]), is_alive(start["worker"])] == [False, False]
    with pytest.raises(ModelGone, match="was closed"):
        made.ask("hello")


def test_where_the_program_is_missing_nothing_is_started(stage):
    """And the error says how to get it."""
    made = stage(command="no-such-vllm")
    with pytest.raises(ModelGone, match=r"there is no program 'no-such-vllm'\. Try: pip install vllm"):
        made.check()


def test_a_log_that_cannot_be_written_is_an_error(stage, monkeypatch):
    """Before anything is started."""
    made = stage()
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with pytest.raises(ModelGone, match=r"cannot be written.*TMPDIR"):
        made.check()
    assert made.starts() == []


def test_the_log_is_for_its_owner_alone(stage, tmp_path):
    """It may quote prompts."""
    made = stage()
    made.check()
    assert oct(made.log.stat().st_mode & 0o777) == "0o600"


ENGINE = """
import sys, threading, time
from evolve import plugins
settings = {"model": "org/tiny", "command": sys.argv[1], "gpus": 0, "args": ["--notes", sys.argv[2], "--starts-a-worker"]}
plugins.load([]).model("vllm", settings).check(time.monotonic() + 60, threading.Event())
print("well", flush=True)
time.sleep(600)
"""


def test_an_engine_that_is_killed_takes_its_server_along(vllm, tmp_path):
    """`kill -9` gives it no time to say anything: the closed pipe does."""
    command = [sys.executable, "-c", ENGINE, vllm, str(tmp_path / "notes")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}) as engine:
        assert engine.stdout.readline() == b"well\n"
        engine.kill()
    start = json.loads((tmp_path / "notes").read_text())
    wait_until_dead(start["pid"])
    wait_until_dead(start["worker"])
