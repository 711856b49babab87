"""Hostile programs that want back the rights that were taken from them.

Invariant: what they ask the kernel to do would fail for another reason even where it is allowed, or changes only a process that ends at once."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_HELD = frozenset({Status.OK, Status.SIGNAL})

_SET_USER = """
import os
from raw import attempt, in_child

def attack(told):
    achieved = ["runs as root"] if 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()) else []
    def asked(act, look):
        act()
        return 0 in look()
    achieved += in_child(lambda: attempt("becomes root", lambda: asked(lambda: os.setuid(0), os.getresuid)))
    achieved += in_child(lambda: attempt("becomes root in part", lambda: asked(lambda: os.setresuid(-1, 0, -1), os.getresuid)))
    achieved += in_child(lambda: attempt("joins root's group", lambda: asked(lambda: os.setresgid(-1, 0, -1), os.getresgid)))
    achieved += in_child(lambda: attempt("chooses its groups", lambda: os.setgroups([0]) is None))
    other = told["uid"] or 1
    return achieved + in_child(lambda: attempt("becomes the judge's user", lambda: os.getuid() != other and os.setresuid(other, other, other) is None))
"""

_SET_USER_PROGRAM = """
import os
import subprocess
import time
from raw import attempt

def effective_user(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(line for line in status if line.startswith("Uid:")).split()[2]

def became_root(program):
    # It waits for a password that never comes.
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 0.3
        while process.poll() is None and time.monotonic() < end:
            if effective_user(process.pid) == "0":
                return True
            time.sleep(0.01)
    finally:
        process.stdin.close()
        process.kill()
        process.wait()

def attack(told):
    if os.geteuid() == 0:
        return ["runs as root"]
    programs = [path for path in ("/usr/bin/passwd", "/usr/bin/su", "/bin/su") if attempt("there", lambda: os.stat(path).st_mode & 0o4000)]
    return [words for path in programs[:2] for words in attempt(f"becomes root by {path}", lambda: became_root(path))]
"""

_OWN_PROGRAM = """
import os
import shutil
import struct
from raw import attempt

def attack(told):
    # A program of ours that runs as its owner lets other users act as us later.
    def kept():
        shutil.copy("/bin/true", "kept")
        os.chmod("kept", 0o4755)
        return os.stat("kept").st_mode & 0o4000 and os.setxattr("kept", "security.capability", struct.pack("<5I", 0x02000001, 0xFFFFFFFF, 0, 0, 0)) is None
    return attempt("gives a program rights that it does not have", kept)
"""

_STATUS = """
import ctypes
from raw import LIBC, call

NO_NEW_PRIVILEGES = 39

def attack(told):
    achieved = []
    if LIBC.prctl(NO_NEW_PRIVILEGES, 0, 0, 0, 0) != 1:
        achieved.append("may gain privileges by running a program")
    sets = (ctypes.c_uint32 * 6)()
    call("capget", (ctypes.c_uint32 * 2)(0x20080522, 0), sets)
    if any(sets):
        achieved.append("has capabilities")
    try:
        with open("/proc/self/status") as status:
            found = dict(line.split()[:2] for line in status if len(line.split()) > 1)
    except OSError:
        return achieved
    if found.get("Seccomp:") != "2":
        achieved.append("may use every call of the kernel")
    return achieved + [f"has {name}" for name in ("CapInh", "CapAmb") if int(found[f"{name}:"], 16)]
"""

_BOUNDING = """
from raw import LIBC

READ, NO_NEW_PRIVILEGES = 23, 39

def attack(told):
    if LIBC.prctl(NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 1:
        return []  # no program that it starts gains any
    held = [number for number in range(64) if LIBC.prctl(READ, number, 0, 0, 0) == 1]
    return [f"could come to {len(held)} capabilities"] if held else []
"""

_CORE = """
import ctypes

def attack(told):
    zero = (ctypes.c_ulong * 2)(0, 0)
    libc = ctypes.CDLL(None)
    done = [libc.setrlimit(4, zero), libc.prlimit(0, 4, zero, None), libc.syscall(160, 4, zero)]
    return ["set the limit on core dumps to 0"] if 0 in done else []
"""
_RAISE = """
import resource
from raw import attempt, in_child

LIMITS = ("AS", "DATA", "STACK", "FSIZE", "NOFILE", "NPROC", "CORE", "CPU", "MEMLOCK", "NICE", "RTPRIO", "MSGQUEUE", "SIGPENDING")

def raised(which):
    soft, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        return False
    resource.setrlimit(which, (soft, hard + 1))
    return resource.getrlimit(which)[1] > hard

def attack(told):
    return in_child(lambda: [words for name in LIMITS for words in attempt(f"raises its limit {name}", lambda: raised(getattr(resource, f"RLIMIT_{name}")))])
"""

_REAL_TIME = """
import os
from raw import attempt, call, in_child

def attack(told):
    # A process of this kind goes before all others, the judge too.
    achieved = in_child(lambda: attempt("goes before all other processes", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) is None))
    return achieved + in_child(lambda: attempt("has the disk before all others", lambda: call("ioprio_set", 1, 0, 1 << 13) == 0))
"""

_ADMINISTRATION = """
import errno
from raw import call

def allowed(name, *arguments):
    # Each is asked for the impossible: who may not is told so first.
    try:
        call(name, *arguments)
    except OSError as error:
        return error.errno not in (errno.EPERM, errno.EACCES, errno.ENOSYS)
    return True
CALLS = (
    ("reboot", 0, 0, 0, 0), ("sethostname", b"", -1), ("swapon", b"/nonexistent", 0), ("acct", b"/nonexistent"),
    ("finit_module", -1, b"", 0), ("init_module", 0, 0, 0), ("kexec_load", 0, 99, 0, 0), ("fanotify_init", 0xFFFF0000, 0),
)

def attack(told):
    return [f"may call {name}" for name, *arguments in CALLS if allowed(name, *arguments)]
"""

CASES: tuple[Case, ...] = (
    Case("priv.setuid", "become root or the judge's user", _SET_USER, needs=LINUX, files=RAW),
    Case(
        "priv.suid_exec", "become root by a program that runs as its owner", _SET_USER_PROGRAM, needs=LINUX, files=RAW
    ),
    Case("priv.own_program", "make a program that has rights of its own", _OWN_PROGRAM, needs=LINUX, files=RAW),
    Case(
        "priv.nnp",
        "find a capability, or a call of the kernel, that was left to it",
        _STATUS,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "priv.bounding",
        "find a capability to which a program could still come, were it allowed to gain any",
        _BOUNDING,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case("priv.real_time", "go before all other processes", _REAL_TIME, ends=_HELD, needs=LINUX, files=RAW),
    Case(
        "priv.administration",
        "make the calls of an administrator, with arguments that cannot work",
        _ADMINISTRATION,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "rlimit.core",
        "lower the limit at which a crash calls no program of the host",
        _CORE,
        harmless=True,
        needs=LINUX,
    ),
    Case("rlimit.raise", "raise its own limits", _RAISE, needs=LINUX, files=RAW),
)
