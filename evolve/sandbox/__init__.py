"""Candidate processes: a program's functions are called in a process of their own, and only plain data comes back.

Here is the judge's side: a `Box` opens a `Session`, which is a dialogue over a channel. `inner` runs in the processes of a slot, `walls` are what
confines a candidate there, `machine` finds out what this machine offers for that, and `corpus` are the hostile programs that try it.

Invariant: no byte of a candidate is ever executed, imported or unpickled in the process that judges it."""

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
