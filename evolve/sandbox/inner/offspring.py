"""A candidate's process with all that it starts, as the template that forked it sees them.

Standard library and siblings only, for it lives in the template. Invariant: `end` and `sweep` return when nothing of it lives, however it was left."""

import contextlib
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

from evolve.sandbox.family import children

_PEAK_UNIT = 1024 if sys.platform == "linux" else 1
MEMORY = "used more memory than the program may have"


@dataclass(slots=True)
class Offspring:
    """`handle` is a descriptor that becomes readable when the candidate ends, or -1. `alone`: the template is the first process of its own
    namespace, in which every other process is the candidate's. `exceeded`: what it had too much of, in words, so that it was ended. `problem`: why it never became a
    candidate. `late`: seconds from the judge's word to its beginning."""

    pid: int
    handle: int
    alone: bool
    code: int | None = None
    killed: bool = False
    exceeded: str = ""
    problem: str = ""
    late: float = 0.0
    cpu_seconds: float = 0.0
    peak: int = 0
    strays: int = 0
    swept: bool = False

    @property
    def over(self) -> bool:
        """Nothing of it lives."""
        return self.swept

    def has_ended(self) -> bool:
        """Whether the process itself has ended; does not wait."""
        return self.code is not None or self._reap(self.pid, os.WNOHANG)

    def end(self) -> None:
        """Ends the process and everything that it started; waits until all is gone."""
        if not self.has_ended():
            self.killed = True
            # Its group first: that also stops what is being forked at this moment. It has none if it has not come that far.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            os.kill(self.pid, signal.SIGKILL)
            self._reap(self.pid, 0)
        self.sweep()

    def sweep(self) -> None:
        """Ends what the candidate left. Each that dies leaves its own children here: again until there is none."""
        while True:
            try:
                if self._reap(-1, os.WNOHANG):
                    continue
                self._kill_all()
                self._reap(-1, 0)
            except ChildProcessError:
                self.swept = True
                return

    def _kill_all(self) -> None:
        if self.alone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            return
        for pid in children(os.getpid()):
            os.kill(pid, signal.SIGKILL)

    def _reap(self, which: int, options: int) -> bool:
        pid, status, used = os.wait4(which, options)
        if pid == 0:
            return False
        self.cpu_seconds += used.ru_utime + used.ru_stime
        self.peak = max(self.peak, used.ru_maxrss * _PEAK_UNIT)
        if pid == self.pid:
            if self.handle >= 0:
                os.close(self.handle)
            self.code = os.waitstatus_to_exitcode(status)
        else:
            self.strays += 1
        return True

    def report(self) -> dict[str, Any]:
        """What the judge is told."""
        return {
            "code": self.code,
            "killed": self.killed,
            "exceeded": self.exceeded,
            "problem": self.problem,
            "late": self.late,
            "cpu_seconds": self.cpu_seconds,
            "peak_bytes": self.peak,
            "strays": self.strays,
        }


def handle(pid: int) -> int:
    """A descriptor for a child; -1 where the system has none, which is then looked at now and then."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1
