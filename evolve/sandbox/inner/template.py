"""Template: a warm, single-threaded process that forks one candidate process per session, and ends it with all that it started.

Run as `python -s -P -c ...` in an environment that the worker made; standard library and siblings only. With namespaces the template is the first process
of its own, so the process that the worker has started stays outside, waits for it, and ends as it did; when that ends, however it ends, the kernel ends
the template, and with it everything in its namespace. The worker speaks first: `{"open": seconds, "job": kind, "at": its time}` with three descriptors (log, requests, replies),
then, where it times the candidate, `{"handle": true}`, which is answered by a descriptor of the process, then `{"end": patience}`, which is answered by
a report.

Between two sessions this process has no descendant, and the folders that candidates may write are empty; at the end of the control
socket (the worker is gone) it ends everything and itself. The worker's clock rules; the one here is the second line."""

import contextlib
import gc
import importlib
import json
import math
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from evolve.sandbox.inner import fresh, numeric
from evolve.sandbox.inner.candidate import perform, rehearse
from evolve.sandbox.inner.excess import MEMORY, Excess
from evolve.sandbox.inner.scratch import Scratch, remove_tree
from evolve.sandbox.jail import Jail
from evolve.sandbox.kernel import (
    LINUX,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_PDEATHSIG,
    prctl,
    single_threaded,
)
from evolve.sandbox.processes import PROCESSES, children
from evolve.sandbox.status import SessionReport
from evolve.sandbox.walls import root
from evolve.sandbox.walls.cgroup import ControlGroup, sweep
from evolve.sandbox.walls.confinement import FIRST_FREE, IGNORED, REPLIES, REQUESTS, CandidateConfinement, Job
from evolve.sandbox.walls.root import Tmpfs

_UMASK = 0o022
"""Not the user's: candidates, who may be another user, must come to the folders that are made for them, and behave alike everywhere."""
_OWN_TASKS = 1
"""The template is a member of its candidates' group."""


_PEAK_UNIT = 1024 if sys.platform == "linux" else 1
_MESSAGE = 1 << 12
_MOST_DESCRIPTORS = 4096
"""Above every number that is open in a template: it opens a handful, and so do the libraries that it preloads."""
_ENTERED = b"+"
"""What a forked process says once it is confined."""
_LATE = 1.0
"""Seconds after which a candidate is ended here that the worker should have ended."""
_LOOK = 0.05
"""Seconds between two looks at a candidate: at its memory, its processes and its files, and on some systems whether it has ended."""
_CLEANING = 1.0
"""Seconds for what a candidate left in a folder; on a busy disk that is some ten thousand files."""


def main(control: int, told: str) -> None:
    """Lives the whole life of a slot's processes; `control` is the number of its socket. They end with the worker, whose end of it is closed then."""
    jail = Jail.from_json(told)
    os.umask(_UMASK)
    _forget_what_was_told()
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    if LINUX:
        prctl(PR_SET_DUMPABLE, 0)
    sock = socket.socket(fileno=control)
    with closing_group(jail) as group:
        if not jail.namespaces:
            serve(sock, jail, group)
            return
        code = _outside(sock, jail, group)
    with contextlib.suppress(OSError):  # the worker was faster
        Path(jail.home).rmdir()
    os._exit(code)


