"""How much processor time a candidate's process has used, and a way to hold it still: the kernel's word, read from outside.

A process's clock counts all its threads, those that have ended too, in nanoseconds; the number of that clock is made of the pid as
`clock_getcpuclockid(3)` makes it (https://man7.org/linux/man-pages/man3/clock_getcpuclockid.3.html). What runs at the moment is counted up to
now, so that of a process which rests two readings are equal.

Invariant: a reading never falls, and it misses nothing of a process that lives."""

import contextlib
import os
import select
import signal
import time

from evolve.sandbox.family import PROCESSES, descendants, thread_states, threads_sleep
from evolve.types import SandboxError

_OF_A_PROCESS = 2
"""CPUCLOCK_SCHED: what the scheduler has counted."""
_READINGS = 400
"""So many times is a process looked at that should come to rest; each takes a microsecond."""
_STOPPING = 5.0
"""Seconds that it may take until all threads have stopped; on a machine that is busy beyond measure they get a turn late."""
_LEAVING = 0.05
"""Seconds that a stopped thread gets for its last steps, where the kernel does not tell whether it has made them."""
_LAST_STEPS = 200_000
"""Nanoseconds that these may take afterwards, where it does not tell."""
_RESTING = frozenset({b"T", b"t", b"Z", b"X"})
_REMEDY = "Do: judge on Linux 5.4 or newer, with /proc, outside of a container that hides processes; or time nothing"


class TimingUnavailable(SandboxError):
    """This machine does not let the judge read the clock of a candidate's process."""


class ProcessEnded(Exception):
    """There is no process any more whose clock could be read."""


class Unstoppable(Exception):
    """A process does not stop in time."""


class ProcessClock:
    """Of the process behind the descriptor `handle` (a pidfd, which it owns) and, where a process `template` is named, of all that descends from that
    one. Raises `TimingUnavailable`, and `ProcessEnded` where it has ended already. Used by one thread."""

    def __init__(self, handle: int, template: int | None = None) -> None:
        self._handle = handle
        self._template = template
        self._pid = _pid(handle)
        self._counted: dict[int, int] = {}
        self._held: int | None = None
        # How far a reading may move while the process is stopped.
        self._slack = 0
        try:
            time.clock_gettime_ns(_number(self._pid))
        except OSError as error:
            if self._has_ended():
                raise ProcessEnded from error
            raise TimingUnavailable(
                f"the processor time of a candidate's process cannot be read here: {error}. {_REMEDY}"
            ) from error

    @property
    def holds(self) -> bool:
        """Whether the process was stopped here and did not go on yet."""
        return self._held is not None

    def read(self) -> int:
        """Nanoseconds, when the process has come to rest; those up to now, where it goes on working."""
        pids = self._pids()
        before = self._total(pids)
        for _ in range(_READINGS):
            now = self._total(pids)
            if now == before:
                break
            before = now
        return before

    def stop(self) -> int:
        """Stops all threads of all its processes, and gives what they have used. Raises `Unstoppable` and `ProcessEnded`."""
        deadline = time.monotonic() + _STOPPING
        known: set[int] = set()
        while True:
            pids = self._pids()
            moving = [pid for pid in pids if not _RESTING.issuperset(thread_states(pid))]
            # What is started while others are stopped is found in the next round: the last one finds nothing new.
            if not moving and pids == known:
                self._await_sleep(pids)
                self._held = self.read()
                return self._held
            known = pids
            self._signal(moving, signal.SIGSTOP)
            if time.monotonic() > deadline:
                raise Unstoppable

    def is_still(self) -> bool:
        """Whether nothing has run since it was stopped: a program may have set itself an alarm that wakes it."""
        return self._held is None or self.read() - self._held <= self._slack

    def _await_sleep(self, pids: set[int]) -> None:
        """Until all that was told to stop has made its last steps; where the kernel does not tell, these are counted later."""
        deadline = time.monotonic() + _LEAVING
        while not self._slack and not all(map(threads_sleep, pids)):
            if time.monotonic() > deadline:
                self._slack = _LAST_STEPS

    def go_on(self) -> None:
        """Lets it go on."""
        self._held = None
        self._signal(self._pids(), signal.SIGCONT)

    def close(self) -> None:
        """Gives the descriptor back."""
        os.close(self._handle)

    def _pids(self) -> set[int]:
        if self._template is None:
            return {self._pid}
        return {self._pid, *descendants(self._template)}

    def _total(self, pids: set[int]) -> int:
        """Of one that has ended, what it had used when it was last looked at."""
        for pid in pids:
            try:
                self._counted[pid] = time.clock_gettime_ns(_number(pid))
            except OSError as error:
                if pid == self._pid:
                    raise ProcessEnded from error
        return sum(self._counted.values())

    def _signal(self, pids: "set[int] | list[int]", number: signal.Signals) -> None:
        for pid in pids:
            if pid == self._pid:
                try:
                    signal.pidfd_send_signal(self._handle, number)
                except ProcessLookupError as error:
                    raise ProcessEnded from error
            else:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def _has_ended(self) -> bool:
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(0))


def _number(pid: int) -> int:
    """Of a process's clock."""
    return (~pid << 3) | _OF_A_PROCESS


def _pid(handle: int) -> int:
    """As this process sees it, by what the kernel tells of a descriptor."""
    try:
        lines = (PROCESSES / "self" / "fdinfo" / str(handle)).read_text().splitlines()
    except OSError as error:
        raise TimingUnavailable(
            f"there is no /proc that tells which process is the candidate's: {error}. {_REMEDY}"
        ) from error
    pid = next((int(line.split()[1]) for line in lines if line.startswith("Pid:")), 0)
    if pid < 0:
        raise ProcessEnded
    if pid == 0:
        raise TimingUnavailable(f"the candidate's process has no number here. {_REMEDY}")
    return pid
