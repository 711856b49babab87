"""The dialogue with one candidate process.

Invariant: when the `with` block of a session is left, the candidate and everything that it started are gone."""

import signal
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from evolve.sandbox.channel import Channel, RepliesEnded
from evolve.sandbox.output import readable
from evolve.sandbox.process import Ended, TemplateLost
from evolve.sandbox.status import SessionFailed, Status, Usage
from evolve.sandbox.wire import WireError, decode, encode
from evolve.types import SandboxError

_PATIENCE = 0.2
"""Seconds that a process gets to end after its replies have: an exit closes files first, and its code is worth knowing."""
_CLAIMABLE = {Status.ERROR, Status.MEMORY_LIMIT, Status.BAD_JSON, Status.NO_RESULT, Status.NO_ENTRY}


class Session:
    """Calls into one candidate process; made by `Box.open`, used by one thread. After a failure of the dialogue itself every
    further call fails the same way; after an exception in the candidate's code it may go on."""

    def __init__(self, channel: Channel, end: Callable[[float], Ended], seconds: float) -> None:
        self.usage = Usage()
        self._channel = channel
        self._end = end
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
        if self._closed:
            raise SandboxError("a call in a session that is over. Do: call inside its `with` block")
        if self._failure is not None:
            raise SessionFailed(self._failure.status, self._failure.message, self._failure.signal)
        request = encode([function, arguments, keywords])
        deadline = self._deadline if seconds is None else min(self._deadline, time.monotonic() + seconds)
        try:
            status, value = _answer(self._channel.exchange(request, deadline))
        except RepliesEnded as ended:
            self._failure = self._unanswered(function, ended.inside_frame)
            raise self._failure from None
        except SessionFailed as failure:
            self._failure = _named(failure, function, self._seconds if seconds is None else min(seconds, self._seconds))
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

    def _unanswered(self, function: str, inside_frame: bool) -> SessionFailed:
        """Why there is no answer, by how the process ended."""
        lost = self._finish(_PATIENCE)
        if lost is not None or self._ended is None:
            return lost or SessionFailed(Status.BROKEN, "the session has no end")
        if self._ended.code < 0 and not self._ended.killed:
            return _signalled(self._ended, self._seconds)
        if inside_frame:
            return SessionFailed(Status.BAD_FRAME, f"{function}() ended in the middle of its answer")
        how = "closed its answers' pipe" if self._ended.killed else f"exited with code {self._ended.code}"
        return SessionFailed(Status.NO_RESULT, f"{function}() {how} instead of answering")


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


def _named(failure: SessionFailed, function: str, seconds: float) -> SessionFailed:
    limit = f" ({function}(), {seconds:g} s)" if failure.status is Status.TIMEOUT else f" ({function}())"
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