def _outside(sock: socket.socket, jail: Jail, group: ControlGroup | None) -> int:
    """Forks the template into namespaces of its own, and waits; gives its exit code."""
    root.enter_namespaces(users=jail.user < 0, loopback=jail.loopback)
    first = os.fork()
    if first == 0:
        # A parent that is outside of its namespace has no number there.
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 0:
            kept = root.enter_root(jail, root.inside(jail.user))
            serve(sock, jail, group, kept)
        os._exit(0)
    sock.close()
    _, status = os.waitpid(first, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


@contextlib.contextmanager
def closing_group(jail: Jail) -> Iterator[ControlGroup | None]:
    """The control group of the slot, made while its files are in sight, where the jail has one."""
    if not jail.cgroup:
        yield None
        return
    sweep()
    group = ControlGroup.make(jail.cgroup, jail.memory, jail.tasks + _OWN_TASKS)
    try:
        yield group
    finally:
        group.close()


def _forget_what_was_told() -> None:
    """Standard input was the jail; candidates find it empty."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)


@dataclass(slots=True)
class CandidateProcess:
    """`handle` is a descriptor that becomes readable when the candidate ends, or -1. `alone`: the template is the first process of its own
    namespace, in which every other process is the candidate's. `swept`: nothing of it lives. `report` is for the worker."""

    pid: int
    handle: int
    alone: bool
    ended: bool = False
    swept: bool = False
    report: SessionReport = field(default_factory=lambda: SessionReport(0, False, 0.0, 0, 0))

    def has_ended(self) -> bool:
        """Returns whether the process itself has ended; does not wait."""
        return self.ended or self._reap(self.pid, os.WNOHANG)

    def end(self) -> None:
        """Ends the process and everything that it started; waits until all is gone."""
        if not self.has_ended():
            self.report.killed = True
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
        self.report.cpu_seconds += used.ru_utime + used.ru_stime
        self.report.peak_bytes = max(self.report.peak_bytes, used.ru_maxrss * _PEAK_UNIT)
        if pid == self.pid:
            if self.handle >= 0:
                os.close(self.handle)
            self.ended = True
            self.report.code = os.waitstatus_to_exitcode(status)
        else:
            self.report.strays += 1
        return True


def handle(pid: int) -> int:
    """A descriptor for a child; -1 where the system has none, which is then looked at now and then."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


class WritableFolder(Protocol):
    """A folder that candidates may write, and its renewal."""

    path: str

    def renew(self, seconds: float) -> bool: ...


def serve(control: socket.socket, jail: Jail, group: ControlGroup | None, kept: root.ProcView | None = None) -> None:
    """The whole life of a template, in the root and the namespaces of its slot. It enters `group` when it has loaded what it shares."""
    _open_many()
    # Numbers 3 and 4 are the candidate's: taken here, no descriptor that the worker sends can have them.
    _keep_low_numbers_taken()
    # Some libraries look for a temporary folder while they are imported; what they leave there is not for candidates.
    folders = _folders(jail)
    for name in jail.preload if jail.template else ():
        importlib.import_module(name)
    if not all(folder.renew(_CLEANING) for folder in folders):
        raise RuntimeError("a preloaded module has left files that cannot be removed. Try: take it out of preload")
    if LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    _check_single_threaded()
    confinement = CandidateConfinement(jail, folders[0].path, root.WRITABLE if jail.namespaces else jail.home)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.dont_write_bytecode = True
    rehearse()
    gc.collect()
    gc.freeze()
    if group is not None:
        group.add()
    try:
        control.sendall(b"{}\n")
        TemplateServer(control, jail, folders, confinement, group, kept).serve()
    finally:
        if not jail.namespaces:
            remove_tree(jail.home)


def _folders(jail: Jail) -> list[WritableFolder]:
    """Returns the folders that candidates may write: in memory where the slot has a tree of its own, else one folder of the host."""
    if not jail.namespaces:
        return [Scratch(jail.home, jail.user)]
    user = root.inside(jail.user)
    return [
        Tmpfs(root.SCRATCH, jail.scratch, jail.inodes, user, execute=True),
        Tmpfs(root.SHARED_MEMORY, jail.shm, jail.inodes, user, execute=False),
    ]


def _open_many() -> None:
    """As many descriptors as there may be: folders that a candidate made are open one inside the other while they are counted."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _keep_low_numbers_taken() -> None:
    # A descriptor that came as 3 would be overwritten when the candidate's requests are put there.
    while (number := os.open(os.devnull, os.O_RDONLY)) < FIRST_FREE:
        pass
    os.close(number)


def _check_single_threaded() -> None:
    if not single_threaded():
        raise RuntimeError(
            "a preloaded module has started a thread: a fork would hang. Try: take it out of preload, or grant `template = false`"
        )


class TemplateServer:
    """Sessions, one after the other."""

    def __init__(
        self,
        control: socket.socket,
        jail: Jail,
        folders: Sequence[WritableFolder],
        confinement: CandidateConfinement,
        group: ControlGroup | None,
        kept: root.ProcView | None,
    ) -> None:
        self._group = group
        self._control = control
        self._jail = jail
        self._folders = folders
        self._confinement = confinement
        self._pools = numeric.pools() if jail.threads > 1 else []
        memory = [folder.path for folder in folders if isinstance(folder, Tmpfs)]
        self._last_pid = kept.last_pid if kept else -1
        self._heard, self._tell = os.pipe2(os.O_NONBLOCK)
        self._excess = Excess(jail, group, memory, kept.path if kept else PROCESSES)

    def serve(self) -> None:
        """Until the worker is gone."""
        while True:
            message, files = self._receive()
            if message is None:
                return
            before = self._processor_time()
            late = time.monotonic() - message["at"]
            run = self._start(message["open"], files, message["job"])
            run.report.late = late
            ending = self._follow(run, time.monotonic() + message["open"] + _LATE)
            if ending is None:
                run.end()
                return
            self._await(run, ending["end"])
            run.end()
            run.report.problem = self._problem(run)
            run.report.cpu_seconds = max(run.report.cpu_seconds, self._processor_time() - before)
            if self._group is not None and self._group.is_exceeded():
                run.report.exceeded = MEMORY
            clean = all(folder.renew(_CLEANING) for folder in self._folders)
            self._renew_pids()
            if self._jail.namespaces and self._jail.loopback:
                root.renew_network()
            if not clean:
                # No session can be opened here any more; what is left goes with the template, which does not keep this one's report waiting.
                # Before the report: the worker then learns at its next request that it needs a new template.
                self._control.shutdown(socket.SHUT_RD)
            self._control.sendall(json.dumps(asdict(run.report)).encode() + b"\n")
            if not clean:
                return

    def _processor_time(self) -> float:
        """Returns the seconds of all candidates so far, by their control group: who ignores the end of its children hides their time from everybody else. Falls
        short where there is none."""
        return 0.0 if self._group is None else self._group.cpu_seconds() - time.process_time()

    def _renew_pids(self) -> None:
        """The next candidate has the number that every candidate has: how many processes there were before says something about them."""
        if self._last_pid >= 0:
            os.pwrite(self._last_pid, b"1", 0)

    def _receive(self) -> tuple[dict[str, Any] | None, Sequence[int]]:
        """The worker's next message; one arrives whole, for the next is sent only after its answer."""
        try:
            data, files, _, _ = socket.recv_fds(self._control, _MESSAGE, 3)
        except ConnectionResetError:
            return None, ()
        return (json.loads(data) if data else None), files

    def _start(self, seconds: float, files: Sequence[int], job: Job) -> CandidateProcess:
        _check_single_threaded()
        self._confinement.prepare(math.ceil(seconds * max(1, self._jail.threads)) + 1)
        template = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self._enter(template, files, job)
                self._perform(job)
                os._exit(0)
            finally:
                os._exit(1)
        for number in files:
            os.close(number)
        return CandidateProcess(pid, handle(pid), alone=self._jail.namespaces)

    def _enter(self, template: int, files: Sequence[int], job: Job) -> None:
        try:
            self._confinement.enter(template, files, job)
        except OSError as error:
            os.write(self._tell, str(error).encode())
            raise
        os.write(self._tell, _ENTERED)
        os.closerange(FIRST_FREE, _MOST_DESCRIPTORS)

    def _perform(self, job: Job) -> None:
        if self._jail.threads > 1:
            numeric.use(self._jail.threads, self._pools)
        if self._jail.template:
            perform(REQUESTS, REPLIES)
            return
        execute = self._jail.execute or job == "build" or not self._jail.seccomp
        command = fresh.command(sys.executable, fresh.FOLDER, self._jail.preload, execute=execute)
        for number in (REQUESTS, REPLIES):
            os.set_inheritable(number, True)
        os.execve(command[0], command, os.environ)

    def _problem(self, run: CandidateProcess) -> str:
        """Returns why a process never became a candidate, where it ended by itself before; empty for one that did."""
        try:
            heard = os.read(self._heard, _MESSAGE)
        except BlockingIOError:
            heard = b""
        return "" if run.report.killed or heard == _ENTERED else heard.decode("utf-8", "replace") or "it ended at once"

    def _follow(self, run: CandidateProcess, deadline: float) -> dict[str, Any] | None:
        """Until the worker has the session ended; None where it is gone."""
        while (message := self._next(run, deadline)) is not None and "handle" in message:
            self._hand_over(run)
        return message

    def _hand_over(self, run: CandidateProcess) -> None:
        """Sends the worker a descriptor of the candidate's process, where there are such and it has not ended."""
        ended = run.has_ended()
        if ended and not run.swept:
            run.sweep()
        told = json.dumps({"ended": ended}).encode() + b"\n"
        if ended or run.handle < 0:
            self._control.sendall(told)
        else:
            socket.send_fds(self._control, [told], [run.handle])

    def _next(self, run: CandidateProcess, deadline: float) -> dict[str, Any] | None:
        """Waits for the worker's next message. A candidate that ends by itself loses what it left at once, for those processes
        may hold its pipes open; one far beyond its time or its memory is ended."""
        while not self._spoken(run, None if run.swept else max(0.0, deadline - time.monotonic())):
            if run.has_ended():
                run.sweep()
            elif time.monotonic() > deadline:
                run.end()
            elif excess := self._excess.find():
                run.report.exceeded = excess
                run.end()
        return self._receive()[0]

    def _await(self, run: CandidateProcess, patience: float) -> None:
        """Gives a candidate that has closed its pipes the time to end by itself, so that its exit code is known."""
        deadline = time.monotonic() + patience
        while not run.has_ended() and (left := deadline - time.monotonic()) > 0:
            self._spoken(run, left)

    def _spoken(self, run: CandidateProcess, seconds: float | None) -> bool:
        """Waits until the worker speaks, the candidate ends, it is time to look, or the time is over; whether it was the worker."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        alive = not run.ended
        if alive and run.handle >= 0:
            poll.register(run.handle, select.POLLIN)
        if alive and (run.handle < 0 or self._jail.limits):
            seconds = _LOOK if seconds is None else min(seconds, _LOOK)
        ready = poll.poll(None if seconds is None else math.ceil(seconds * 1000))
        return self._control.fileno() in {number for number, _ in ready}
