"""The processor time of another process, and how it is held still."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from evolve.sandbox.processes import children, thread_states
from evolve.sandbox.timing import ProcessClock, ProcessEnded, TimingUnavailable

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="clocks of other processes are Linux's"),
]

_BURNS = "while True: pass"
_SLEEPS = "import time; time.sleep(100)"
_BREEDS = """
import os, time
while True:
    if os.fork() == 0:
        while True: pass
    time.sleep(0.05)
"""
Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    started = []

    def start(source: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen([sys.executable, "-S", "-c", source], start_new_session=True)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def clock(process: "subprocess.Popen[bytes]", template: int | None = None) -> ProcessClock:
    return ProcessClock(os.pidfd_open(process.pid), template)


def waited(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_stopped_process_uses_no_time(start: Start) -> None:
    """To the nanosecond; and goes on where it was."""
    found = clock(start(_BURNS))
    waited(lambda: found.read() > 5_000_000)
    held = found.stop()
    time.sleep(0.02)
    assert (found.read(), found.holds) == (held, True)
    assert found.is_still()
    found.go_on()
    waited(lambda: found.read() > held)
    found.close()


def test_who_was_woken_meanwhile_was_not_still(start: Start) -> None:
    """By whoever it was."""
    process = start(_BURNS)
    found = clock(process)
    held = found.stop()
    process.send_signal(signal.SIGCONT)
    waited(lambda: found.read() > held)
    assert not found.is_still()
    found.close()


def test_all_that_was_started_is_stopped_and_counted(start: Start) -> None:
    """Also what is started at that moment."""
    process = start(_BREEDS)
    found = clock(process, process.pid)
    waited(lambda: found.read() > 100_000_000)
    held = found.stop()
    own = time.clock_gettime_ns((~process.pid << 3) | 2)
    born = children(process.pid)
    assert len(born) > 1
    assert {state for child in born for state in thread_states(child)} == {b"T"}
    assert (held > own, found.read()) == (True, held)
    assert found.is_still()
    found.go_on()
    found.close()


def test_a_process_that_has_ended_has_no_clock(start: Start) -> None:
    """Neither when it is asked for, nor later."""
    process = start(_SLEEPS)
    found = clock(process)
    number = os.pidfd_open(process.pid)
    process.kill()
    process.wait()
    for ask in (found.read, found.stop, lambda: ProcessClock(number)):
        with pytest.raises(ProcessEnded):
            ask()
    found.close()
    os.close(number)


def test_what_is_no_descriptor_of_a_process_is_told() -> None:
    """With what to do."""
    number = os.open(os.devnull, os.O_RDONLY)
    with pytest.raises(TimingUnavailable, match="Try: evaluate on Linux"):
        ProcessClock(number)
    os.close(number)
    with pytest.raises(TimingUnavailable, match="Try: evaluate on Linux"):
        ProcessClock(number)
