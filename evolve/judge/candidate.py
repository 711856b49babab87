"""A program while it is judged: the handle that an evaluator holds.

Invariant: all sessions of a candidate together end within the stage's wall limit, and what they used is added up here."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from evolve.sandbox import Completed, Session, SessionFailed, Status
from evolve.types import Program

OpenSession: TypeAlias = Callable[[Program, float], Session]
"""Opens a session of a program with a wall limit in seconds."""


class Candidate:
    """A program under judgement. Its functions run in processes of their own; only plain data comes back.

    What raises `SessionFailed` where the program fails may pass through an evaluator: the judge turns it into its outcome."""

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

    def run(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        """What comes of a command in a session of its own, whose files are gone with it: see `Session.run`."""
        with self.session(seconds) as session:
            return session.run(argv, input=input)

    @contextmanager
    def session(self, seconds: float | None = None) -> Iterator[Session]:
        """A process for builds, then commands, then calls, in which the program keeps what it has computed, and its folder what was
        built; one at a time. It ends after `seconds` of wall time, and never later than the stage."""
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
