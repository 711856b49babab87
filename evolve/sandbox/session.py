"""Session with one candidate process: builds, then commands, then calls, which may be timed.

Commands come before calls, and builds before all, so that what the program decides by its own code influences nothing that came before; a request that
comes too late in this order reaches nobody. When the `with` block of a session is left, the candidate and everything that it started are gone."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType, TracebackType
from typing import Any, Literal, TypeAlias, TypeGuard, TypeVar

from evolve.sandbox.channel import Channel, Conversation, explain_signal
from evolve.sandbox.jail import PATH
from evolve.sandbox.output import readable
from evolve.sandbox.status import Completed, SessionFailed, SessionReport, SessionUsage, Status, TemplateLost
from evolve.sandbox.timing import (
    NATIVE_BLOCK,
    Native,
    ProcessClock,
    ProcessEnded,
    Segment,
    Stopwatch,
    Timed,
    TimingUnavailable,
    Window,
)
from evolve.sandbox.wire import pieces
from evolve.types import Limits, Outcome, SandboxError

T = TypeVar("T")
JobKind: TypeAlias = Literal["build", "run", "timed"]
"""Purpose of a session. A build may start programs, whatever the task grants, and does nothing else; a run may do what is granted; a timed
session starts no processes."""
OUTCOME: Mapping[Status, Outcome] = MappingProxyType(
    {
        Status.OK: Outcome.OK,
        Status.TIMEOUT: Outcome.TIMED_OUT,
        Status.MEMORY_LIMIT: Outcome.OUT_OF_MEMORY,
        Status.SIGNAL: Outcome.CRASHED,
        Status.ERROR: Outcome.CRASHED,
        Status.NO_RESULT: Outcome.CRASHED,
        Status.NO_ENTRY: Outcome.INVALID,
        Status.BUILD_FAILED: Outcome.BUILD_FAILED,
        Status.BAD_FRAME: Outcome.INVALID,
        Status.BAD_JSON: Outcome.INVALID,
        Status.RESULT_TOO_LARGE: Outcome.INVALID,
        Status.BROKEN: Outcome.INTERNAL,
    }
)
"""Outcome of a program whose session ended so; `docs/tasks.md` shows the same table (tested)."""
_ORDER = ("build", "run", "call", "native call")
_FAILED_BUILD = {Status.SIGNAL, Status.RESULT_TOO_LARGE, Status.NO_ENTRY, Status.MEMORY_LIMIT}
_OUTPUT_SHARE = 8
"""A command's output may have this part of the bytes that an answer may have: in JSON some characters take more than one."""
_SHOWN = 2000
"""Characters of a command's words that a failure shows, of their beginning and of their end."""
_MOST_ARGUMENTS = 100_000
"""Bytes of all arguments together; the kernel takes at least this many."""


def _refuse_clock() -> ProcessClock:
    raise TimingUnavailable("this session has no clock. Try: open it by a box, with the job `timed`")


