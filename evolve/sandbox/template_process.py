"""The worker's end of a template: starts it, tells it to open and to end sessions, and ends it when anything is strange.

After `close` neither the template nor a process that was started in it is left, nor its folder, unless that is too large to be removed soon."""

import contextlib
import json
import os
import select
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from evolve.sandbox import processes
from evolve.sandbox.inner import BOOTSTRAP
from evolve.sandbox.inner.numeric import VARIABLES
from evolve.sandbox.inner.scratch import NAME, remove_tree
from evolve.sandbox.jail import PATH, Jail
from evolve.sandbox.machine.identity import Identity, can_choose, is_root_for_good, take
from evolve.sandbox.means import Means
from evolve.sandbox.output import readable
from evolve.sandbox.policy import EVERY, Devices, jail_for
from evolve.sandbox.status import SessionReport, TemplateLate, TemplateLost
from evolve.sandbox.walls.root import SCRATCH
from evolve.types import Limits, SandboxError

_PASSED = ("PATH", "LD_LIBRARY_PATH", "TZ", "CUDA_VISIBLE_DEVICES")
_INSTALL = (
    "install what is missing for that Python (torch: `pip install 'evolve[torch]'`), or correct `sandbox.preload`"
)
# What a template
# is told does not stand among its arguments, which a candidate might read. It begins once more where it can with addresses that are not drawn
# (ADDR_NO_RANDOMIZE): all forks of a template have its addresses, and where they lie makes equal programs of two templates differ by some percent.
_PROGRAM = f"""{BOOTSTRAP}
import ctypes, json, os, sys
if sys.platform == "linux":
    system, drawn = ctypes.CDLL(None), 0x0040000
    kind = system.personality(0xFFFFFFFF)
    if kind >= 0 and not kind & drawn and system.personality(kind | drawn) >= 0:
        os.execv(sys.orig_argv[0], sys.orig_argv)
told = json.load(sys.stdin)
load(told["engine"], "evolve.sandbox.inner.template").main(told["control"], told["jail"])
"""
_START_SECONDS = 120.0
_PATIENCE = 2.0
_CLEANING = 8.0
"""Seconds that a template gets to end what a candidate left, of which freeing many GB of memory takes the longest, and to empty its folder."""
_REMOVING = 5.0
_MESSAGE = 1 << 12
_SHOWN = 1500


