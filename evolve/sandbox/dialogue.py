"""One question after the other to a candidate process, and how that ended where it did not answer.

Invariant: after a failure of the dialogue itself every further question fails in the same way, and asks nobody."""

import signal
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from evolve.sandbox.channel import Channel, RepliesEnded
from evolve.sandbox.output import shown
from evolve.sandbox.process import Ended, TemplateLate, TemplateLost
from evolve.sandbox.status import SessionFailed, Status, Usage
from evolve.sandbox.wire import Piece, WireError, decode

T = TypeVar("T")
_LATE = "the program did not answer in time"
_PATIENCE = 0.2
"""Seconds that a process gets to end after its replies have: an exit closes files first, and its code is worth knowing."""
_CLAIMABLE = {Status.ERROR, Status.MEMORY_LIMIT, Status.BAD_JSON, Status.NO_RESULT, Status.NO_ENTRY}
_BEGINS = 1.0
"""Seconds after which a template has begun a program late: it was stopped, or the machine had no time for it."""
_MESSAGE = 10_000
"""Characters of a failure's message, which is what the program says; an honest one says less."""


class Dialogue:
    """The judge's side, used by one thread. `end` ends the process and tells how it did."""

    def __init__(self, channel: Channel, end: Callable[[float], Ended], seconds: float) -> None:
        self.closed = False
        self._channel = channel
        self._end = end
        self._opened = time.monotonic()
        self._deadline = self._opened + seconds
        self._seconds = seconds
        self._failure: SessionFailed | None = None
        self._ended: Ended | None = None

    def check(self) -> None:
        """Raises the failure that ended the dialogue, where one has."""
        if self._failure is not None:
            raise SessionFailed(self._failure.status, self._failure.message, self._failure.signal)

    def ask(
        self, payload: Sequence[Piece], what: str, seconds: float | None, *, binary: bool = False, file: int = -1
    ) -> Any:
        """The answer to a request, of which `what` is the name in a failure's message; `file` goes with it. Raises `SessionFailed`."""
        status, value = self._had(
            lambda deadline: _answer(self._channel.exchange(payload, deadline, file), binary), what, seconds
        )
        if status is Status.OK:
            return value
        raise SessionFailed(
            status, shown(value, _MESSAGE) or f"{what} failed, and the program gave no reason that can be shown"
        )

    def signal(self, what: str, seconds: float | None) -> None:
        """Sends a signal, and has its answer: see `Channel.signal`. Raises as `ask` does."""
        self.check()
        self._had(self._channel.signal, what, seconds)

    def fail(self, failure: SessionFailed) -> NoReturn:
        """Ends the dialogue by a failure that was found elsewhere, and raises it."""
        self._failure = failure
        raise failure

    def miss(self, what: str) -> NoReturn:
        """Raises why there is no process any more that could answer: it was ended when its time was over, perhaps, while nobody asked it anything."""
        self.check()
        if time.monotonic() > self._deadline:
            self.fail(self._named(SessionFailed(Status.TIMEOUT, _LATE), what, self._seconds))
        self.fail(self._unanswered(what, inside_frame=False))

    def _had(self, get: Callable[[float], T], what: str, seconds: float | None) -> T:
        """What is got until a deadline; or its failure, which is that of the dialogue."""
        deadline = self._deadline if seconds is None else min(self._deadline, time.monotonic() + seconds)
        try:
            return get(deadline)
        except RepliesEnded as ended:
            self._failure = self._unanswered(what, ended.inside_frame)
            raise self._failure from None
        except SessionFailed as failure:
            self._failure = self._named(
                failure, what, self._seconds if seconds is None else min(seconds, self._seconds)
            )
            raise self._failure from None

    def close(self) -> tuple[Usage, SessionFailed | None]:
        """Ends the candidate and all that it started; gives what was used, and what was wrong that no question has brought to light."""
        self.closed = True
        failure = self._finish(0.0) if self._ended is None else None
        if failure is None and self._failure is None and self._channel.spoke():
            failure = SessionFailed(Status.BAD_FRAME, "the program sent something that it was not asked for")
        self._channel.close()
        seconds, log = time.monotonic() - self._opened, self._channel.log.text()
        ended = self._ended or Ended(0, killed=True, cpu_seconds=0.0, peak_bytes=0, strays=0)
        usage = Usage(seconds, ended.cpu_seconds, ended.peak_bytes, ended.strays, log)
        return usage, failure if self._failure is None else None

    def _finish(self, patience: float) -> SessionFailed | None:
        try:
            self._ended = self._end(patience)
        except TemplateLate:
            # All that a template does at the end of a session is to end what the candidate has left.
            return SessionFailed(Status.TIMEOUT, "what the program left behind could not be ended and removed in time")
        except TemplateLost as lost:
            return SessionFailed(Status.BROKEN, str(lost))
        if self._ended.problem:
            return SessionFailed(Status.BROKEN, f"a candidate's process could not be confined: {self._ended.problem}")
        return None

    def _named(self, failure: SessionFailed, what: str, seconds: float) -> SessionFailed:
        """With what was asked. A program that is out of time is not to blame where its template was stopped, or began it late."""
        if failure.status is not Status.TIMEOUT:
            return SessionFailed(failure.status, f"{failure.message} ({what})")
        lost = self._finish(0.0) if self._ended is None else None
        if lost is not None and lost.status is Status.BROKEN:
            return lost
        if self._ended is not None and self._ended.late > _BEGINS:
            return SessionFailed(Status.BROKEN, f"the template began this program {self._ended.late:.1f} s late")
        return SessionFailed(Status.TIMEOUT, f"{failure.message} ({what}, {seconds:g} s)")

    def _unanswered(self, what: str, inside_frame: bool) -> SessionFailed:
        """Why there is no answer, by how the process ended."""
        lost = self._finish(_PATIENCE)
        if lost is not None or self._ended is None:
            return lost or SessionFailed(Status.BROKEN, "the session has no end")
        if self._ended.exceeded:
            return SessionFailed(Status.MEMORY_LIMIT, f"{what} {self._ended.exceeded}")
        if self._ended.code < 0 and not self._ended.killed:
            return signalled(-self._ended.code, self._ended.cpu_seconds, self._seconds)
        if inside_frame:
            return SessionFailed(Status.BAD_FRAME, f"{what} ended in the middle of its answer")
        how = "closed its answers' pipe" if self._ended.killed else f"exited with code {self._ended.code}"
        return SessionFailed(Status.NO_RESULT, f"{what} {how} instead of answering")


