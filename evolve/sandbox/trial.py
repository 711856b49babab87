"""Whether namespaces can be had: really tried, in a process of its own that ends with them.

Standard library and `kernel` only; `host` runs it as a program. Invariant: whatever it makes is gone when it ends, and no other process
sees it."""

import os
from collections.abc import Callable

from evolve.sandbox import kernel

_REST = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC


def refused() -> str:
    """The call that is refused with its error; empty where nothing is."""
    if os.geteuid() == 0 and not _refused_to(_as_root):
        return ""
    return _refused_to(_as_user)


def _as_root() -> None:
    """Without a user namespace, as root of a whole machine can."""
    kernel.unshare(_REST)
    _mount()


def _as_user() -> None:
    """In a user namespace, in which this process has the rights for the others."""
    user, group = os.geteuid(), os.getegid()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    kernel.unshare(kernel.CLONE_NEWUSER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/gid_map", f"0 {group} 1")
    _write("/proc/self/uid_map", f"0 {user} 1")
    kernel.unshare(_REST)
    _mount()


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _mount() -> None:
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", "/", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=64k")


def _refused_to(attempt: Callable[[], None]) -> str:
    """What was refused to `attempt`, in a child; empty where nothing was."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            attempt()
            status = 0
        except OSError as error:
            os.write(writing, (f"{error.filename}: " if error.filename else "").encode() + str(error.strerror).encode())
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as answer:
        said = answer.read().decode()
    _, status = os.waitpid(pid, 0)
    return said or (f"the trial ended with status {status}" if status else "")
