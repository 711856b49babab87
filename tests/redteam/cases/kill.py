"""Hostile programs that signal what is not theirs.

Invariant: where there is no box, the test's own sibling gets signal 0 at most, and no group gets any."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_OWN_END = frozenset({Status.OK, Status.SIGNAL})

_PARENT = """
import os
import signal
from raw import attempt

def attack(told):
    parent = os.getppid()
    for number in range(1, 65):
        if number not in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):  # that is kill.stop_parent
            attempt("", lambda: os.kill(parent, number))
    return []  # the judge tells: the template that was hit does not answer
"""

_STOP_PARENT = """
import os
import signal
from raw import attempt

def attack(told):
    for number in (signal.SIGSTOP, signal.SIGTSTP):
        attempt("", lambda: os.kill(os.getppid(), number))
    return []
"""

_OTHER_CALLS = """
import os
import signal
import struct
from raw import attempt, call

def attack(told):
    parent, kill = os.getppid(), int(signal.SIGKILL)
    info = struct.pack("iiiiii104x", kill, 0, -1, 0, os.getpid(), os.getuid())
    attempt("", lambda: call("tkill", parent, kill))
    attempt("", lambda: call("tgkill", parent, parent, kill))
    attempt("", lambda: call("rt_sigqueueinfo", parent, kill, info))
    attempt("", lambda: call("rt_tgsigqueueinfo", parent, parent, kill, info))
    attempt("", lambda: call("pidfd_send_signal", call("pidfd_open", parent, 0), kill, 0, 0))
    return []
"""

_BY_DESCRIPTOR = """
import fcntl
import os
import signal
from raw import attempt, read

F_SETSIG = 10

def attack(told):
    # The kernel sends a signal of our choice to a process of our choice when there is something to read.
    reading, writing = os.pipe()
    attempt("", lambda: fcntl.fcntl(reading, F_SETSIG, int(signal.SIGKILL)))
    attempt("", lambda: fcntl.fcntl(reading, fcntl.F_SETOWN, os.getppid()))
    attempt("", lambda: fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK))
    os.write(writing, b"!")
    return []
"""

_ALL = """
import os
import signal
from guard import boxed
from raw import attempt, strangers

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    try:
        private = os.readlink("/proc/self/ns/pid") != told["namespace"]
    except OSError:
        private = False
    if not private:  # then it is only asked whether it would be allowed; the kernel says yes where it reaches nobody, too
        hit = [pid for pid in strangers(told) if attempt("hit", lambda: os.kill(pid, 0) is None)]
        return attempt("could signal every process of this user", lambda: hit and os.kill(-1, 0) is None)
    attempt("", lambda: os.kill(-1, signal.SIGSTOP))
    attempt("", lambda: os.kill(-1, signal.SIGKILL))
    return []
"""

_GROUP = """
import os
import signal
from guard import boxed
from raw import attempt

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    if os.getpgrp() != os.getpid():
        return ["is in the group of another process"]
    theirs = os.getpgid(os.getppid())
    # Numbers 0 and 1 would mean our own group and all processes.
    achieved = attempt("could signal its parent's group", lambda: theirs > 1 and os.killpg(theirs, 0) is None)
    if not achieved:
        os.killpg(0, signal.SIGKILL)
    return achieved
"""

_SIBLING = """
import os
from raw import attempt

def attack(told):
    pid = told["sibling"]
    if pid in (os.getpid(), os.getppid()):
        return []
    return attempt("could signal another process of the host", lambda: os.kill(pid, 0) is None)
"""

_CONTROLLER = """
import os
from raw import attempt

def attack(told):
    pid = told["engine"]
    if pid in (os.getpid(), os.getppid()):
        return []
    return attempt("could signal the engine", lambda: os.kill(pid, 0) is None)
"""

CASES: tuple[Case, ...] = (
    Case("kill.parent", "end or disturb the process that forked it, by every signal", _PARENT, needs=LINUX, files=RAW),
    Case("kill.stop_parent", "stop the process that forked it", _STOP_PARENT, needs=LINUX, files=RAW),
    Case(
        "kill.other_calls",
        "end its parent by the calls that are seldom thought of",
        _OTHER_CALLS,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "kill.by_descriptor",
        "end its parent by the signal that a pipe sends to its owner",
        _BY_DESCRIPTOR,
        needs=LINUX,
        files=RAW,
    ),
    Case("kill.all", "end every process that it may", _ALL, dangerous=True, ends=_OWN_END, needs=LINUX, files=RAW),
    Case(
        "kill.pgrp", "end its own group and its parent's", _GROUP, dangerous=True, ends=_OWN_END, needs=LINUX, files=RAW
    ),
    Case("kill.sibling", "signal another process of the host", _SIBLING, harmless=True, needs=LINUX, files=RAW),
    Case("kill.controller", "signal the engine", _CONTROLLER, harmless=True, needs=LINUX, files=RAW),
)
