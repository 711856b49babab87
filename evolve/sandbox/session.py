"""The dialogue with one candidate process.

Invariant: when the `with` block of a session is left, the candidate and everything that it started are gone."""

import signal
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from evolve.sandbox.argv import checked
from evolve.sandbox.channel import Channel, RepliesEnded
from evolve.sandbox.output import readable
from evolve.sandbox.process import Ended, TemplateLost
from evolve.sandbox.status import Completed, SessionFailed, Status, Usage
from evolve.sandbox.wire import WireError, decode, encode
from evolve.types import Limits, SandboxError

_PATIENCE = 0.2
"""Seconds that a process gets to end after its replies have: an exit closes files first, and its code is worth knowing."""
_CLAIMABLE = {Status.ERROR, Status.MEMORY_LIMIT, Status.BAD_JSON, Status.NO_RESULT, Status.NO_ENTRY}
_ORDER = ("build", "run", "call")
_OUTPUT_SHARE = 8
"""A command's output may have this part of the bytes that an answer may have: in JSON some characters take more than one."""
_SHOWN = 2000
"""Characters of a command's words that a failure shows, of their beginning and of their end."""


class Session:
    """One candidate process; made by `Box.open`, used by one thread. After a failure of the dialogue itself every further request
    fails the same way; after an exception in the candidate's code, or a command that failed, it may go on.

    Commands come before calls, and builds before all: `build` runs before a line of the program's own code has, so that the program
    decides what comes of it by its sources alone; `run` runs in a process into which no Python of the program was imported."""

    def __init__(self, channel: Channel, end: Callable[[float], Ended], seconds: float, limits: Limits) -> None:
        self.usage = Usage()
        self._channel = channel
        self._end = end
        self._limits = limits
        self._reached = "build"
        self._opened = time.monotonic()
        self._deadline = self._opened + seconds
        self._seconds = seconds
        self._failure: SessionFailed | None = None
        self._ended: Ended | None = None
        self._closed = False

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        failure = self.close()
        if failure is not None and kind is None:
            raise failure

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
        try:
            completed = self._commanded("build", argv, input, seconds)
        except SessionFailed as failure:
            if failure.status not in (Status.SIGNAL, Status.RESULT_TOO_LARGE, Status.NO_ENTRY, Status.MEMORY_LIMIT):
                raise
            raise SessionFailed(Status.BUILD_FAILED, failure.message, failure.signal) from None
        if completed.code == 0:
            return completed
        words = f"{completed.stderr.strip()}\n{completed.stdout.strip()}".strip()
        raise SessionFailed(Status.BUILD_FAILED, f"{argv[0]} failed with exit code {completed.code}{_said(words)}")

    def _commanded(self, kind: str, argv: Sequence[str], text: str, seconds: float | None) -> Completed:
        most = self._limits.result // _OUTPUT_SHARE
        words = checked(argv, text, self._limits.file_size)
        answer = self._asked(kind, words[0], ["run", words, text, most, self._limits.log], seconds)
        if not _is_completed(answer):
            raise SessionFailed(Status.BAD_JSON, f"what came of {words[0]} is not of the form in which that comes")
        code, output, errors, size, cpu_seconds = answer
        if size > most:
            raise SessionFailed(Status.RESULT_TOO_LARGE, f"{words[0]} printed {size} bytes; {most} are allowed")
        if code < 0:
            failure = _signalled(Ended(code, False, cpu_seconds, 0, 0), self._seconds)
            raise SessionFailed(
                failure.status, f"{words[0]}: {failure.message}{_said(readable(errors))}", failure.signal
            )
        return Completed(code, readable(output), readable(errors))

    def _asked(self, kind: str, what: str, request: list[Any], seconds: float | None) -> Any:
        """The answer to a request, of which `what` is the name in a failure's message. Raises where the session cannot do this any more."""
        if self._closed:
            raise SandboxError(f"a {kind} in a session that is over. Do: {kind} inside its `with` block")
        if _ORDER.index(kind) < _ORDER.index(self._reached):
            raise SandboxError(
                f"a {kind} after a {self._reached}, which the program's own code may have influenced. Do: {kind} first, or in another session"
            )
        if self._failure is not None:
            raise SessionFailed(self._failure.status, self._failure.message, self._failure.signal)
        self._reached = kind
        payload = encode(request)
        deadline = self._deadline if seconds is None else min(self._deadline, time.monotonic() + seconds)
        try:
            status, value = _answer(self._channel.exchange(payload, deadline))
        except RepliesEnded as ended:
            self._failure = self._unanswered(what, ended.inside_frame)
            raise self._failure from None
        except SessionFailed as failure:
            self._failure = _named(failure, what, self._seconds if seconds is None else min(seconds, self._seconds))
            raise self._failure from None
        if status is Status.OK:
            return value
        raise SessionFailed(status, readable(value))

    def close(self) -> SessionFailed | None:
        """Ends the candidate and all that it started; `usage` is valid afterwards. Gives what was wrong that no call has said."""
        if self._closed:
            return None
        self._closed = True
        failure = self._finish(0.0) if self._ended is None else None
        if failure is None and self._failure is None and self._channel.spoke():
            failure = SessionFailed(Status.BAD_FRAME, "the program sent something that it was not asked for")
        self._channel.close()
        seconds, log = time.monotonic() - self._opened, self._channel.log.text()
        ended = self._ended or Ended(0, killed=True, cpu_seconds=0.0, peak_bytes=0, strays=0)
        self.usage = Usage(seconds, ended.cpu_seconds, ended.peak_bytes, ended.strays, log)
        return failure if self._failure is None else None

    def _finish(self, patience: float) -> SessionFailed | None:
        try:
            self._ended = self._end(patience)
        except TemplateLost as lost:
            return SessionFailed(Status.BROKEN, str(lost))
        return None

    def _unanswered(self, what: str, inside_frame: bool) -> SessionFailed:
        """Why there is no answer, by how the process ended."""
        lost = self._finish(_PATIENCE)
        if lost is not None or self._ended is None:
            return lost or SessionFailed(Status.BROKEN, "the session has no end")
        if self._ended.code < 0 and not self._ended.killed:
            return _signalled(self._ended, self._seconds)
        if inside_frame:
            return SessionFailed(Status.BAD_FRAME, f"{what} ended in the middle of its answer")
        how = "closed its answers' pipe" if self._ended.killed else f"exited with code {self._ended.code}"
        return SessionFailed(Status.NO_RESULT, f"{what} {how} instead of answering")


