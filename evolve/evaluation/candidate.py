"""Handle of a program that an evaluator calls.

Invariant: all sessions of a candidate together end within the stage's wall limit, and what they used is added up here."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Protocol

from evolve.sandbox.session import JobKind, Session
from evolve.sandbox.status import Completed, SessionFailed, Status
from evolve.types import Program, SandboxError

_NO_FILES: Mapping[str, bytes] = MappingProxyType({})


class OpenSession(Protocol):
    """Opens a session of a program with a wall limit in seconds."""

    def __call__(self, program: Program, seconds: float, job: JobKind = "run") -> Session:
        """Opens a session; `job` decides which operations it allows."""
        ...


class Candidate:
    """A program under evaluation. Its functions run in processes of their own; only plain data comes back.

    What raises `SessionFailed` where the program fails may pass through an evaluator: the worker turns it into its outcome."""

    def __init__(
        self,
        program: Program,
        open_session: OpenSession,
        limit: float,
        clock: Callable[[], float] = time.monotonic,
        neighbour: Callable[[], OpenSession] | None = None,
    ) -> None:
        self.program = program
        self.cpu_seconds = 0.0
        self.log = ""
        self._open = open_session
        self._limit = limit
        self._clock = clock
        self._deadline = clock() + limit
        self._neighbour = neighbour
        self._trusted = False

    def call(self, function: str, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        """Calls one function in a session of its own and returns its answer, as plain data or arrays; raises `SessionFailed`."""
        with self.session(seconds) as session:
            return session.call(function, *arguments, **keywords)

    def run(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        """Runs a command in a session of its own, whose files are gone with it: see `Session.run`."""
        with self.session(seconds) as session:
            return session.run(argv, input=input)

    def build(
        self,
        argv: Sequence[str],
        keep: Sequence[str],
        *,
        files: Mapping[str, bytes] = _NO_FILES,
        input: str = "",
        seconds: float | None = None,
    ) -> Mapping[str, bytes]:
        """Runs a command that must succeed, such as a compiler, and returns the files `keep` that it leaves, for `session(files=...)`. It has a session of its
        own, in which nothing else happens: see `Session.build` and `Session.keep`. `files` lie there in place of the program's own of the same names."""
        with self._open_session(seconds, "build") as session:
            if files:
                session.place(files)
            session.build(argv, input=input)
            return session.keep(keep)

    def beside(self, program: Program) -> "Candidate":
        """A program that the worker trusts, such as the baseline or a reference, under the same limits in a box of its own, so that sessions of both can be open at once. The
        stage's limit holds for both together; what starting that box takes, the first time, does not count. Where this program fails, the evaluator has failed and not
        the candidate: an error, and no `SessionFailed`."""
        if self._neighbour is None:
            raise SandboxError(
                "there is no second box for a program beside this one. Try: ask the candidate that the evaluator was given"
            )
        began = self._clock()
        opened = self._neighbour()
        self._deadline += self._clock() - began
        other = Candidate(program, opened, self._limit, self._clock)
        other._deadline = self._deadline
        other._trusted = True
        return other

    @contextmanager
    def session(
        self, seconds: float | None = None, *, files: Mapping[str, bytes] = _NO_FILES, timed: bool = False
    ) -> Iterator[Session]:
        """A process for builds, then commands, then calls, in which the program keeps what it has computed, and its folder what was
        built; one at a time. `files`, which `build` has made, lie there in place of the program's own of the same names. Where it is `timed`, calls can be, and the program
        starts no processes. It ends after `seconds` of wall time, and never later than the stage."""
        with self._open_session(seconds, "timed" if timed else "run") as session:
            if files:
                session.place(files)
            yield session

    @contextmanager
    def _open_session(self, seconds: float | None, job: JobKind) -> Iterator[Session]:
        began = self._clock()
        # One deadline for all sessions: a program gets no more time by being called more often.
        left = self._deadline - began
        if left <= 0:
            raise SessionFailed(Status.TIMEOUT, f"the stage's {self._limit:g} seconds were used up before this call")
        session = self._open(self.program, left if seconds is None else min(seconds, left), job)
        # Where the box is started anew for it, that takes seconds, and is no matter of this program's.
        self._deadline += self._clock() - began
        try:
            with session:
                yield session
        except SessionFailed as failure:
            late = failure.status is Status.TIMEOUT and self._clock() >= self._deadline
            if self._trusted and failure.session is session and not late:
                raise SandboxError(
                    f"a program beside the candidate, which the evaluator trusts, failed: {failure}. Try: mend it, or the evaluator that calls it"
                ) from failure
            raise
        finally:
            self.cpu_seconds += session.usage.cpu_seconds
            self.log = session.usage.log or self.log
