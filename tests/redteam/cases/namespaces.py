"""Hostile programs that make namespaces and mounts of their own, and so come to rights that they did not have.

Invariant: what succeeds, succeeds in a child that ends at once; what mounts does so over its own folder, and takes it away again."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_HELD = frozenset({Status.OK, Status.SIGNAL})

_FLAGS = """
FLAGS = {"user": 0x10000000, "mount": 0x20000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000, "cgroup": 0x2000000, "pid": 0x20000000, "time": 0x80}
"""

_UNSHARE = (
    """
from raw import attempt, call, in_child

"""
    + _FLAGS
    + """
def attack(told):
    return [words for name, flag in FLAGS.items() for words in in_child(lambda: attempt(f"makes a {name} namespace", lambda: call("unshare", flag) == 0))]
"""
)

_CLONE = (
    """
import os
import signal
from raw import attempt, call

"""
    + _FLAGS
    + """
def cloned(flag):
    pid = call("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)

def attack(told):
    # 0x80 would be an end signal here, so time is left out.
    return [words for name, flag in FLAGS.items() if name != "time" for words in attempt(f"starts a process in a {name} namespace of its own", lambda: cloned(flag))]
"""
)

_CLONE3 = (
    """
import os
import signal
import struct
from raw import attempt, call

"""
    + _FLAGS
    + """
def cloned(flag):
    arguments = struct.pack("8Q", flag, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = call("clone3", arguments, len(arguments))
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)

def attack(told):
    return [words for name, flag in FLAGS.items() for words in attempt(f"starts a process in a {name} namespace by clone3", lambda: cloned(flag))]
"""
)

_MOUNT = """
import os
from guard import boxed
from raw import attempt, call

REMOUNT_BIND, BIND = 32 | 4096, 4096

def mounted(source, kind, flags):
    os.makedirs("mounted", exist_ok=True)
    call("mount", source, os.path.abspath("mounted").encode(), kind, flags, 0)
    return call("umount2", os.path.abspath("mounted").encode(), 2) == 0

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    achieved = attempt("mounts a folder in memory", lambda: mounted(b"none", b"tmpfs", 0))
    achieved += attempt("mounts /proc anew", lambda: mounted(b"proc", b"proc", 0))
    achieved += attempt("mounts its root again", lambda: mounted(b"/", b"none", BIND))
    for path in (b"/", b"/usr", b"/proc", b"/dev"):
        achieved += attempt(f"mounts {path.decode()} for writing", lambda: call("mount", b"none", path, b"none", REMOUNT_BIND, 0) == 0)
    return achieved + attempt("takes a mount away", lambda: call("umount2", b"/proc", 2) == 0)
"""

_MOUNT_BY_PARTS = """
from raw import attempt, call

CLONE, AT_FDCWD = 1, -100

def attack(told):
    # Nothing is mounted anywhere: a mount that is not attached ends with its descriptor.
    achieved = [words for kind in (b"tmpfs", b"proc", b"sysfs", b"overlay", b"cgroup2") for words in attempt(f"prepares a mount of {kind.decode()}", lambda: call("fsopen", kind, 0) >= 0)]
    return achieved + attempt("copies a mount", lambda: call("open_tree", AT_FDCWD, b"/", CLONE) >= 0)
"""

_ENTER = """
import os
from raw import attempt, call, in_child, strangers

def attack(told):
    def entered(pid, kind):
        return call("setns", os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY), 0) == 0
    return [
        words
        for pid in ("self", 1, *strangers(told))
        for kind in ("net", "ipc", "uts", "mnt", "pid", "cgroup", "user")
        for words in in_child(lambda: attempt(f"enters the {kind} namespace of {pid}", lambda: entered(pid, kind)))
    ]
"""

_CHROOT = """
import os
from raw import attempt, call, in_child

def attack(told):
    def climbed():
        # The way out of every chroot: a second one, while the current folder is above it.
        os.makedirs("inner", exist_ok=True)
        call("chroot", b"inner")
        for _ in range(40):
            os.chdir("..")
        return call("chroot", b".") == 0
    achieved = in_child(lambda: attempt("has another root", lambda: call("chroot", b".") == 0))
    return achieved + in_child(lambda: attempt("climbs out of its root", climbed))
"""

CASES: tuple[Case, ...] = (
    Case(
        "ns.userns",
        "make namespaces by unshare, one after the other",
        _UNSHARE,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "ns.clone_userns",
        "start processes in namespaces of their own",
        _CLONE,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "ns.clone3",
        "the same by clone3, whose flags no filter can read",
        _CLONE3,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "ns.mount",
        "mount, mount again for writing, take mounts away",
        _MOUNT,
        dangerous=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "ns.mount_by_parts",
        "mount by the newer calls",
        _MOUNT_BY_PARTS,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case("ns.setns", "enter the namespaces of others", _ENTER, harmless=True, ends=_HELD, needs=LINUX, files=RAW),
    Case(
        "ns.chroot", "change its root, and climb out of it", _CHROOT, harmless=True, ends=_HELD, needs=LINUX, files=RAW
    ),
)
