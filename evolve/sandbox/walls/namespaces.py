"""Namespaces of a slot's own: processes, network, messages, names, control groups, and users where the judge is not root. That of mounts is
made with the tree in it, see `root`.

Standard library only, for it lives in the outer process of a template. They are made once per slot, since that costs more than a fork.

Invariant: after `enter` the next process that is forked is the first one of a namespace of processes, which the kernel empties when it ends."""

import os
import socket
from pathlib import Path

from evolve.sandbox.kernel import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    PR_SET_DUMPABLE,
    prctl,
    unshare,
)
from evolve.sandbox.walls.loopback import raise_loopback

INSIDE = 60_000
"""The number of the judge's user in a user namespace: not 0, for which much software expects more than it gets."""

_NAME = "candidate"
"""The machine's name as candidates see it."""


def inside(user: int) -> int:
    """Who candidates are in a slot's namespaces: `user`, or, where that is -1, the judge's own."""
    return user if user >= 0 else INSIDE


def enter(*, users: bool, loopback: bool) -> None:
    """Makes and enters the namespaces; with `users` as an ordinary user, who is mapped to `INSIDE`. Raises `OSError`."""
    flags = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
    user, group = os.geteuid(), os.getegid()
    # The maps are files of this process, and those of one that is not dumpable belong to root.
    prctl(PR_SET_DUMPABLE, 1)
    unshare(flags | (CLONE_NEWUSER if users else 0))
    if users:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{INSIDE} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{INSIDE} {group} 1")
    prctl(PR_SET_DUMPABLE, 0)
    socket.sethostname(_NAME)
    if loopback:
        raise_loopback()


def renew_network() -> None:
    """Enters a network of its own again, with a loopback: ports that were used just now, and counters, stay behind with the old one."""
    unshare(CLONE_NEWNET)
    raise_loopback()
