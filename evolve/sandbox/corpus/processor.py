"""Candidates that want more of the processors, or all the time in the world."""

from evolve.sandbox.corpus.case import Case
from evolve.sandbox.status import Status

_TIMED_OUT = frozenset({Status.TIMEOUT, Status.SIGNAL})
"""The judge's clock, or the kernel's limit on processor time."""

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
        "cpu.affinity",
        "run on every processor of the machine",
        """
import os
from guard import tried

def attack(told):
    return tried("chose its own processors", os.sched_setaffinity, 0, range(os.cpu_count()))
""",
        harmless=True,
        needs=frozenset({"linux"}),
    ),
)