def _answer(payload: bytes) -> tuple[Status, Any]:
    """A reply as what it claims; raises `SessionFailed` for one that no honest process sends."""
    try:
        reply = decode(payload)
    except WireError as error:
        raise SessionFailed(Status.BAD_JSON, f"the answer is no plain data: {error}") from error
    if type(reply) is not list or len(reply) != 2 or type(reply[0]) is not str:
        raise SessionFailed(Status.BAD_JSON, "the answer is not of the form in which answers come")
    if reply[0] == Status.OK:
        return Status.OK, reply[1]
    if reply[0] not in _CLAIMABLE or type(reply[1]) is not str:
        raise SessionFailed(Status.BAD_JSON, "the answer claims a status that a program cannot have")
    return Status(reply[0]), reply[1]


def _is_completed(value: Any) -> bool:
    """Whether it is an exit code, two texts, the size of the output and seconds of processor time."""
    return type(value) is list and list(map(type, value)) == [int, str, str, int, float]


def _said(words: str) -> str:
    """A command's words below the line that says how it ended: the first errors explain the most, the last say how it gave up."""
    words = words.strip()
    if len(words) > 2 * _SHOWN:
        words = f"{words[:_SHOWN]}\n...\n{words[-_SHOWN:]}"
    return f":\n{words}" if words else ""


def _named(failure: SessionFailed, what: str, seconds: float) -> SessionFailed:
    limit = f" ({what}, {seconds:g} s)" if failure.status is Status.TIMEOUT else f" ({what})"
    return SessionFailed(failure.status, failure.message + limit)


def _signalled(ended: Ended, seconds: float) -> SessionFailed:
    number = -ended.code
    if number == signal.SIGKILL and ended.cpu_seconds > seconds:
        return SessionFailed(Status.TIMEOUT, f"the program used {ended.cpu_seconds:.1f} s of processor time", number)
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal
        name = "no name"
    return SessionFailed(Status.SIGNAL, f"the program was ended by signal {number} ({name})", number)