def clean_environment(worker: Mapping[str, str], scratch: str, visible: Sequence[str] | None = None) -> dict[str, str]:
    """Returns what a candidate is told of the worker's environment: where programs are, and nothing of the user. Of PATH it gets the folders that are
    `visible` to it; all of them, where that is None."""
    kept = {name: worker[name] for name in _PASSED if name in worker}
    if visible is not None:
        kept["PATH"] = os.pathsep.join(_filter_visible(kept.get("PATH", PATH).split(os.pathsep), visible))
    # As `mallopt` takes at most: memory that was freed is kept, so that no program is faster than another for having it kept.
    malloc = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
    fixed = {"HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
    return {"PATH": PATH, **kept, **dict.fromkeys(VARIABLES, "1"), **malloc, **fixed}


def _filter_visible(folders: Sequence[str], visible: Sequence[str]) -> list[str]:
    """Returns the folders that candidates can see; the others may tell who uses this machine."""
    real = {folder: os.path.realpath(folder) for folder in folders}
    return [folder for folder in folders if any(f"{real[folder]}/".startswith(f"{place}/") for place in visible)]


class TemplateProcess:
    """A running template. Used by one thread."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        control: socket.socket,
        home: str,
        identity: Identity | None = None,
        *,
        nested: bool = False,
    ) -> None:
        """`nested`: the template is the child of `process`, in namespaces of its own."""
        self._process = process
        self._control = control
        self._home = home
        self._identity = identity
        self._nested = nested

    @classmethod
    def start(
        cls, limits: Limits, python: str, means: Means, hidden: Sequence[str] = (), devices: Devices = EVERY
    ) -> "TemplateProcess":
        """Starts one, confined by `means` and without sight of what is `hidden`, and waits until it has imported what it should; raises `SandboxError` with its last words."""
        home = tempfile.mkdtemp(prefix="evolve-session-")
        identity: Identity | None = None
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                identity = _take_identity(home, means)
                jail = jail_for(home, limits, python, means, identity.number if identity else -1, hidden, devices)
                # The lock goes along: the user is taken until the last of these processes is gone, whatever becomes of the worker.
                kept = (theirs.fileno(), *([identity.lock] if identity else ()))
                template = cls(_spawn(jail, python, kept, devices), ours, home, identity, nested=jail.namespaces)
        except (OSError, SandboxError) as error:
            ours.close()
            if identity is not None:
                identity.close()
            remove_tree(home)
            if isinstance(error, SandboxError):
                raise
            raise SandboxError(
                f"no candidate process can be started with {python!r}: {error}. Try: name a Python that can be run"
            ) from error
        try:
            template._receive_line(_START_SECONDS)
        except TemplateLost as lost:
            template.close()
            raise SandboxError(_explain_failed_start(limits, python, str(lost))) from lost
        return template

    def fileno(self) -> int:
        """A descriptor that becomes readable, unasked, when the template has ended."""
        return self._control.fileno()

    @property
    def pid(self) -> int:
        """Number of the process from which all others of the slot descend."""
        return self._process.pid

    def open(self, seconds: float, files: Sequence[int], job: str = "run") -> None:
        """Forks a candidate's process with the descriptors log, requests and replies, which the caller keeps and closes. A `job` is "run",
        "build" where programs may be started whatever the task grants, or "timed" where none may be."""
        told = {"open": seconds, "job": job, "at": time.monotonic()}
        try:
            socket.send_fds(self._control, [json.dumps(told).encode()], files)
        except OSError as error:
            raise TemplateLost(f"the template has ended: {error}") from error

    def handle(self) -> int | None:
        """A descriptor of the candidate's process, for the caller to close; None where it has ended, -1 where this system has no such descriptors."""
        try:
            self._control.sendall(json.dumps({"handle": True}).encode())
            if not _readable(self._control, _PATIENCE):
                raise TemplateLate(f"the template has not answered within {_PATIENCE:g} seconds")
            told, files, _, _ = socket.recv_fds(self._control, _MESSAGE, 1)
        except OSError as error:
            raise TemplateLost(self._read_last_words() or f"the template has ended: {error}") from error
        if files:
            return files[0]
        if not told:
            raise TemplateLost(self._read_last_words() or "the template has ended")
        return None if json.loads(told)["ended"] else -1

    def pin(self, cores: Collection[int]) -> None:
        """Keeps its candidates to these threads of cores. Between two sessions; nothing where a system cannot do that; raises
        `SandboxError`."""
        if not hasattr(os, "sched_setaffinity"):
            return
        for pid in (self._process.pid, *processes.descendants(self._process.pid)):
            try:
                os.sched_setaffinity(pid, cores)
            except ProcessLookupError:  # it has ended, which the next session finds
                continue
            except OSError as error:
                raise SandboxError(
                    f"candidates cannot be kept to the cores {sorted(cores)}: {error}. Try: let this process use them (taskset, cpuset)"
                ) from error

    def end(self, patience: float) -> SessionReport:
        """Ends the session: the candidate may take `patience` seconds to end by itself. All that it started is gone afterwards."""
        try:
            self._control.sendall(json.dumps({"end": patience}).encode())
        except OSError as error:
            raise TemplateLost(self._read_last_words() or f"the template has ended: {error}") from error
        try:
            return SessionReport(**json.loads(self._receive_line(patience + _CLEANING)))
        except (ValueError, TypeError) as error:
            raise TemplateLost(f"the template's report cannot be read: {error}") from error

    def close(self) -> None:
        """Ends the template; it has a moment to end what it has started and to remove its folder, then that is done here. A folder that takes
        longer than some seconds stays, in the worker's own, which goes with the workers."""
        self._control.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode:
            processes.end_survivors(os.path.join(self._home, NAME), self._identity.number if self._identity else None)
        # The identity is given back last, when nothing that bears it is left.
        assert self._process.stderr is not None
        self._process.stderr.close()
        remove_tree(self._home, _REMOVING)
        if self._identity is not None:
            self._identity.close()
            self._identity = None

    def _receive_line(self, seconds: float) -> bytes:
        """The template's next line."""
        heard, deadline = b"", time.monotonic() + seconds
        while not heard.endswith(b"\n"):
            if not _readable(self._control, deadline - time.monotonic()):
                late = f"the template has not answered within {seconds:g} seconds"
                raise TemplateLost(f"{late}: it was stopped by a signal") if self._is_stopped() else TemplateLate(late)
            chunk = b""
            with contextlib.suppress(ConnectionResetError):  # it ended with a message of ours unread
                chunk = self._control.recv(_MESSAGE)
            if not chunk:
                raise TemplateLost(self._read_last_words() or "the template has ended")
            heard += chunk
        return heard

    def _is_stopped(self) -> bool:
        outer = self._process.pid
        template = next(iter(processes.children(outer)), outer) if self._nested else outer
        return any(state in b"Tt" for state in processes.thread_states(template))

    def _read_last_words(self) -> str:
        """Returns what a template that has ended said last: the line of its error."""
        assert self._process.stderr is not None
        if not _readable(self._process.stderr.fileno(), 0):
            return ""
        words = os.read(self._process.stderr.fileno(), 1 << 16).decode("utf-8", "replace")
        return readable(words).strip().rpartition("\n")[2][-_SHOWN:]


def _take_identity(home: str, means: Means) -> Identity | None:
    """Returns who candidates become, and opens `home` to them; None for who the worker is. Raises `SandboxError` where that is root."""
    if not means.seccomp:
        return None
    if is_root_for_good():
        raise SandboxError(
            "candidates would be root: root is the only user here (/proc/self/uid_map), so there is none to become. Try: run as an ordinary user, "
            "or map a range of users, as `podman` and `PrivateUsers=` with a range do"
        )
    if not can_choose():
        return None
    closed = [folder for folder in Path(home).resolve().parents if not folder.stat().st_mode & stat.S_IXOTH]
    if closed and not means.namespaces:
        raise SandboxError(
            f"candidates are a user of their own here, and cannot come to the temporary folder: {closed[0]} is closed to others. Try: set TMPDIR to a "
            "folder that is open, such as /tmp"
        )
    Path(home).chmod(0o711)  # candidates must come to the folder in it that is theirs
    return take()


def _spawn(jail: Jail, python: str, kept: Sequence[int], devices: Devices) -> "subprocess.Popen[bytes]":
    """Starts the outer process; it gets the descriptors `kept`, of which the first is its control socket."""
    told = {"engine": str(Path(__file__).resolve().parents[1]), "control": kept[0], "jail": jail.to_json()}
    scratch = SCRATCH if jail.namespaces else os.path.join(jail.home, NAME)
    with tempfile.TemporaryFile() as text:
        text.write(json.dumps(told).encode())
        text.seek(0)
        return subprocess.Popen(
            [python, "-s", "-P", "-c", _PROGRAM],
            stdin=text,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=clean_environment(
                {**os.environ, **devices.environment}, scratch, (*jail.visible, *jail.listed) if jail.seccomp else None
            ),
            cwd=jail.home,
            pass_fds=tuple(kept),
            start_new_session=True,
        )


def _explain_failed_start(limits: Limits, python: str, words: str) -> str:
    preload = f" with {', '.join(limits.preload)} preloaded" if limits.preload else ""
    remedy = _INSTALL if preload else "try that Python by hand"
    return f"no candidate process can be started by {python}{preload}: {words}. Try: {remedy}"


def _readable(source: socket.socket | int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(source, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))
