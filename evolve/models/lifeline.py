"""The engine's end of the pipe to the guardian (`evolve/models/guardian.py`), which ends programs that outlive the engine.

Invariant: a group is told to be over before its leader is reaped, so that its number is nobody else's then."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evolve.models import guardian


class Lifeline:
    """A guardian that starts with the first program. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guardian: subprocess.Popen[bytes] | None = None

    @contextmanager
    def holding(self, group: int) -> Iterator[None]:
        """The group is killed when the engine ends in here."""
        self._tell(f"+{group}\n")
        try:
            yield
        finally:
            self._tell(f"-{group}\n")

    def close(self) -> None:
        """Ends the guardian, with the groups that are still held."""
        with self._lock:
            if self._guardian is not None:
                assert self._guardian.stdin, "a pipe"
                with suppress(BrokenPipeError):
                    self._guardian.stdin.close()
                self._guardian.wait()
                self._guardian = None

    def _tell(self, line: str) -> None:
        """A guardian that somebody has killed is missed when the engine dies, and not before."""
        with self._lock:
            if self._guardian is None:
                self._guardian = _started()
            assert self._guardian.stdin, "a pipe"
            with suppress(BrokenPipeError):
                os.write(self._guardian.stdin.fileno(), line.encode())


def _started() -> "subprocess.Popen[bytes]":
    """In a session of its own, where no Ctrl-C of a terminal reaches it; it needs none of our variables."""
    command = [sys.executable, "-I", "-S", str(Path(guardian.__file__))]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(
        command, bufsize=0, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, env={}, start_new_session=True
    )
