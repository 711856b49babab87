"""Steps by which a forked process confines itself before it becomes a candidate.

Standard library only, for it lives in the template. Everything that can be prepared is prepared in the template; a fork makes some twenty
system calls, and each line of Python here has it copy pages that it shares with the template, two microseconds a page. After `enter` the process can gain nothing back: no user, no capability, no file, no system call.

Capabilities: https://man7.org/linux/man-pages/man7/capabilities.7.html. Nothing here ever gives one."""

import contextlib
import ctypes
import errno
import os
import resource
import signal
import struct
from _signal import signal as set_handler  # type: ignore[import-not-found]  # the public one makes members of enumerations
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from evolve.sandbox import kernel
from evolve.sandbox.jail import Jail
from evolve.sandbox.processes import TaskLimit
from evolve.sandbox.walls import landlock, seccomp
from evolve.sandbox.walls.root import DEVICES

Job: TypeAlias = Literal["build", "run", "timed"]
"""`build` starts compilers, whatever the task grants; `timed` starts no processes, whose time nobody would count; `run` is everything else."""
_JOBS: Sequence[Job] = ("build", "run", "timed")

REQUESTS, REPLIES, FIRST_FREE = 3, 4, 5
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a template does not hear, though its candidates might send them."""
_HANDLERS = {
    int(each): signal.default_int_handler if each is signal.SIGINT else int(signal.SIG_DFL) for each in IGNORED
}
"""What a Python that was just started has for these."""
_SIGNALS = 256
"""That wait to be taken, all of a candidate's together."""
_SIGNALS_SCOPED = 6
_TRUNCATE_HANDLED = 3
"""Versions of Landlock from which on it knows signals to others, and the truncation of files."""


_CAPABILITIES = 64
_THIS_PROCESS = struct.pack("=Ii", 0x20080522, 0)
"""Header of `capset`: version 3, sets of 64 bits in two halves, and 0 for this process."""
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()
"""Three empty sets in their halves."""
_OWN_THREADS = landlock.PathRule("/proc/self/task", landlock.Right.READ_FILE | landlock.Right.WRITE_FILE, needed=False)
"""A GPU's driver names its threads there. The folder is each process's own, so that no rule of the template's can be about it, nor one about the children of a
candidate: those can name their threads only where /proc is the slot's."""


class CandidateConfinement:
    """The layers of one jail, in a template that has entered its root. Candidates start in the folder `start`; what is below `writable`, which
    outlives that, they may write."""

    def __init__(self, jail: Jail, start: str, writable: str) -> None:
        self._jail = jail
        self._start = start
        self._limits = [(which, lower_limit(which, most)) for which, most in _limits(jail).items()]
        self._room = TaskLimit(os.getuid(), jail.tasks) if shares_user(jail) else None
        self._bounds = self._limits
        self._ruleset = (
            landlock.prepare(_rules(jail, writable), jail.landlock, loopback=jail.loopback) if jail.landlock else -1
        )
        self._filters = {job: _filter(jail, job) for job in _JOBS} if jail.seccomp else {}
        # All are assembled here; one that holds back signals is completed in each fork, with its number.
        programs = {job: seccomp.program(wanted) for job, wanted in self._filters.items()}
        self._programs = {job: made for job, made in programs.items() if not self._filters[job].signals}
        if jail.seccomp:
            # Here, where root still may; every fork inherits it.
            empty_bounding()

    def prepare(self, seconds: int) -> None:
        """Before a fork: what holds for the moment. `seconds` of processor time are the limit of the next one."""
        if not self._jail.limits:
            return
        bounds = [*self._limits, (resource.RLIMIT_CPU, lower_limit(resource.RLIMIT_CPU, seconds))]
        if self._jail.seccomp:
            tasks = self._jail.tasks if self._room is None else self._room.limit()
            bounds.append((resource.RLIMIT_NPROC, lower_limit(resource.RLIMIT_NPROC, tasks)))
        self._bounds = bounds

    def enter(self, template: int, files: Sequence[int], job: Job) -> None:
        """Makes this process, just forked by `template`, a candidate with the descriptors log, requests and replies; the others are still open.
        Raises `OSError` where a layer cannot be entered."""
        os.setsid()
        for ignored, handler in _HANDLERS.items():
            set_handler(ignored, handler)
        # Opened anew: locks and flags of one that the template shares would outlive this process.
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        log, requests, replies = files
        for source, number, inherited in (
            (log, 1, True),
            (log, 2, True),
            (requests, REQUESTS, False),
            (replies, REPLIES, False),
        ):
            os.dup2(source, number, inherited)
        self._limit()
        self._drop_rights()
        if kernel.LINUX:
            # After the change of user, which forgets it.
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != template:
                os._exit(1)
        os.chdir(self._start)
        if self._ruleset >= 0:
            if self._jail.gpu and not self._jail.namespaces:
                landlock.add(self._ruleset, _OWN_THREADS, self._jail.landlock)
            landlock.enter(self._ruleset, self._jail.landlock)
        if self._filters:
            seccomp.enter(self._programs.get(job) or seccomp.program(self._filters[job], os.getpid()))

    def _limit(self) -> None:
        """Sets the limits; where the system has no such limit, or a lower one, it stays as it is."""
        for which, most in self._bounds:
            try:
                resource.setrlimit(which, most)
            except (ValueError, OSError):
                if kernel.LINUX:
                    raise
        if self._jail.limits and self._jail.gpu:
            _let_lock_memory()

    def _drop_rights(self) -> None:
        if self._jail.user >= 0:
            os.setgroups([])
            os.setresgid(self._jail.user, self._jail.user, self._jail.user)
            os.setresuid(self._jail.user, self._jail.user, self._jail.user)
        if not self._jail.seccomp:
            return
        # The template's files in /proc are root's; a candidate's are its own, or it could not even be chosen first when memory is out.
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        _be_first_to_go()
        drop_capabilities()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def empty_bounding() -> bool:
    """Empties the bounding set; returns False, with nothing changed, where that is not permitted (it needs CAP_SETPCAP, so: before a change of
    the user). Children inherit it, so once in a template is enough for all that it forks."""
    for number in range(_CAPABILITIES):
        try:
            kernel.prctl(kernel.PR_CAPBSET_DROP, number)
        except OSError as error:
            if error.errno == errno.EPERM:
                return False
            if error.errno == errno.EINVAL:  # the first that this kernel has not
                return True
            raise
    return True


