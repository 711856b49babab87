"""The process between the engine and a server: it starts the server, and nothing of the server outlives it or the engine.

A program of its own (`python -I guardian.py SECONDS COMMAND ...`), single-threaded, of the standard library alone. Its standard input is
its lifeline: however the engine ends, the end of file there ends the server. What both print goes where their output goes.

Invariant: when this process exits by itself, neither the server nor a descendant of it is left."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

CANNOT_START = 127
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_STEP = 0.02


def guard(seconds: float, command: Sequence[str]) -> int:
    """The server's whole life; its exit code, 128 and the number of the signal that ended it, or 0 where it was told to end. It gets
    so many `seconds` from the request to end until it is killed."""
    woken, told = _signals()
    _prctl(_PR_SET_DUMPABLE, 0)  # its environment holds the server's key
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_dies_with_us())
    except OSError as error:
        sys.stderr.write(f"{command[0]} does not start: {error}\n")
        return CANNOT_START
    while server.poll() is None and not _is_to_end(woken, told):
        pass
    code = server.poll()
    end(server, seconds)
    if code is None:
        return 0
    return code if code >= 0 else 128 - code


def end(server: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Asks the server's processes to end, and kills those that are left after so many seconds, with those that left its group."""
    deadline = time.monotonic() + seconds
    _signal_group(server.pid, signal.SIGTERM)
    while left := _children(server):
        if time.monotonic() > deadline:
            _signal_group(server.pid, signal.SIGKILL)
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        time.sleep(_STEP)


def _signals() -> tuple[int, list[int]]:
    """A descriptor that becomes readable at a signal, and the numbers of those that ask for the end."""
    told: list[int] = []
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: told.append(number))
    return woken, told


def _is_to_end(woken: int, told: Sequence[int]) -> bool:
    """Waits for a signal or for the lifeline; whether the server is to end."""
    ready, _, _ = select.select([sys.stdin, woken], [], [])
    if woken in ready:
        os.read(woken, 1024)
    return bool(told) or (sys.stdin in ready and not os.read(sys.stdin.fileno(), 1024))


def _children(server: "subprocess.Popen[bytes]") -> set[int]:
    """The children that have not ended: the server, and what it left behind (on Linux, where this process adopts it)."""
    alive = {server.pid} if server.poll() is None else set()
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    if not listed.exists():
        return alive
    for pid in {int(word) for word in listed.read_text().split()} - {server.pid}:
        if os.waitpid(pid, os.WNOHANG) == (0, 0):
            alive.add(pid)
    return alive


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:  # all of it has ended
        return


def _dies_with_us() -> Callable[[], None]:
    """What the server does before it is executed: it asks to be killed when this process is."""
    guardian = os.getpid()

    def ask() -> None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guardian:
            os._exit(CANNOT_START)

    return ask


def _prctl(option: int, value: int) -> None:
    """`prctl(2)`, which Linux alone has."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), *(ctypes.c_ulong(0) for _ in range(3)))


if __name__ == "__main__":
    sys.exit(guard(float(sys.argv[1]), sys.argv[2:]))
