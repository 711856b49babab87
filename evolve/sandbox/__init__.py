"""Candidate processes: a program's functions are called in a process of their own, and only plain data comes back.

Invariant: no byte of a candidate is ever executed, imported or unpickled in the process that judges it."""

from evolve.sandbox.box import ISOLATION, Box
from evolve.sandbox.outcome import OUTCOME
from evolve.sandbox.session import JobKind, Session
from evolve.sandbox.status import Completed, SessionFailed, Status, Usage
from evolve.sandbox.wire import WireError, decode, encode

__all__ = [
    "ISOLATION",
    "OUTCOME",
    "Box",
    "Completed",
    "JobKind",
    "Session",
    "SessionFailed",
    "Status",
    "Usage",
    "WireError",
    "decode",
    "encode",
]
