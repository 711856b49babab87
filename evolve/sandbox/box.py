"""Box in which candidates run: one warm template, and one session of it at a time.

Whatever a candidate did, the next session starts as the first did, in a new template if need be."""

import os
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from evolve.sandbox.channel import Channel
from evolve.sandbox.means import PLAIN, Means
from evolve.sandbox.policy import EVERY, Devices
from evolve.sandbox.session import JobKind, Session
from evolve.sandbox.status import SessionFailed, SessionReport, Status, TemplateLost
from evolve.sandbox.template_process import TemplateProcess
from evolve.sandbox.timing import ProcessClock, ProcessEnded, TimingUnavailable
from evolve.sandbox.wire import pack_program
from evolve.types import Limits, Program, SandboxError

_SESSIONS = 2000
"""After so many sessions a template is replaced by a new one, so that nothing can add up in it."""
_REHEARSED = Program(
    {
        "rehearsed.py": """
import os, sys

def find_closed():
    for folder in sys.path:
        try:
            os.stat(folder)
            entries = [entry for entry in os.scandir(folder) if entry.is_dir() or entry.name.endswith(".py")]
        except OSError as error:
            if isinstance(error, PermissionError) and not os.access(folder, os.R_OK | os.X_OK):
                return folder
            continue  # there is nothing, or it is hidden from candidates
        for entry in entries:
            if entry.name.removesuffix(".py").isidentifier() and not entry.name.startswith("__"):
                if not os.access(entry.path, os.R_OK):
                    return entry.path
    return ""
"""
    }
)
"""Looks for what candidates, who may be a user of their own, should import and may not read: programs would be told that it is not there."""
_REHEARSAL_SECONDS = 120.0
_OF_THE_MACHINE = "run `evolve sandbox probe`, which tells what this machine lacks; the task can do nothing about it"
_OF_THE_TASK = "correct `sandbox` in the task's file, which names the modules to preload and the limits"


class Box:
    """Worker's side, used by one thread. Its constructor starts the template, so that what cannot be imported there is known before
    the first candidate; raises `SandboxError`. `context` are the files that every program finds beside its own, `means` what confines
    candidates: all of them, or there is no box; `hidden` folders they never see, which takes means; `devices` which GPUs they see, where the task grants some."""

    def __init__(
        self,
        limits: Limits,
        python: str = sys.executable,
        context: Mapping[str, str] = MappingProxyType({}),
        means: Means = PLAIN,
        hidden: Sequence[str] = (),
        devices: Devices = EVERY,
    ) -> None:
        self.isolation = means.line
        self._limits = limits
        self._python = python
        self._means = means
        self._hidden = tuple(hidden)
        self._devices = devices
        self._cores: frozenset[int] | None = None
        self._sessions = 0
        self._context = dict(context)
        self._busy = False
        self._template: TemplateProcess | None = self._start_template()
        # A box that no program can run in fails here, before the first one would be blamed.
        self._rehearse()

    def open(self, program: Program, entry: str, seconds: float, job: JobKind = "run") -> Session:
        """A session with `program`, whose functions are called in the module `entry`; `seconds` limits its wall time in all. A `job`
        that is a "build" may start programs whatever the task grants; one that is "timed" may start threads and nothing else."""
        if self._busy:
            raise SandboxError("a session is still open in this box. Try: leave its `with` block first")
        channel = Channel(self._limits.result, self._limits.log)
        try:
            channel.watch(self._fork(seconds, channel, job).fileno())
        except SandboxError:
            channel.close()
            raise
        finally:
            channel.hand_over()
        self._busy = True
        # Without waiting: the program crosses while the fork is still confining itself.
        channel.send(pack_program(entry, program.files, self._context))
        return Session(channel, self._end, seconds, self._limits, job, self._clock)

    def pin(self, cores: Collection[int]) -> None:
        """Keeps candidates to these threads of cores, until it is called again; between two sessions. Raises `SandboxError`."""
        if self._cores == frozenset(cores):
            return
        self._cores = frozenset(cores)
        if self._template is not None:
            self._template.pin(self._cores)

    def close(self) -> None:
        """Ends the template and with it everything in it."""
        self._discard()

    def _fork(self, seconds: float, channel: Channel, job: JobKind) -> TemplateProcess:
        """In the template; in a new one where there is none, where it has died since the last session, or where it has served long."""
        # Here and not at a session's end: what opening takes does not count for a candidate's deadline.
        if self._sessions >= _SESSIONS:
            self._discard()
        self._sessions += 1
        if self._template is not None:
            try:
                self._template.open(seconds, channel.theirs, job)
                return self._template
            except TemplateLost:
                self._discard()
        self._template = self._start_template()
        try:
            self._template.open(seconds, channel.theirs, job)
        except TemplateLost as lost:
            self._discard()
            raise SandboxError(
                f"the candidates' template ends as soon as it starts: {lost}. Try: look at the machine's memory and log"
            ) from lost
        return self._template

    def _rehearse(self) -> None:
        """One session with a program that cannot fail: what fails here is the box's, or a module that is to be preloaded in each session, and
        would be held against every program. Raises `SandboxError`."""
        session = self.open(_REHEARSED, "rehearsed", _REHEARSAL_SECONDS)
        try:
            closed = session.call("find_closed")
        except SessionFailed as failure:
            session.close()
            self._discard()
            words = session.usage.log.strip().rpartition("\n")[2]
            remedy = _OF_THE_MACHINE if failure.status is Status.BROKEN else _OF_THE_TASK
            raise SandboxError(
                f"no program can run in the candidates' box: {failure}{words and ': '}{words}. Try: {remedy}"
            ) from failure
        session.close()
        if closed:
            self._discard()
            raise SandboxError(
                f"candidates cannot use {self._python!r} as it is installed: they are a user of their own here, who may not read {closed}. Try: "
                f"`chmod -R o+rX {shlex.quote(str(Path(closed).parent))}`, or make the environment in a folder that is open to all users"
            )
        self._sessions = 0

    def _start_template(self) -> TemplateProcess:
        template = TemplateProcess.start(self._limits, self._python, self._means, self._hidden, self._devices)
        if self._cores is not None:
            template.pin(self._cores)
        return template

    def _end(self, patience: float) -> SessionReport:
        self._busy = False
        if self._template is None:
            raise TemplateLost("the box was closed")
        try:
            return self._template.end(patience)
        except TemplateLost:
            self._discard()
            raise

    def _clock(self) -> ProcessClock:
        """Returns the clock of the candidate of the open session. Where no filter keeps it from starting processes, of these too."""
        if self._template is None:
            raise ProcessEnded
        handle = self._template.handle()
        if handle is None:
            raise ProcessEnded
        if handle < 0:
            raise TimingUnavailable(
                "nothing can be timed: this system has no descriptors of processes. Try: evaluate on Linux 5.4 or newer"
            )
        try:
            return ProcessClock(handle, None if self._means.seccomp else self._template.pid)
        except (TimingUnavailable, ProcessEnded):
            os.close(handle)
            raise

    def _discard(self) -> None:
        if self._template is not None:
            self._template.close()
            self._template = None
            self._sessions = 0
