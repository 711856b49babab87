"""Candidates that want more memory than they may have, by every way around the limits of one process."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case

_STOPPED = frozenset({Status.OK, Status.MEMORY_LIMIT, Status.SIGNAL})
"""The system refuses, or the program is ended."""
_LINUX = frozenset({"linux"})
_TOGETHER = """
import os
import time

def together():
    heard, tell = os.pipe()
    os.set_blocking(heard, False)
    living = {hold(tell) for _ in range(12)} - {0}
    full, until = 0, time.monotonic() + 3
    while full < len(living) and time.monotonic() < until:
        time.sleep(0.05)
        try:
            full += len(os.read(heard, 100))
        except BlockingIOError:
            pass
        living = {child for child in living if os.waitpid(child, os.WNOHANG)[0] == 0}
    most = min(len(living), full)
    return [f"held {most} x 100 MiB"] if most > 7 else []

def hold(tell):
    try:
        pid = os.fork()
    except OSError:
        return 0
    if pid == 0:
        held = b"x" * (100 << 20)
        os.write(tell, b".")
        time.sleep(5)
        os._exit(0)
    return pid
"""

CASES = (
    Case(
        "mem.bytearray",
        "hold 8 GiB in one piece",
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    return [f"held {len(bytearray(8 << 30)) >> 30} GiB"]
""",
        must="memory_limit",
        ends=frozenset({Status.MEMORY_LIMIT}),
        dangerous=True,
    ),
    Case(
        "mem.little_by_little",
        "hold ever more small pieces",
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    held = [bytearray(1 << 20) for _ in range(2048)]
    return [f"held {len(held)} MiB"]
""",
        must="memory_limit",
        ends=frozenset({Status.MEMORY_LIMIT, Status.SIGNAL}),
        dangerous=True,
    ),
    Case(
        "mem.shared_anon",
        "hold 2 GiB that are shared with nobody, which the limit on data does not count",
        """
import mmap
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    try:
        held = mmap.mmap(-1, 2 << 30)
    except OSError:
        return []
    for page in range(0, len(held), 4096):
        held[page] = 1
    return ["held 2 GiB"]
""",
        must="refused or ended",
        ends=_STOPPED,
        dangerous=True,
    ),
    Case(
        "mem.memfd",
        "hold 1.2 GiB in files in memory, which no limit of a process counts",
        """
import os
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    held = 0
    try:
        for _ in range(40):
            file = os.memfd_create("held")
            for _ in range(30):
                held += os.write(file, bytes(1 << 20))
    except OSError:
        pass
    return [f"held {held >> 20} MiB"] if held > 768 << 20 else []
""",
        must="refused or ended",
        ends=_STOPPED,
        dangerous=True,
        needs=_LINUX,
    ),
    Case(
        "mem.fork_times_limit",
        "hold 1.2 GiB in 12 children, each of which keeps within its limit",
        f"{_TOGETHER}"
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    return together()
""",
        must="refused or ended",
        ends=_STOPPED,
        dangerous=True,
    ),
    Case(
        "mem.spared",
        "ask the kernel to end others first, fill shared memory, and hold 1.2 GiB in 12 children",
        f"{_TOGETHER}"
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    for score in ("-1000", "-500", "0"):
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write(score)
            break
        except OSError:
            pass
    try:
        with open(f"/dev/shm/{told['mark']}", "wb", buffering=0) as file:
            for _ in range(30):
                file.write(bytes(1 << 20))
    except OSError:
        pass
    return together()
""",
        must="refused or ended, and nothing else is",
        ends=_STOPPED,
        dangerous=True,
        needs=_LINUX,
    ),
    Case(
        "mem.pipes",
        "hold 300 MiB in the buffers of pipes, which are the kernel's",
        """
import fcntl
import os
import time
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    heard, tell = os.pipe()
    for _ in range(6):
        try:
            if os.fork() == 0:
                os.write(tell, filled().to_bytes(2))
                time.sleep(5)
                os._exit(0)
        except OSError:
            break
    os.close(tell)
    time.sleep(1)
    os.set_blocking(heard, False)
    try:
        told_by_all = os.read(heard, 100)
    except BlockingIOError:
        return []
    held = sum(int.from_bytes(told_by_all[at : at + 2]) for at in range(0, len(told_by_all), 2))
    return [f"held {held} MiB"] if held > 160 else []

def filled():
    held = 0
    try:
        for _ in range(50):
            _, end = os.pipe()
            os.set_blocking(end, False)
            fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 1 << 20)
            held += os.write(end, bytes(1 << 20)) >> 20
    except OSError:
        pass
    return held
""",
        must="refused or ended",
        ends=_STOPPED,
        dangerous=True,
        needs=_LINUX,
    ),
)
