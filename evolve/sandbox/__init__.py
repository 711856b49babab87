"""Candidate processes: a program's functions are called in a process of their own, and only plain data comes back.

The worker's side is here: a `Box` (box.py) keeps a warm template (template_process.py), and opens a `Session` (session.py) with a candidate that the
template forks; requests and answers cross by channel.py in the form of wire.py. `inner` runs in the processes of a slot, `walls` confine a candidate
there, and `machine` finds out what this machine offers for that. policy.py makes of a task's grants and of these means the jail of a slot.

No byte of a candidate is ever executed, imported or unpickled in the process that evaluates it."""

from evolve.sandbox.box import Box
from evolve.sandbox.means import NOTHING, PLAIN, Means
from evolve.sandbox.policy import Devices
from evolve.sandbox.session import OUTCOME, JobKind, Session
from evolve.sandbox.status import Completed, SessionFailed, SessionUsage, Status
from evolve.sandbox.timing import NATIVE_BLOCK, Native, Segment, Timed, TimingUnavailable, Window, native_source
from evolve.sandbox.wire import WireError, decode, encode

__all__ = [
    "NATIVE_BLOCK",
    "NOTHING",
    "OUTCOME",
    "PLAIN",
    "Box",
    "Completed",
    "Devices",
    "JobKind",
    "Means",
    "Native",
    "Segment",
    "Session",
    "SessionFailed",
    "Status",
    "Timed",
    "TimingUnavailable",
    "SessionUsage",
    "Window",
    "WireError",
    "decode",
    "encode",
    "native_source",
]