def signalled(number: int, cpu_seconds: float, seconds: float) -> SessionFailed:
    """The failure of a process that this signal ended; a kill beyond its `seconds` of processor time is a time-out."""
    if number == signal.SIGKILL and cpu_seconds > seconds:
        return SessionFailed(Status.TIMEOUT, f"the program used {cpu_seconds:.1f} s of processor time", number)
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal
        name = "no name"
    return SessionFailed(Status.SIGNAL, f"the program was ended by signal {number} ({name})", number)


def _answer(payload: bytes, binary: bool) -> tuple[Status, Any]:
    """A reply as what it claims; raises `SessionFailed` for one that no honest process sends."""
    try:
        reply = decode(payload, binary=binary)
    except WireError as error:
        raise SessionFailed(Status.BAD_JSON, f"the answer is no plain data: {shown(str(error), _MESSAGE)}") from error
    if type(reply) is not list or len(reply) != 2 or type(reply[0]) is not str:
        raise SessionFailed(Status.BAD_JSON, "the answer is not of the form in which answers come")
    if reply[0] == Status.OK:
        return Status.OK, reply[1]
    if reply[0] not in _CLAIMABLE or type(reply[1]) is not str:
        raise SessionFailed(Status.BAD_JSON, "the answer claims a status that a program cannot have")
    return Status(reply[0]), reply[1]
