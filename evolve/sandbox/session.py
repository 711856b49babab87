"""What an evaluator does with one candidate process: builds, then commands, then calls, which may be timed.

Invariant: when the `with` block of a session is left, the candidate and everything that it started are gone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

from evolve.sandbox.argv import checked_names
from evolve.sandbox.conversation import Conversation, JobKind, said
from evolve.sandbox.status import Completed, SessionFailed, Status, failing
from evolve.sandbox.timing import NATIVE_BLOCK, Native, Segment, Timed, Window, median
from evolve.types import SandboxError

__all__ = ["JobKind", "Session"]
T = TypeVar("T")
_FAILED_BUILD = {Status.SIGNAL, Status.RESULT_TOO_LARGE, Status.NO_ENTRY, Status.MEMORY_LIMIT}
_OVERHEADS = 21


class Session(Conversation):
    """One candidate process; made by `Box.open`, used by one thread. After a failure of the dialogue itself every further request
    fails the same way; after an exception in the candidate's code, or a command that failed, it may go on.

    Commands come before calls, and builds before all: `build` runs before a line of the program's own code has, so that the program
    decides what comes of it by its sources alone; `run` runs in a process into which no Python of the program was imported."""

    def __enter__(self) -> "Session":
        return self

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        """The answer of a function of the entry module, as plain data and arrays. `seconds` limits this call's wall time; the
        session's limit holds anyhow. Raises `SessionFailed`; arguments that are no plain data raise `WireError`."""
        return self._asked("call", f"{function}()", ["call", function, arguments, keywords], seconds)

    def map(self, function: str, calls: Sequence[Sequence[Any]], /, seconds: float | None = None) -> list[Any]:
        """The answers of one function to many calls, each given by its arguments. All cross together, so a hundred cost little more
        than one; the program has all the arguments at once. Raises as `call` does; one call that fails is the failure of all."""
        answers = self._asked("call", f"{function}()", ["map", function, list(calls)], seconds)
        if type(answers) is not list or len(answers) != len(calls):
            raise SessionFailed(Status.BAD_JSON, f"what came of {function}() is not of the form in which that comes")
        return answers

    def run(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        """Runs a command in the candidate's folder, where all files of the program and the context lie, with `input` for its standard
        input. Any exit code is an answer; an end by a signal, too much output or too much time raise `SessionFailed`. A command
        that this machine does not have raises `SandboxError`."""
        return self._commanded("run", argv, input, seconds)

    def build(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        """Runs a command that must succeed, such as a compiler: whatever else comes of it is BUILD_FAILED, with its last words. Only
        time is counted as always."""
        with failing(self):
            completed = _build_of(lambda: self._commanded("build", argv, input, seconds))
            if completed.code == 0:
                return completed
            words = f"{completed.stderr.strip()}\n{completed.stdout.strip()}".strip()
            raise SessionFailed(Status.BUILD_FAILED, f"{argv[0]} failed with exit code {completed.code}{said(words)}")

    def keep(self, names: Sequence[str], *, claimed: bool = False) -> dict[str, bytes]:
        """What these files hold that builds have left in the candidate's folder, together no more than an answer may have. One that is not
        there, or is no ordinary file, is BUILD_FAILED. `claimed`: what commands have left, too, which is the program's word; then one that is
        not there is left out, and one that is no ordinary file is NO_ENTRY."""
        wanted = checked_names(names)
        request = ["keep", wanted, self._limits.result, claimed]
        with failing(self):
            if claimed:
                found = self._asked("run", "keeping files", request, None)
            else:
                found = _build_of(lambda: self._asked("build", "keeping files", request, None))
            if not _is_kept(found, wanted, claimed):
                raise SessionFailed(Status.BAD_JSON, "what was kept is not of the form in which that comes")
        return found

    def place(self, files: Mapping[str, bytes]) -> None:
        """More files for the candidate's folder, before anything else: they go before the program's and the context's, also where
        those import them."""
        checked_names(list(files))
        self._asked("build", "placing files", ["place", dict(files)], None)

    def timed(
        self,
        function: str,
        /,
        *arguments: Any,
        seconds: float | None = None,
        meanwhile: Callable[[], object] | None = None,
    ) -> Timed:
        """The answer of a function of the entry module, and what it took, in a session that is `timed`. The clock runs from when the arguments are sent until the whole answer
        is there. Those that are a `Window` are arrays in memory that judge and program share; where there are no others, one byte says go and one byte done, and
        the answer comes later. The program is then stopped, `meanwhile` is called (what it reads of a segment then, nobody can change), and the program goes on.
        `seconds` limits the work's wall time. Raises as `call` does, and `TimingUnavailable`."""
        what = f"{function}()"
        self._timed(what)  # before the program is imported, which is outside of the work
        windows = [self._shared(place, each) for place, each in enumerate(arguments) if isinstance(each, Window)]
        plain = [None if isinstance(each, Window) else each for each in arguments]
        by_signal = len(windows) == len(plain)
        self._asked("call", what, ["timed", function, windows, by_signal], None)
        return self._lapped("call", what, None if by_signal else plain, seconds, meanwhile)

    def clock_overhead(self) -> Timed:
        """What a timed call of nothing takes here, the median of 21: to be subtracted, or compared with what was `outside`. Before the program's first call, so that
        it has no influence on it."""
        what = "a call of nothing"
        self._timed(what)
        found = []
        for _ in range(_OVERHEADS):
            self._asked("run", what, ["timed", "", [], True], None)
            found.append(self._lapped("run", what, None, None, None))
        return median(found)

    def native(self, library: str, segment: Segment) -> Native:
        """Timed calls of a shared library that `candidate.build` has made, with the loop of `native_source` in it; it lies in the folder of this session,
        which is `timed`, by `candidate.session(files=...)`. No Python of the program is imported, before or after, and nothing else can be
        asked. Raises as `call` does."""
        if segment.size <= NATIVE_BLOCK:
            raise ValueError(
                f"a segment of {segment.size} bytes has no room: its first {NATIVE_BLOCK} are the session's own"
            )
        what = f"loading {library}"
        watch = self._timed(what)
        if self._reached in ("call", "native call"):
            raise SandboxError(
                f"a native session after a {self._reached}, which may have left anything in the process. Do: begin in a session of its own"
            )
        self._asked("native call", what, ["native", library, segment.size], None, segment.fileno())
        return Native(watch, segment, library)

    def _lapped(
        self,
        kind: str,
        what: str,
        sent: list[Any] | None,
        seconds: float | None,
        meanwhile: Callable[[], object] | None,
    ) -> Timed:
        """What was prepared, done with the arguments that are `sent`, or at a signal where there are none."""
        watch = self._timed(what)

        def answer() -> Any:
            return self._asked(kind, what, ["answer", "", sent or [], {}], seconds)

        lap = watch.signal_lap(what, seconds) if sent is None else watch.lap(what, answer)
        try:
            if meanwhile is not None:
                meanwhile()
        finally:
            watch.go_on(what)
        return watch.answered(lap, answer(), what) if sent is None else lap

    def _shared(self, position: int, window: Window) -> list[Any]:
        """A window as it is told; its segment goes there when it is first needed."""
        if window.segment not in self._segments:
            self._asked("call", "sharing memory", ["share", window.segment.size], None, window.segment.fileno())
            self._segments.append(window.segment)
        return [position, self._segments.index(window.segment), window.offset, list(window.shape), window.dtype]


def _build_of(act: Callable[[], T]) -> T:
    """What comes of a part of a build; what a program may end in elsewhere is BUILD_FAILED here."""
    try:
        return act()
    except SessionFailed as failure:
        if failure.status not in _FAILED_BUILD:
            raise
        raise SessionFailed(Status.BUILD_FAILED, failure.message, failure.signal) from None


def _is_kept(value: Any, wanted: Sequence[str], claimed: bool) -> TypeGuard[dict[str, bytes]]:
    """Whether it is the content of each file, in their order; some of those that are `claimed` may be missing."""
    if type(value) is not dict or any(type(content) is not bytes for content in value.values()):
        return False
    return list(value) == [name for name in wanted if name in value or not claimed]
