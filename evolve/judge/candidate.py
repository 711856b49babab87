"""A program while it is judged: the handle that an evaluator holds.

Invariant: all sessions of a candidate together end within the stage's wall limit, and what they used is added up here."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from evolve.sandbox import Session, SessionFailed, Status
from evolve.types import Program

OpenSession: TypeAlias = Callable[[Program, float], Session]
"""Opens a session of a program with a wall limit in seconds."""


class Candidate:
    """A program under judgement. Its functions run in processes of their own; only plain data comes back.

    A call raises `SessionFailed` where the program fails; an evaluator may let that pass: the judge turns it into its outcome."""

    def __init__(
        self, program: Program, open_session: OpenSession, limit: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.program = program
        self.cpu_seconds = 0.0
        self.log = ""
        self._open = open_session
        self._limit = limit
        self._clock = clock
        self._deadline = clock() + limit

    def call(self, function: str, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        """The answer of one function in a session of its own, as plain data or arrays; raises `SessionFailed`."""
        with self.session(seconds) as session:
            return session.call(function, *arguments, **keywords)

    @contextmanager
    def session(self, seconds: float | None = None) -> Iterator[Session]:
        """A process for several calls, in which the program keeps what it has computed; one at a time. It ends after
        `seconds` of wall time, and never later than the stage."""
        left = self._deadline - self._clock()
        if left <= 0:
            raise SessionFailed(Status.TIMEOUT, f"the stage's {self._limit:g} seconds were used up before this call")
        session = self._open(self.program, left if seconds is None else min(seconds, left))
        try:
            with session:
                yield session
        finally:
            self.cpu_seconds += session.usage.cpu_seconds
            self.log = session.usage.log or self.log
