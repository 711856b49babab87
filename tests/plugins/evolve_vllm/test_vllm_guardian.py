"""What is left of a server when the engine, its guardian, or the server itself ends: nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evolve_vllm import guardian

pytestmark = pytest.mark.integration

_SERVER = """
import json, os, signal, subprocess, sys, time
ignore = "ignore" in sys.argv
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
if ignore:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(json.dumps([os.getpid(), worker.pid]), flush=True)
if "crash" in sys.argv:
    os._exit(9)
time.sleep(600)
"""
_ENGINE = """
import subprocess, sys, time
guardian = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, start_new_session=True)
print(guardian.pid, flush=True)
time.sleep(600)
"""


def guarded(*words: str, seconds: float = 0.3) -> list[str]:
    """The command line of a guardian whose server behaves as `words` say."""
    return [sys.executable, "-I", guardian.__file__, str(seconds), sys.executable, "-c", _SERVER, *words]


def wait_until_dead(*pids: int) -> None:
    """Waits until processes have ended; a zombie has."""
    until = time.monotonic() + 15
    while any(Path(f"/proc/{pid}").exists() and ") Z" not in Path(f"/proc/{pid}/stat").read_text() for pid in pids):
        assert time.monotonic() < until, f"one of {pids} is still there"
        time.sleep(0.02)


@pytest.mark.parametrize("words", [(), ("ignore",)])
def test_the_end_of_its_lifeline_ends_the_server_and_what_it_started(words):
    """Also what ignores SIGTERM, and what left the server's session."""
    process = subprocess.Popen(guarded(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        pids = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(15) == 0
    wait_until_dead(*pids)


def test_a_server_that_crashes_leaves_nothing_and_its_exit_code_is_told():
    """Its workers would keep the GPU's memory."""
    process = subprocess.Popen(guarded("crash"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        pids = json.loads(process.stdout.readline())
        assert process.wait(15) == 9
    wait_until_dead(*pids)


def test_sigterm_ends_it_too():
    """As a system that shuts down sends it."""
    process = subprocess.Popen(guarded(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        pids = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 0
    wait_until_dead(*pids)


def test_an_engine_that_is_killed_takes_its_server_along():
    """`kill -9` gives it no time to say anything: the closed pipe does."""
    engine = subprocess.Popen([sys.executable, "-c", _ENGINE, *guarded()], stdout=subprocess.PIPE)
    with engine:
        guardian_pid = int(engine.stdout.readline())
        pids = json.loads(engine.stdout.readline())
        engine.kill()
    wait_until_dead(guardian_pid, *pids)


def test_a_guardian_that_is_killed_takes_the_server_along():
    """By the parent-death signal; what the server started is left to the server's own care then."""
    process = subprocess.Popen(guarded("ignore"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        server, worker = json.loads(process.stdout.readline())
        process.kill()
    wait_until_dead(server)
    os.kill(worker, signal.SIGKILL)


def test_a_program_that_cannot_be_executed_is_said_in_the_log():
    """With the exit code that shells give."""
    command = [sys.executable, "-I", guardian.__file__, "1", "/no/such/program"]
    done = subprocess.run(command, stdin=subprocess.PIPE, capture_output=True, text=True, timeout=15)
    assert done.returncode == guardian.CANNOT_START
    assert "/no/such/program does not start" in done.stderr
