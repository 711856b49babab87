"""Whether namespaces can be had: really tried, as a slot makes them, in a process of its own that ends with them.

Standard library and siblings only; `host` runs it as a program. Invariant: whatever it makes is gone when it ends, and no other process
sees it."""

import os

from evolve.sandbox import kernel
from evolve.sandbox.machine import identity
from evolve.sandbox.walls import namespaces


def refused() -> str:
    """The call that is refused with its error; empty where nothing is."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            _enter()
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


def _enter() -> None:
    """The namespaces of a slot, and a file tree of its own in them."""
    namespaces.enter(users=not identity.can_choose(), loopback=False)
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", "/", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=64k")
