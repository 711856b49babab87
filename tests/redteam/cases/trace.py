"""Hostile programs that look into other processes, or alter them.

Invariant: what is written into another process is what was read from it."""

from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_PARENT = """
from raw import attempt, call, strangers

SEIZE, DETACH = 0x4206, 17

def attack(told):
    # A process that is seized runs on; it is let go when this process ends.
    return [words for pid in strangers(told) for words in attempt(f"traces process {pid}", lambda: call("ptrace", SEIZE, pid, 0, 0) == 0)]
"""

_MEMORY = """
from raw import attempt, strangers

def first_bytes(pid, mode):
    with open(f"/proc/{pid}/maps") as places, open(f"/proc/{pid}/mem", mode, buffering=0) as memory:
        memory.seek(int(places.readline().partition("-")[0], 16))
        return memory.read(8)

def attack(told):
    achieved = []
    for pid in strangers(told):
        achieved += attempt(f"reads the memory of process {pid}", lambda: first_bytes(pid, "rb"))
        achieved += attempt(f"may write into the memory of process {pid}", lambda: first_bytes(pid, "r+b"))
    return achieved
"""

_ENVIRONMENT = """
from guard import learnt
from raw import attempt, read, strangers

def attack(told):
    achieved = []
    for pid in strangers(told):
        achieved += attempt(f"reads the environment of process {pid}", lambda: read(f"/proc/{pid}/environ"))
        achieved += attempt(f"learns the key from process {pid}", lambda: learnt(told, read(f"/proc/{pid}/environ")))
    return achieved
"""

_VM_READ = """
import ctypes
from raw import LIBC, attempt, call, strangers

def places(pid):
    yield ctypes.cast(LIBC.getpid, ctypes.c_void_p).value  # our parent has the same memory at the same place
    try:
        with open(f"/proc/{pid}/maps") as listed:
            yield int(listed.readline().partition("-")[0], 16)
    except OSError:
        pass

def copied(pid, place):
    into = ctypes.create_string_buffer(8)
    ours = (ctypes.c_size_t * 2)(ctypes.addressof(into), 8)
    return call("process_vm_readv", pid, ours, 1, (ctypes.c_size_t * 2)(place, 8), 1, 0)

def attack(told):
    return [words for pid in strangers(told) for place in places(pid) for words in attempt(f"reads the memory of process {pid} by a call", lambda: copied(pid, place))]
"""

_DESCRIPTOR = """
import os
from raw import attempt, call, strangers

def taken(pid):
    handle = call("pidfd_open", pid, 0)
    for number in range(8):
        for words in attempt("taken", lambda: os.close(call("pidfd_getfd", handle, number, 0)) is None):
            return True

def attack(told):
    return [words for pid in strangers(told) for words in attempt(f"takes a descriptor out of process {pid}", lambda: taken(pid))]
"""

_SMALL_CALLS = """
import ctypes
import os
from raw import LIBC, attempt, call, strangers

def attack(told):
    achieved, pointer, size = [], ctypes.c_void_p(), ctypes.c_size_t()
    place = ctypes.cast(LIBC.getpid, ctypes.c_void_p).value
    pages, state, vector = (ctypes.c_void_p * 1)(place), (ctypes.c_int * 1)(), (ctypes.c_size_t * 2)(place & ~4095, 4096)
    for pid in strangers(told):
        achieved += attempt(f"asks where process {pid} keeps its locks", lambda: call("get_robust_list", pid, ctypes.byref(pointer), ctypes.byref(size)) == 0)
        achieved += attempt(f"compares its memory with process {pid}", lambda: call("kcmp", os.getpid(), pid, 1, 0, 0) >= 0)
        achieved += attempt(f"asks where the pages of process {pid} lie", lambda: call("move_pages", pid, 1, pages, 0, state, 0) >= 0)
        achieved += attempt(f"advises on the memory of process {pid}", lambda: call("process_madvise", call("pidfd_open", pid, 0), vector, 1, 3, 0) >= 0)
    return achieved
"""

_LIMITS = """
import os
import resource
from raw import attempt, call, strangers

def attack(told):
    # Each is set to what it is already: what it may set, it could have lowered.
    achieved = []
    for pid in strangers(told):
        achieved += attempt(f"sets limits of process {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, resource.prlimit(pid, resource.RLIMIT_NOFILE)))
        achieved += attempt(f"sets the priority of process {pid}", lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)) is None)
        achieved += attempt(f"sets the cores of process {pid}", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)) is None)
        achieved += attempt(f"sets the scheduler of process {pid}", lambda: os.sched_setscheduler(pid, os.sched_getscheduler(pid), os.sched_getparam(pid)) is None)
        achieved += attempt(f"sets the disk priority of process {pid}", lambda: call("ioprio_set", 1, pid, call("ioprio_get", 1, pid)) == 0)
    return achieved
"""

CASES: tuple[Case, ...] = (
    Case("trace.parent", "trace its parent and processes of the host", _PARENT, harmless=True, needs=LINUX, files=RAW),
    Case(
        "trace.mem",
        "open the memory of its parent and of the host's processes",
        _MEMORY,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "trace.environ",
        "read the environment of its parent and of the host's processes",
        _ENVIRONMENT,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "trace.vm_readv",
        "read their memory by a call that needs no file",
        _VM_READ,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "trace.pidfd_getfd",
        "take an open descriptor out of another process",
        _DESCRIPTOR,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "trace.small_calls",
        "learn of and act on other processes' memory by the lesser calls",
        _SMALL_CALLS,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "trace.limits",
        "set the limits, cores and priorities of its parent, which all later programs inherit",
        _LIMITS,
        needs=LINUX,
        files=RAW,
    ),
)
