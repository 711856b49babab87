"""The warm, single-threaded process that forks one candidate process per session, and ends it with all that it started.

Run as `python -s -P -c ...` in an environment that the judge made; standard library and siblings only. The judge speaks first:
`{"open": seconds}` with three descriptors (log, requests, replies), then `{"end": patience}`, which is answered by a report.

Invariant: between two sessions this process has no descendant; at the end of the control socket (the judge is gone) it ends them all
and itself. The judge's clock rules; the one here is the second line."""

import contextlib
import ctypes
import gc
import importlib
import json
import math
import os
import resource
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolve.sandbox.inside import perform, rehearse
from evolve.sandbox.scratch import Scratch

_LINUX = sys.platform == "linux"
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_MESSAGE = 1 << 12
_LATE = 1.0
"""Seconds after which a candidate is ended here that the judge should have ended."""
_LOOK = 0.05
"""Seconds between two looks at a candidate on systems that do not tell when a process ends."""
_MOST_DESCRIPTORS = 4096
"""Above every number that is open in a template: it opens a handful, and so do the libraries that it preloads."""
_REQUESTS, _REPLIES, _FIRST_FREE = 3, 4, 5
_PEAK_UNIT = 1024 if _LINUX else 1


def main(control: int, settings: Mapping[str, Any]) -> None:
    """The whole life of the template. Settings: `home`, `preload`, `memory`, `file_size`, `descriptors`."""
    # Numbers 3 and 4 are the candidate's: taken here, no descriptor that the judge sends can have them.
    sock = socket.socket(fileno=control)
    del sys.argv[1:]
    _keep_low_numbers_taken()
    for name in settings["preload"]:
        importlib.import_module(name)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _check_single_threaded()
    scratch = Scratch(settings["home"])
    _limit_itself(settings)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.dont_write_bytecode = True
    rehearse()
    gc.collect()
    gc.freeze()
    try:
        sock.sendall(b"{}\n")
        Template(sock, scratch).serve()
    finally:
        shutil.rmtree(settings["home"], ignore_errors=True)


def _keep_low_numbers_taken() -> None:
    while (number := os.open(os.devnull, os.O_RDONLY)) < _FIRST_FREE:
        pass
    os.close(number)


def _check_single_threaded() -> None:
    if _LINUX and len(list(Path("/proc/self/task").iterdir())) != 1:
        raise RuntimeError("a preloaded module has started a thread: a fork would hang. Do: take it out of preload")


def _limit_itself(settings: Mapping[str, Any]) -> None:
    """Limits that every candidate inherits. Where the system has no such limit, or a lower one, it stays as it is."""
    wanted = {
        resource.RLIMIT_AS: settings["memory"],
        resource.RLIMIT_DATA: settings["memory"],
        resource.RLIMIT_FSIZE: settings["file_size"],
        resource.RLIMIT_NOFILE: settings["descriptors"],
        resource.RLIMIT_CORE: 0,
    }
    for which, most in wanted.items():
        with contextlib.nullcontext() if _LINUX else contextlib.suppress(ValueError, OSError):
            resource.setrlimit(which, _lowered(which, most))


def _lowered(which: int, most: int) -> tuple[int, int]:
    """The limit `most`, or what is allowed here where that is less."""
    _, hard = resource.getrlimit(which)
    lowered = most if hard == resource.RLIM_INFINITY else min(most, hard)
    return lowered, lowered


def _prctl(option: int, value: int) -> None:
    if _LINUX:
        _LIBC.prctl(option, value, 0, 0, 0)


