"""Calls to the Linux kernel that Python's library has no name for, by ctypes.

Standard library only, for it lives in the template. A call that fails raises `OSError` with its name; none fails silently."""

import ctypes
import errno
import os
import resource
import sys
from pathlib import Path

LINUX = sys.platform == "linux"
_LIBC = ctypes.CDLL(None, use_errno=True)
if LINUX:
    # Looked up where it is loaded, and not in each fork of a template.
    _CAPSET = _LIBC.capset
    # Said once, the numbers need not be wrapped at each call.
    _LIBC.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_CLONE_VM = 0x00000100
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_NOATIME = 1024
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
"""Its number by the machine's name: the C library has no function for it."""

ATTACH = "attach"
"""The value of `EVOLVE_DEBUG` that lets debuggers and profilers attach to the engine's processes."""


def prctl(option: int, *arguments: int) -> int:
    """`prctl(2)`; raises `OSError`."""
    return _check("prctl", _LIBC.prctl(option, *(*arguments, 0, 0, 0, 0)[:4]))


def close_to_others() -> None:
    """Closes this process: no other process of this user may read or change this one's memory, environment or descriptors, by /proc or as a
    debugger, and it leaves no core file. Root still may. (A limit of 1 byte instead of none: at that one alone the kernel does not call a
    program of the host's for a crash either, and candidates inherit it.)

    A program that it starts begins open again, so each closes itself. Its own files in /proc are root's meanwhile: a process that is
    not root's and writes one of them, such as uid_map, sets `PR_SET_DUMPABLE` to 1 first. `EVOLVE_DEBUG=attach` leaves it open."""
    if os.environ.get("EVOLVE_DEBUG") == ATTACH:
        return
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0) if most == 0 else (1, 1))
    if LINUX:
        prctl(PR_SET_DUMPABLE, 0)


def syscall(name: str, number: int, *arguments: object) -> int:
    """A system call by its number; integers are passed as 64 bits, other ctypes values as they are. Raises `OSError` with `name`."""
    # A plain int would be passed as 32 bits, and the upper half of the register is whatever was there.
    passed = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    return _check(name, _LIBC.syscall(ctypes.c_long(number), *passed))


def capset(header: bytes, sets: ctypes.Array[ctypes.c_uint32]) -> None:
    """`capset(2)`; raises `OSError`."""
    _check("capset", _CAPSET(header, sets))


def unshare(flags: int) -> None:
    """`unshare(2)`; raises `OSError`."""
    _check("unshare", _LIBC.unshare(flags))


def single_threaded() -> bool:
    """Returns whether this process has one thread. The kernel lets only such a one say that it wants to share its memory with nobody; where it may not
    ask, /proc tells."""
    if not LINUX:
        return True
    if _LIBC.unshare(_CLONE_VM) == 0:
        return True
    if ctypes.get_errno() == errno.EINVAL:
        return False
    return len(list(Path("/proc/self/task").iterdir())) == 1


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """`mount(2)`; raises `OSError` with the target."""
    _check(
        f"mount {target}",
        _LIBC.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()),
    )


def unmount(target: str, flags: int = 0) -> None:
    """`umount2(2)`; raises `OSError` with the target."""
    _check(f"umount {target}", _LIBC.umount2(target.encode(), flags))


def pivot_root() -> None:
    """`pivot_root(2)`: the working folder, which is a mount, becomes the root, with the old one on top of it; raises `OSError`."""
    here = ctypes.c_char_p(b".")
    syscall("pivot_root", _PIVOT_ROOT[os.uname().machine], here, here)


def _check(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
