"""Namespaces of a slot's own: processes, network, messages, names, control groups, and users where the worker is not root. That of mounts is
made with the tree in it, see `root`.

Standard library only, for it lives in the outer process of a template. They are made once per slot, since that costs more than a fork.

After `enter` the next process that is forked is the first one of a namespace of processes, which the kernel empties when it ends."""

import fcntl
import os
import socket
import struct
from pathlib import Path

from evolve.sandbox import kernel

INSIDE = 60_000
"""The number of the worker's user in a user namespace: not 0, for which much software expects more than it gets."""

_NAME = "candidate"
"""The machine's name as candidates see it."""
_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_REQUEST = struct.Struct("16sH14x")


def inside(user: int) -> int:
    """Returns who candidates are in a slot's namespaces: `user`, or, where that is -1, the worker's own."""
    return user if user >= 0 else INSIDE


def enter(*, users: bool, loopback: bool) -> None:
    """Makes and enters the namespaces; with `users` as an ordinary user, who is mapped to `INSIDE`. Raises `OSError`."""
    flags = (
        kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWCGROUP
    )
    user, group = os.geteuid(), os.getegid()
    # The maps are files of this process, and those of one that is not dumpable belong to root.
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    kernel.unshare(flags | (kernel.CLONE_NEWUSER if users else 0))
    if users:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{INSIDE} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{INSIDE} {group} 1")
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    socket.sethostname(_NAME)
    if loopback:
        raise_loopback()


def renew_network() -> None:
    """Enters a network of its own again, with a loopback: ports that were used just now, and counters, stay behind with the old one."""
    kernel.unshare(kernel.CLONE_NEWNET)
    raise_loopback()


def rehearse(*, users: bool) -> None:
    """Makes what a slot makes, the namespaces and a file tree in them, in a process that ends with them. Raises `OSError`."""
    enter(users=users, loopback=False)
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", "/", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=64k")


def raise_loopback() -> None:
    """Switches `lo` on; raises `OSError`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        found = fcntl.ioctl(sock, _SIOCGIFFLAGS, _REQUEST.pack(b"lo", 0))
        flags: int = _REQUEST.unpack(found)[1]
        fcntl.ioctl(sock, _SIOCSIFFLAGS, _REQUEST.pack(b"lo", flags | _IFF_UP))
