"""Calls to the kernel, in processes of their own."""

import resource
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform != "linux", reason="calls Linux")]

GET_DUMPABLE = 3
CLOSED = f"""
import resource
from evolve.sandbox.kernel import close_to_others, prctl
close_to_others()
print(prctl({GET_DUMPABLE}), resource.getrlimit(resource.RLIMIT_CORE))
"""


@pytest.mark.parametrize("value", ["", "1"])
def test_a_process_closes_itself_to_others(value: str) -> None:
    """And leaves no core file, nor is a program called for one; to see tracebacks opens nothing."""
    allowed = resource.getrlimit(resource.RLIMIT_CORE)[1] != 0
    done = subprocess.run(
        [sys.executable, "-c", CLOSED],
        env={"EVOLVE_DEBUG": value, "PYTHONPATH": _modules()},
        capture_output=True,
        text=True,
    )
    assert (done.stdout.strip(), done.stderr) == ("0 (1, 1)" if allowed else "0 (0, 0)", "")


def test_a_debugger_may_be_let_in() -> None:
    """By the environment, for who wants it."""
    environment = {"EVOLVE_DEBUG": "attach", "PYTHONPATH": _modules()}
    done = subprocess.run([sys.executable, "-c", CLOSED], env=environment, capture_output=True, text=True)
    assert done.stdout.split()[0] == "1"


def test_a_program_that_is_started_begins_open() -> None:
    """So each closes itself."""
    script = (
        "import subprocess, sys; from evolve.sandbox.kernel import close_to_others; close_to_others(); "
        f"print(subprocess.run([sys.executable, '-c', 'from evolve.sandbox.kernel import prctl; print(prctl({GET_DUMPABLE}))'], "
        "capture_output=True, text=True).stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": _modules()}, capture_output=True, text=True
    )
    assert done.stdout.split() == ["1"]


def test_a_call_that_fails_says_which() -> None:
    """None fails silently."""
    script = "from evolve.sandbox.kernel import prctl; prctl(999999)"
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": _modules()}, capture_output=True, text=True
    )
    assert "prctl: Invalid argument" in done.stderr


def _modules() -> str:
    return ":".join(path for path in sys.path if path)