class Session:
    """One candidate process; made by `Box.open`, used by one thread. After a failure of the dialogue itself every further request
    fails the same way; after an exception in the candidate's code, or a command that failed, it may go on.

    `build` runs before a line of the program's own code has, so that the program decides what comes of it by its sources alone; `run` runs in a
    process into which no Python of the program was imported."""

    def __init__(
        self,
        channel: Channel,
        end: Callable[[float], SessionReport],
        seconds: float,
        limits: Limits,
        job: JobKind = "run",
        clock: Callable[[], ProcessClock] = _refuse_clock,
    ) -> None:
        self.usage = SessionUsage()
        self._dialogue = Conversation(self, channel, end, seconds)
        self._limits = limits
        self._seconds = seconds
        self._job = job
        self._clock = clock
        self._watch: Stopwatch | None = None
        self._reached = "build"
        self._segments: list[Segment] = []

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        failure = self.close()
        if failure is not None and kind is None:
            failure.session = self
            raise failure

    def close(self) -> SessionFailed | None:
        """Ends the candidate and all that it started; `usage` is valid afterwards. Returns a failure that no call has raised."""
        if self._dialogue.closed:
            return None
        woken = None if self._watch is None else self._watch.close()
        self.usage, failure = self._dialogue.close()
        return failure or woken

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        """Returns the answer of a function of the entry module, as plain data and arrays. `seconds` limits this call's wall time; the
        session's limit holds anyhow. Raises `SessionFailed`; arguments that are no plain data raise `WireError`."""
        return self._ask("call", f"{function}()", ["call", function, arguments, keywords], seconds)

    def map(self, function: str, calls: Sequence[Sequence[Any]], /, seconds: float | None = None) -> list[Any]:
        """Returns the answers of one function to many calls, each given by its arguments. All cross together, so a hundred cost little more
        than one; the program has all the arguments at once. Raises as `call` does; one call that fails is the failure of all."""
        answers = self._ask("call", f"{function}()", ["map", function, list(calls)], seconds)
        if type(answers) is not list or len(answers) != len(calls):
            raise self._malformed(f"{function}()")
        return answers

    def run(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        """Runs a command in the candidate's folder, where all files of the program and the context lie, with `input` for its standard
        input. Any exit code is an answer; an end by a signal, too much output or too much time raise `SessionFailed`. A command
        that this machine does not have raises `SandboxError`."""
        return self._run_command("run", argv, input, seconds)

    def build(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        """Runs a command that must succeed, such as a compiler: whatever else comes of it is BUILD_FAILED, with its last words. Only
        time is counted as always."""
        completed = _as_build(lambda: self._run_command("build", argv, input, seconds))
        if completed.code == 0:
            return completed
        words = _format_words(f"{completed.stderr.strip()}\n{completed.stdout.strip()}")
        message = f"{argv[0]} failed with exit code {completed.code}{words}"
        raise SessionFailed(Status.BUILD_FAILED, message, session=self)

    def keep(self, names: Sequence[str], *, claimed: bool = False) -> dict[str, bytes]:
        """Returns the content of files that builds have left in the candidate's folder, together no more than an answer may have. One that is not
        there, or is no ordinary file, is BUILD_FAILED. `claimed`: what commands have left, too, which is the program's word; then one that is
        not there is left out, and one that is no ordinary file is NO_ENTRY."""
        wanted = check_names(names)
        request = ["keep", wanted, self._limits.result, claimed]
        if claimed:
            found = self._ask("run", "keeping files", request, None)
        else:
            found = _as_build(lambda: self._ask("build", "keeping files", request, None))
        if not _is_kept(found, wanted, claimed):
            raise self._malformed("keeping files")
        return found

    def place(self, files: Mapping[str, bytes]) -> None:
        """Places more files in the candidate's folder, before anything else: they go before the program's and the context's, also where
        those import them."""
        check_names(list(files))
        self._ask("build", "placing files", ["place", dict(files)], None)

    def timed(
        self,
        function: str,
        /,
        *arguments: Any,
        seconds: float | None = None,
        meanwhile: Callable[[], object] | None = None,
    ) -> Timed:
        """Returns the answer of a function of the entry module, and what it took, in a session that is `timed`. The clock runs from when the
        arguments are sent until the whole answer is there. Those that are a `Window` are arrays in memory that worker and program share; where
        there are no others, one byte says go and one byte done, and the answer comes later. The program is then stopped, `meanwhile` is called
        (what it reads of a segment then, nobody can change), and the program goes on. `seconds` limits the work's wall time. Raises as `call`
        does, and `TimingUnavailable`."""
        what = f"{function}()"
        watch = self._start_watch(what)  # before the program is imported, which is outside of the work
        windows = [self._share(place, each) for place, each in enumerate(arguments) if isinstance(each, Window)]
        plain = [None if isinstance(each, Window) else each for each in arguments]
        by_signal = len(windows) == len(plain)
        self._ask("call", what, ["timed", function, windows, by_signal], None)

        def answer() -> Any:
            return self._ask("call", what, ["answer", "", [] if by_signal else plain, {}], seconds)

        lap = watch.signal_lap(what, seconds) if by_signal else watch.lap(what, answer)
        try:
            if meanwhile is not None:
                meanwhile()
        finally:
            watch.go_on(what)
        return watch.add_answer(lap, answer(), what) if by_signal else lap

    def native(self, library: str, segment: Segment) -> Native:
        """Returns timed calls of a shared library that `candidate.build` has made, with the loop of `native_source` in it; it lies in the folder
        of this session, which is `timed`, by `candidate.session(files=...)`. No Python of the program is imported, before or after, and nothing
        else can be asked. Raises as `call` does."""
        if segment.size <= NATIVE_BLOCK:
            raise ValueError(
                f"a segment of {segment.size} bytes has no room: its first {NATIVE_BLOCK} are the session's own"
            )
        what = f"loading {library}"
        watch = self._start_watch(what)
        if self._reached in ("call", "native call"):
            raise SandboxError(
                f"a native session after a {self._reached}, which may have left anything in the process. Try: begin in a session of its own"
            )
        self._ask("native call", what, ["native", library, segment.size], None, segment.fileno())
        return Native(watch, segment, library)

    def _run_command(self, kind: str, argv: Sequence[str], text: str, seconds: float | None) -> Completed:
        if self._job != "build" and (self._job == "timed" or not self._limits.grants.execute):
            why = "the task grants it none" if self._job == "run" else "it is timed"
            raise SandboxError(
                f"a {kind} in a session whose program may start no other: {why}. "
                "Try: compile with `candidate.build`, and call what it made"
            )
        most = self._limits.result // _OUTPUT_SHARE
        words = check_command(argv, text, self._limits.file_size)
        answer = self._ask(kind, words[0], ["run", words, text, most, self._limits.log], seconds)
        if type(answer) is not list or list(map(type, answer)) != [int, str, str, int, float]:
            raise self._malformed(words[0])
        code, output, errors, size, cpu_seconds = answer
        if size > most:
            message = f"{words[0]} printed {size} bytes; {most} are allowed"
            raise SessionFailed(Status.RESULT_TOO_LARGE, message, session=self)
        if code < 0:
            failure = explain_signal(-code, cpu_seconds, self._seconds)
            message = f"{words[0]}: {failure.message}{_format_words(readable(errors))}"
            raise SessionFailed(failure.status, message, failure.signal, self)
        return Completed(code, readable(output), readable(errors))

    def _ask(self, kind: str, what: str, request: list[Any], seconds: float | None, file: int = -1) -> Any:
        """Returns the answer to a request, which failures call `what`. Raises `SandboxError` where the session cannot do this any more."""
        if self._dialogue.closed:
            raise SandboxError(f"a {kind} in a session that is over. Try: {kind} inside its `with` block")
        if _ORDER.index(kind) < _ORDER.index(self._reached):
            raise SandboxError(
                f"a {kind} after a {self._reached}, which the program's own code may have influenced. Try: {kind} first, or in another session"
            )
        if self._job == "build" and kind != "build":
            raise SandboxError(f"a {kind} in a session that is for a build alone. Try: {kind} in another session")
        self._dialogue.check()
        payload = pieces(request)
        # Before it is sent: a request that fails may have run code of the program all the same.
        self._reached = kind
        return self._dialogue.ask(payload, what, seconds, file=file)

    def _malformed(self, what: str) -> SessionFailed:
        """Returns the failure of an answer that no honest process sends."""
        return SessionFailed(
            Status.BAD_JSON, f"what came of {what} is not of the form in which that comes", session=self
        )

    def _start_watch(self, what: str) -> Stopwatch:
        """Returns the session's stopwatch, which is made when it is first needed."""
        if self._job != "timed":
            raise SandboxError(
                "a timed call in a session that is not for that: the program may start processes, whose time nobody would count. "
                "Try: open it with candidate.session(timed=True)"
            )
        if self._dialogue.closed:
            raise SandboxError("a timed call in a session that is over. Try: call inside its `with` block")
        self._dialogue.check()
        if self._watch is None:
            try:
                self._watch = Stopwatch(self._dialogue, self._clock())
            except (ProcessEnded, TemplateLost):
                self._dialogue.miss(what)
        return self._watch

    def _share(self, position: int, window: Window) -> list[Any]:
        """Returns a window as the candidate is told of it; its segment goes there when it is first needed."""
        if window.segment not in self._segments:
            self._ask("call", "sharing memory", ["share", window.segment.size], None, window.segment.fileno())
            self._segments.append(window.segment)
        return [position, self._segments.index(window.segment), window.offset, list(window.shape), window.dtype]


def check_command(argv: Sequence[str], text: str, most: int) -> list[str]:
    """Returns `argv` as a list, or raises `SandboxError` for what no machine, or not this one, can run. `text` is the input, of which `most`
    bytes may be given."""
    if isinstance(argv, str) or not argv or not all(isinstance(word, str) for word in argv) or not argv[0]:
        raise SandboxError(
            f'a command is a list of texts, the first its name, got {argv!r:.200}. Try: write ["cc", "-O2", "file.c"]'
        )
    name = argv[0]
    if any("\0" in word for word in argv):
        raise SandboxError(f"an argument of {name!r} holds a zero character. Try: take it out")
    if sum(len(word.encode("utf-8", "replace")) + 1 for word in argv) > _MOST_ARGUMENTS:
        raise SandboxError(
            f"the arguments of {name!r} have more than {_MOST_ARGUMENTS} bytes. Try: give long data as `input`"
        )
    if len(text.encode("utf-8", "replace")) > most:
        raise SandboxError(f"the input of {name!r} has more than {most} bytes. Try: give less, or run it in parts")
    # A path within the candidate's folder is the candidate's to have.
    in_folder = os.sep in name and not name.startswith(os.sep)
    if not in_folder and shutil.which(name, path=os.environ.get("PATH", PATH)) is None:
        raise SandboxError(
            f"this machine has no command {name!r}, which the task's evaluator runs. Try: install it (a C compiler: "
            "`apt-get install gcc`), or put its folder on PATH"
        )
    return list(argv)


def check_names(names: Sequence[str]) -> list[str]:
    """Returns names of files in the candidate's folder as a list; raises `SandboxError` for others."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise SandboxError(
            f'files are named by a list of texts, each once, got {names!r:.200}. Try: write ["kernel.so"]'
        )
    for name in names:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or not place.name or "\0" in name:
            raise SandboxError(f"{name!r:.200} names no file in the candidate's folder. Try: give its path from there")
    return list(names)


def _as_build(act: Callable[[], T]) -> T:
    """Returns what `act` returns, a part of a build; what a program may end in elsewhere is BUILD_FAILED here."""
    try:
        return act()
    except SessionFailed as failure:
        if failure.status not in _FAILED_BUILD:
            raise
        raise SessionFailed(Status.BUILD_FAILED, failure.message, failure.signal, failure.session) from None


def _is_kept(value: Any, wanted: Sequence[str], claimed: bool) -> TypeGuard[dict[str, bytes]]:
    """Returns whether a value is the content of each file, in their order; some of those that are `claimed` may be missing."""
    if type(value) is not dict or any(type(content) is not bytes for content in value.values()):
        return False
    return list(value) == [name for name in wanted if name in value or not claimed]


def _format_words(words: str) -> str:
    """Returns a command's words below the line that says how it ended: the first errors explain the most, the last say how it gave up."""
    words = words.strip()
    if len(words) > 2 * _SHOWN:
        words = f"{words[:_SHOWN]}\n...\n{words[-_SHOWN:]}"
    return f":\n{words}" if words else ""
