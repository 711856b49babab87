"""The process that a worker starts for a slot: it makes the slot's namespaces and file tree, and becomes, or forks, the template.

Run as `python -s -P -c ...` in an environment that the worker made; standard library and siblings only. The jail arrives on standard input.
With namespaces the template is the first process of its own, so this one stays outside, waits for it, and ends as it did.

When this process ends, however it ends, the kernel ends a template that it has forked, and with it everything in its
namespace; it ends itself when its template has."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

from evolve.sandbox.inner.template import serve
from evolve.sandbox.jail import Jail
from evolve.sandbox.kernel import LINUX, PR_SET_DUMPABLE, PR_SET_PDEATHSIG, prctl
from evolve.sandbox.walls import namespaces, root
from evolve.sandbox.walls.cgroup import ControlGroup, sweep
from evolve.sandbox.walls.confinement import IGNORED

_UMASK = 0o022
"""Not the user's: candidates, who may be another user, must come to the folders that are made for them, and behave alike everywhere."""
_OWN_TASKS = 1
"""The template is a member of its candidates' group."""


def main(control: int, told: str) -> None:
    """The whole life of a slot's processes; `control` is the number of its socket. They end with the worker, whose end of it is closed then."""
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
    namespaces.enter(users=jail.user < 0, loopback=jail.loopback)
    first = os.fork()
    if first == 0:
        # A parent that is outside of its namespace has no number there.
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 0:
            kept = root.enter(jail, namespaces.inside(jail.user))
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
