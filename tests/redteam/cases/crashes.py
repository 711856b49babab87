"""Candidates that crash, in the hope that what is left of them is kept."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case

_CRASHED = frozenset({Status.SIGNAL})
# A child crashes first, for only its parent is told whether the kernel has written its memory to a file.
_FIRST_A_CHILD = """
import os

def attack(told):
    child = os.fork()
    if child == 0:
        crash()
    _, status = os.waitpid(child, 0)
    if os.WCOREDUMP(status):
        return ["its memory was written to a file"]
    crash()
"""

CASES = (
    Case(
        "crash.segv",
        "read address 0",
        f"{_FIRST_A_CHILD}"
        """
import ctypes

def crash():
    ctypes.string_at(0)
""",
        must="signal, no core file",
        ends=_CRASHED,
    ),
    Case(
        "crash.abort",
        "abort",
        f"{_FIRST_A_CHILD}"
        """
def crash():
    os.abort()
""",
        must="signal, no core file",
        ends=_CRASHED,
    ),
    Case(
        "crash.stack",
        "use up the stack of the C code",
        """
import sys

def attack(told):
    sys.setrecursionlimit(1 << 30)
    deep = []
    for _ in range(200_000):
        deep = [deep]
    repr(deep)
""",
        must="signal or error",
        ends=frozenset({Status.SIGNAL, Status.ERROR, Status.MEMORY_LIMIT}),
        # A busy machine takes seconds to fill the stack.
        seconds=10.0,
        within=15.0,
    ),
)