class Template:
    """Sessions, one after the other."""

    def __init__(self, control: socket.socket, scratch: Scratch) -> None:
        self._control = control
        self._scratch = scratch

    def serve(self) -> None:
        """Until the judge is gone."""
        while True:
            message, files = self._receive()
            if message is None:
                return
            run = self._start(message["open"], files)
            ending = self._follow(run, time.monotonic() + message["open"] + _LATE)
            if ending is None:
                run.end()
                return
            self._await(run, ending["end"])
            run.end()
            self._scratch.renew()
            self._control.sendall(json.dumps(run.report()).encode() + b"\n")

    def _receive(self) -> tuple[dict[str, Any] | None, Sequence[int]]:
        """The judge's next message; one arrives whole, for the next is sent only after its answer."""
        try:
            data, files, _, _ = socket.recv_fds(self._control, _MESSAGE, 3)
        except ConnectionResetError:
            return None, ()
        return (json.loads(data) if data else None), files

    def _start(self, seconds: float, files: Sequence[int]) -> "Run":
        _check_single_threaded()
        template, processor = os.getpid(), _lowered(resource.RLIMIT_CPU, math.ceil(seconds) + 1)
        pid = os.fork()
        if pid == 0:
            try:
                _become_candidate(template, self._scratch.path, processor, files)
                perform(_REQUESTS, _REPLIES)
                os._exit(0)
            finally:
                os._exit(1)
        for number in files:
            os.close(number)
        return Run(pid, _handle(pid))

    def _follow(self, run: "Run", deadline: float) -> dict[str, Any] | None:
        """Waits for the judge's next message. A candidate that ends by itself loses what it left at once, for those processes
        may hold its pipes open; one far beyond its time is ended."""
        while not self._spoken(run, None if run.over else max(0.0, deadline - time.monotonic())):
            if run.has_ended():
                run.sweep()
            elif time.monotonic() > deadline:
                run.end()
        return self._receive()[0]

    def _await(self, run: "Run", patience: float) -> None:
        """Gives a candidate that has closed its pipes the time to end by itself, so that its exit code is known."""
        deadline = time.monotonic() + patience
        while not run.has_ended() and (left := deadline - time.monotonic()) > 0:
            self._spoken(run, left)

    def _spoken(self, run: "Run", seconds: float | None) -> bool:
        """Waits until the judge speaks, the candidate ends or the time is over; whether it was the judge."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        if run.code is None and run.handle >= 0:
            poll.register(run.handle, select.POLLIN)
        elif run.code is None:
            seconds = _LOOK if seconds is None else min(seconds, _LOOK)
        ready = poll.poll(None if seconds is None else math.ceil(seconds * 1000))
        return self._control.fileno() in {number for number, _ in ready}


def _handle(pid: int) -> int:
    """A descriptor for a child; -1 where the system has none, which is then looked at now and then."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def _become_candidate(template: int, scratch: str, processor: tuple[int, int], files: Sequence[int]) -> None:
    """In the forked process: a session of its own, the five descriptors and no others, its own limits, an empty folder."""
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != template:
        os._exit(1)
    log, requests, replies = files
    for source, number, inherited in (
        (log, 1, True),
        (log, 2, True),
        (requests, _REQUESTS, False),
        (replies, _REPLIES, False),
    ):
        os.dup2(source, number, inherited)
    os.closerange(_FIRST_FREE, _MOST_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_CPU, processor)
    os.chdir(scratch)


@dataclass
class Run:
    """A candidate's process and what came of it. `handle` is a descriptor that becomes readable when it ends, or -1."""

    pid: int
    handle: int
    code: int | None = None
    killed: bool = False
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
                for pid in _children():
                    os.kill(pid, signal.SIGKILL)
                self._reap(-1, 0)
            except ChildProcessError:
                self.swept = True
                return

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
            "cpu_seconds": self.cpu_seconds,
            "peak_bytes": self.peak,
            "strays": self.strays,
        }


def _children() -> list[int]:
    """The pids of this process's children, by /proc; where there is none, nothing is adopted and none can be left."""
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children") as listed:
            return [int(pid) for pid in listed.read().split()]
    except FileNotFoundError:  # a kernel without that file
        return [pid for pid in _processes() if _parent(pid) == own]


def _processes() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as line:
            # The name, in parentheses, may hold spaces and parentheses of its own.
            return int(line.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return 0
