"""Candidates that want more of the processors, or all the time in the world."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case

_TIMED_OUT = frozenset({Status.TIMEOUT, Status.SIGNAL})
"""The judge's clock, or the kernel's limit on processor time."""
_LINUX = frozenset({"linux"})

CASES = (
    Case(
        "cpu.loop",
        "spin for ever",
        """
def attack(told):
    while True:
        pass
""",
        must="timeout",
        ends=_TIMED_OUT,
        seconds=0.5,
        within=3.0,
    ),
    Case(
        "cpu.ignore_signals",
        "ignore all signals, then spin",
        """
import signal

def attack(told):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        pass
""",
        must="timeout",
        ends=_TIMED_OUT,
        seconds=0.5,
        within=3.0,
    ),
    Case(
        "cpu.sleep",
        "sleep for an hour",
        """
import time

def attack(told):
    time.sleep(3600)
""",
        must="timeout",
        ends=_TIMED_OUT,
        seconds=0.3,
        within=3.0,
    ),
    Case(
        "cpu.gil_held_c",
        "sleep in C without letting go of the interpreter's lock",
        """
import ctypes

def attack(told):
    ctypes.PyDLL(None).sleep(3600)
""",
        must="timeout",
        ends=_TIMED_OUT,
        seconds=0.3,
        within=3.0,
    ),
    Case(
        "cpu.children_after_return",
        "return at once and leave 20 spinning children",
        """
import os
import signal
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    for _ in range(20):
        try:
            pid = os.fork()
        except OSError:
            break
        if pid == 0:
            signal.alarm(10)
            while True:
                pass
    return []
""",
        must="the answer is kept, the children are ended",
        dangerous=True,
    ),
    Case(
        "cpu.affinity",
        "run on every processor of the machine",
        """
import os
from guard import tried

def attack(told):
    return tried("chose its own processors", os.sched_setaffinity, 0, range(os.cpu_count()))
""",
        harmless=True,
        needs=_LINUX,
    ),
    Case(
        "cpu.nice",
        "go before all other processes",
        """
import os
from guard import tried

def attack(told):
    return tried("raised its own priority", os.nice, -5)
""",
        harmless=True,
    ),
    Case(
        "cpu.realtime",
        "run as a real-time process, which nothing else interrupts",
        """
import os
from guard import tried

def attack(told):
    achieved = tried("became a real-time process", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
    tried("went back", os.sched_setscheduler, 0, os.SCHED_OTHER, os.sched_param(0))
    return achieved
""",
        harmless=True,
        needs=_LINUX,
    ),
    Case(
        "cpu.signal_storm",
        "interrupt itself ten thousand times a second, and leave the timers running",
        """
import signal

def attack(told):
    heard = []
    for timer, number in ((signal.ITIMER_REAL, signal.SIGALRM), (signal.ITIMER_PROF, signal.SIGPROF)):
        signal.signal(number, lambda *_: heard.append(number))
        signal.setitimer(timer, 0.0001, 0.0001)
    while len(heard) < 1000:
        pass
    return []
""",
        must="the answer is kept, or it is its own failure",
        ends=frozenset({Status.OK, Status.ERROR, Status.BAD_JSON}),
    ),
    Case(
        "rlimit.signals",
        "have signals waiting, of which a user has so many for all processes together",
        """
import resource

def attack(told):
    most = resource.getrlimit(resource.RLIMIT_SIGPENDING)[0]
    return [f"may have {most} signals waiting"] if most > 1024 or most < 0 else []
""",
        must="a small limit",
        harmless=True,
        needs=_LINUX,
    ),
)
