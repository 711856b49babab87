"""No process that was started below this one is overlooked."""

import os
import subprocess
import sys

import pytest

from tests.redteam.descendants import adopted, descendants, end_all_but

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which processes there are"),
]
_LEAVES_A_CHILD = """
import os, time
here, there = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(1, 3)
        os.write(there, b".")
        time.sleep(60)
    os._exit(0)
os.read(here, 1)
"""


def test_a_process_that_lost_its_parents_is_found_and_ended() -> None:
    """Though it has a session of its own."""
    before = descendants()
    with adopted():
        subprocess.run([sys.executable, "-c", _LEAVES_A_CHILD], check=True)
        left = descendants() - before
        end_all_but(before)
        assert (len(left), descendants() - before) == (1, frozenset())


def test_those_that_have_ended_are_not_counted() -> None:
    """They wait to be waited for."""
    before = descendants()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    try:
        assert descendants() == before
    finally:
        os.waitpid(pid, 0)


def test_who_is_spared_lives() -> None:
    """With those below."""
    spared = subprocess.Popen(["sleep", "60"])
    try:
        end_all_but(descendants())
        assert spared.poll() is None
    finally:
        spared.kill()
        spared.wait()
