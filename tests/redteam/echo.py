"""Processes of the host that candidates may neither see nor disturb.

Invariant: one that is alive and not stopped answers; there is no other way to tell that works on every system."""

import contextlib
import select
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType

_PROGRAM = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)"
_SECONDS = 2.0


class Echo:
    """A process that says back what it is told; `words` stand in its arguments, `variables` in its environment."""

    def __init__(self, words: tuple[str, ...] = (), variables: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(variables or {}),
            bufsize=0,
        )
        self.pid = self._process.pid

    def __enter__(self) -> "Echo":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def answers(self) -> bool:
        """Whether it lives and is not stopped."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(b"?\n")
            ready, _, _ = select.select([self._process.stdout], [], [], _SECONDS)
            return bool(ready) and self._process.stdout.read(1 << 10) == b"?\n"
        return False
