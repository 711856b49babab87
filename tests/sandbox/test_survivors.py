"""What is left of a template that was killed."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from standard_box import MEANS as STANDARD
from standard_box import PYTHON, needs_standard

from evolve.sandbox.box import Box
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Limits, Program

_SOURCE = """
import os
def left(environment):
    heard, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.write(tell, b".")
        os.execve("/bin/sleep", ["sleep", "60"], os.environ if environment else {})
    os.read(heard, 1)
    return [os.getppid(), child]
"""

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("python", "means", "environment"),
    [
        pytest.param(sys.executable, PLAIN, True, id="by its environment"),
        pytest.param(
            PYTHON,
            STANDARD,
            False,
            id="by its user",
            marks=[needs_standard, pytest.mark.skipif(os.geteuid() != 0, reason="candidates are the judge's user")],
        ),
    ],
)
def test_it_ends_with_the_box(python: str, means: Means, environment: bool) -> None:
    """Though its template is no more, and it has left its session."""
    box = Box(Limits(), python, means=means)
    session = box.open(Program({"seed.py": _SOURCE}), "seed", 20)
    template, survivor = session.call("left", environment)
    os.kill(template, signal.SIGKILL)
    session.close()
    box.close()
    deadline = time.monotonic() + 5
    while lives(survivor) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not lives(survivor)