def drop_capabilities() -> None:
    """Gives up every capability of this thread but the bounding set, for good. To be called after the change of the user, which needs
    capabilities."""
    # The ambient set goes along, for the kernel keeps in it only what is both permitted and inheritable.
    kernel.capset(_THIS_PROCESS, _NO_CAPABILITIES)


def shares_user(jail: Jail) -> bool:
    """Returns whether the kernel's limit on processes holds for all that the candidates' user has, and not for them alone."""
    return jail.limits and jail.seccomp and jail.user < 0 and not jail.namespaces


def _limits(jail: Jail) -> Mapping[int, int]:
    """Each fork's limits, but for those that depend on the moment. The template keeps its own: it cleans up after every candidate."""
    if not jail.limits:
        return {}
    wanted = {
        resource.RLIMIT_DATA: jail.memory,
        resource.RLIMIT_FSIZE: jail.file_size,
        resource.RLIMIT_NOFILE: jail.descriptors,
        # Of 1 byte there can be no file, and it is the one limit at which the kernel does not call a program of the host's for a crash either.
        resource.RLIMIT_CORE: 1,
    }
    if jail.seccomp:
        # All processes of a user draw on these two, the host's own among them.
        wanted |= {resource.RLIMIT_SIGPENDING: _SIGNALS, resource.RLIMIT_MSGQUEUE: 0}
    if not jail.gpu:  # whose driver reserves far more addresses than there is memory
        wanted[resource.RLIMIT_AS] = jail.memory
    return wanted


def _be_first_to_go() -> None:
    """Tells the system to end this process first where memory is out."""
    with contextlib.suppress(OSError):
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, b"1000")
        os.close(score)


def _let_lock_memory() -> None:
    """As much as is permitted: a GPU's driver locks what it copies from. It counts as memory like any other."""
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))


def lower_limit(which: int, most: int) -> tuple[int, int]:
    """The limit `most`, or what is allowed here where that is less."""
    _, hard = resource.getrlimit(which)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    return least, least


def _filter(jail: Jail, job: Job) -> seccomp.Filter:
    """Returns the filter, which holds back what Landlock of this version does not know, but for files and processes that a namespace hides anyhow."""
    alone = jail.namespaces
    return seccomp.Filter(
        execute=jail.execute or job == "build" or not jail.template,
        memfd=jail.memfd,
        loopback=jail.loopback,
        gpu=jail.gpu,
        truncate=not alone and jail.landlock < _TRUNCATE_HANDLED,
        signals=not alone and jail.landlock < _SIGNALS_SCOPED,
        metadata=not alone,
        processes=job != "timed",
    )


def _rules(jail: Jail, writable: str) -> list[landlock.PathRule]:
    rights = {
        landlock.READ: (*jail.visible, *jail.shown),
        landlock.Right.READ_DIR: jail.listed,
        landlock.LOOK: jail.readable,
        landlock.WRITE: (writable,),
        landlock.NODE: (*DEVICES, *jail.nodes),
    }
    rules = [landlock.PathRule(path, right, needed=False) for right, paths in rights.items() for path in paths]
    if jail.namespaces:
        # Both were made for the slot: neither shows anything of the host. A GPU's driver names its threads in /proc, in children, too.
        names = landlock.Right.WRITE_FILE if jail.gpu else landlock.Right(0)
        rules += [landlock.PathRule("/proc", landlock.LOOK | names), landlock.PathRule("/etc", landlock.LOOK)]
        rules += [landlock.PathRule("/", landlock.Right.READ_DIR)]
    return rules
