"""The third file of many a case's program: system calls by number, and attempts that may fail.

Only its text is used, inside candidates; evolve never imports it. Standard library only. Invariant: a call that this machine's kernel numbers
in an unknown way is not made."""

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Callable, Mapping
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "capget": (125, 90),
    "chroot": (161, 51),
    "clone": (56, 220),
    "clone3": (435, 435),
    "execveat": (322, 281),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsopen": (430, 430),
    "get_robust_list": (274, 100),
    "init_module": (175, 105),
    "inotify_add_watch": (254, 27),
    "inotify_init1": (294, 26),
    "io_uring_setup": (425, 425),
    "ioprio_get": (252, 31),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "mount": (165, 40),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "ptrace": (101, 117),
    "reboot": (169, 142),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "semctl": (66, 191),
    "semget": (64, 190),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "shmctl": (31, 195),
    "shmget": (29, 194),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
"""Of the calls of x86_64 and of aarch64."""
_COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine()) if sys.platform == "linux" else None


def call(name: str, *arguments: Any) -> int:
    """A system call; raises `OSError`. Integers are passed as 64 bits, bytes as a pointer."""
    if _COLUMN is None:
        raise OSError(errno.ENOSYS, name)
    passed = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result: int = LIBC.syscall(ctypes.c_long(NUMBERS[name][_COLUMN]), *passed)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def attempt(words: str, act: Callable[[], Any]) -> list[str]:
    """The words, where what was attempted gives something that is true; nothing where it was refused."""
    try:
        return [words] if act() else []
    except (OSError, ValueError):
        return []


def in_child(act: Callable[[], list[str]]) -> list[str]:
    """What a child process achieves, so that this one stays as it is; nothing where the child was killed. Raises `RuntimeError` where it failed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, "\n".join(act()).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    with open(reading) as achieved:
        words = achieved.read().split("\n")
    if os.waitpid(pid, 0)[1] == 1 << 8:
        raise RuntimeError("what was to be tried in a child could not be tried")
    return [word for word in words if word]


def read(path: str, most: int = 1 << 20) -> bytes:
    """The first bytes of a file."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(number, most)
    finally:
        os.close(number)


def opened(path: str, flags: int) -> bool:
    """True if a file can be opened; it is closed again at once."""
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
    return True


def strangers(told: Mapping[str, Any]) -> list[int]:
    """Processes that are no business of ours: our parent, and two of the host, as far as their numbers are not our own."""
    return [pid for pid in (os.getppid(), told["sibling"], told["engine"]) if pid not in (0, os.getpid())]
