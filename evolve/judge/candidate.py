"""A program while it is judged: the handle that an evaluator holds.

Invariant: all sessions of a candidate together end within the stage's wall limit, and what they used is added up here."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Protocol

from evolve.sandbox import Completed, JobKind, Session, SessionFailed, Status
from evolve.types import Program

_NO_FILES: Mapping[str, bytes] = MappingProxyType({})


class OpenSession(Protocol):
    """Opens a session of a program with a wall limit in seconds."""

    def __call__(self, program: Program, seconds: float, job: JobKind = "run") -> Session:
        """What it is for decides what it may do."""
        ...


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

    def build(
        self, argv: Sequence[str], keep: Sequence[str], *, input: str = "", seconds: float | None = None
    ) -> Mapping[str, bytes]:
        """What a command that must succeed, such as a compiler, leaves in the files `keep`, for `session(files=...)`. It has a session of its
        own, in which nothing else happens: see `Session.build` and `Session.keep`."""
        with self._opened(seconds, "build") as session:
            session.build(argv, input=input)
            return session.keep(keep)

    @contextmanager
    def session(self, seconds: float | None = None, *, files: Mapping[str, bytes] = _NO_FILES) -> Iterator[Session]:
        """A process for builds, then commands, then calls, in which the program keeps what it has computed, and its folder what was
        built; one at a time. `files`, which `build` has made, lie there in place of the program's own of the same names. It ends after
        `seconds` of wall time, and never later than the stage."""
        with self._opened(seconds, "run") as session:
            if files:
                session.place(files)
            yield session

    @contextmanager
    def _opened(self, seconds: float | None, job: JobKind) -> Iterator[Session]:
        left = self._deadline - self._clock()
        if left <= 0:
            raise SessionFailed(Status.TIMEOUT, f"the stage's {self._limit:g} seconds were used up before this call")
        session = self._open(self.program, left if seconds is None else min(seconds, left), job)
        try:
            with session:
                yield session
        finally:
            self.cpu_seconds += session.usage.cpu_seconds
            self.log = session.usage.log or self.log
