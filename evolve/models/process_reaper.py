"""Processes that end with the engine, even where that is killed or crashes.

This file is also a program of its own (`python -I -S process_reaper.py`), of the standard library alone. Each line on its standard input is
`+GROUP` for a process group that began, or `-GROUP` for one that has ended. However the engine ends, the end of file there comes, and the
groups that are left are killed. The kernel's parent-death signal would kill a program alone, and not what it has started."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress


class ProcessReaper:
    """The engine's end of the pipe to the reaping process, which starts with the first group. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def watching(self, group: int) -> Iterator[None]:
        """Has the group killed when the engine ends in here. It is over before its leader is reaped, so that its number is nobody else's."""
        self.watch(group)
        try:
            yield
        finally:
            self.leave(group)

    def watch(self, group: int) -> None:
        """Has the group killed when the engine ends, from now on."""
        self._send(f"+{group}\n")

    def leave(self, group: int) -> None:
        """Leaves the group alone from now on."""
        self._send(f"-{group}\n")

    def close(self) -> None:
        """Ends the reaping process, which kills the groups that are left."""
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                with suppress(BrokenPipeError):
                    self._process.stdin.close()
                self._process.wait()
            self._process = None

    def _send(self, line: str) -> None:
        with self._lock:
            if self._process is None:
                self._process = _start_reaper()
            assert self._process.stdin, "a pipe"
            # A reaper that somebody has killed is missed when the engine dies, and not before.
            with suppress(BrokenPipeError):
                os.write(self._process.stdin.fileno(), line.encode())


def _start_reaper() -> "subprocess.Popen[bytes]":
    # In a session of its own, no Ctrl-C of a terminal reaches it.
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        start_new_session=True,
    )


def kill_group(group: int, number: int = signal.SIGKILL) -> None:
    """Sends a signal to all processes of a group, if there are any."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def remaining_groups(lines: Iterable[bytes]) -> set[int]:
    """Returns the groups that had begun and were not over at the end; half a line, of an engine that was killed while it wrote, is ignored."""
    groups = set[int]()
    for line in lines:
        if line.endswith(b"\n") and line[1:-1].isdigit():
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
    return groups


if __name__ == "__main__":
    for remaining in remaining_groups(sys.stdin.buffer):
        kill_group(remaining)
