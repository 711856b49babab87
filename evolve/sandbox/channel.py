"""Worker's ends of what leads to a candidate and back: requests, answers, and what it prints; and why a request got no answer.

What a candidate receives cannot be changed any more by anybody: it is its own copy, or a file in memory that is sealed. At most one answer of at most
`most` bytes is ever held, and one that was not asked for, or bears another ticket than the request that waits, fails the session. After a failure of
the dialogue itself every further request fails in the same way, and asks nobody."""

import contextlib
import fcntl
import os
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from evolve.sandbox.output import Tail, shown
from evolve.sandbox.status import SessionFailed, SessionReport, SessionUsage, Status, TemplateLate, TemplateLost
from evolve.sandbox.wire import ANSWER, IN_A_FILE, INLINE, REQUEST, TICKET, WITH_A_FILE, Piece, WireError, decode

_SMALL = 1 << 17
"""Bytes up to which a request goes through the socket: about there a file in memory becomes the faster way (`docs/results.md`)."""
_MOST = 1 << 28
"""Bytes of one session's requests that go as files: a candidate may keep them, and they are the worker's memory and not its own. What comes
after that is copied to it."""
_NO_FILE = -1
_NEVER_EXECUTED = 8
"""MFD_NOEXEC_SEAL: never to be executed, whatever is done to its mode. Linux has it from 6.3 on, Python's library no name for it."""
_CHUNK = 1 << 16
_FREE_OUTPUT = 1 << 20
_OUTPUT_PAUSE = 0.01
"""Beyond the first MiB, output is read once in so many seconds, 64 KiB at a time: printing for ever costs the worker next to nothing."""
_ABSURD = 1 << 40
"""A length in bytes that no answer has: it is garbage where an answer should be."""
_UNANSWERED = bytes(TICKET)
"""What bears this is asked of nobody."""
T = TypeVar("T")
_LATE = "the program did not answer in time"
_PATIENCE = 0.2
"""Seconds that a process gets to end after its replies have: an exit closes files first, and its code is worth knowing."""
_CLAIMABLE = {Status.ERROR, Status.MEMORY_LIMIT, Status.BAD_JSON, Status.NO_RESULT, Status.NO_ENTRY}
_BEGINS = 1.0
"""Seconds after which a template has begun a program late: it was stopped, or the machine had no time for it."""
_MESSAGE = 10_000
"""Characters of a failure's message, which is what the program says; an honest one says less."""


class Outbox:
    """A pair of sockets. `theirs`, the candidate's end until it is handed over, is shut for writing: through it nothing can be sent, and no
    descriptor passed. Used by one thread."""

    def __init__(self) -> None:
        self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        # Descriptors that a candidate sent would stay open in the worker until somebody reads them.
        theirs.shutdown(socket.SHUT_WR)
        self._sock.setblocking(False)
        self.theirs = theirs.detach()
        self._waiting = deque[tuple[memoryview, int]]()
        self._left = _MOST

    def fileno(self) -> int:
        """The worker's end, to wait for."""
        return self._sock.fileno()

    def add(self, ticket: bytes, pieces: Sequence[bytes | memoryview], shared: int = _NO_FILE) -> None:
        """Puts a request in line; its pieces may be changed afterwards. With a small one a file may go to the candidate, `shared`, of which the caller
        keeps its own descriptor."""
        size, file, place = sum(map(len, pieces)), _NO_FILE, INLINE
        if shared != _NO_FILE:
            file, place = os.dup(shared), WITH_A_FILE
        elif _SMALL < size <= self._left and (file := seal(pieces)) != _NO_FILE:
            place = IN_A_FILE
            self._left -= size
        header = REQUEST.pack(ticket, size, place)
        self._waiting.append((memoryview(header if place == IN_A_FILE else b"".join((header, *pieces))), file))

    def add_signal(self, mark: bytes) -> None:
        """Puts one byte in line, for a process that was told to wait for it."""
        self._waiting.append((memoryview(mark), _NO_FILE))

    def write(self) -> bool:
        """Sends what the socket takes now; gives whether nothing is left. Nothing is, too, when nobody is there any more to receive it."""
        while self._waiting:
            data, file = self._waiting[0]
            try:
                sent = self._sock.send(data) if file == _NO_FILE else socket.send_fds(self._sock, [data], [file])
            except BlockingIOError:
                return False
            except ConnectionError:
                self._drop()
                return True
            if file != _NO_FILE:
                os.close(file)
            self._waiting.popleft()
            if sent < len(data):
                self._waiting.appendleft((data[sent:], _NO_FILE))
        return True

    def close(self) -> None:
        """Ends the requests, and forgets those that have not been sent."""
        self._drop()
        self._sock.close()

    def _drop(self) -> None:
        for _, file in self._waiting:
            if file != _NO_FILE:
                os.close(file)
        self._waiting.clear()


def seal(pieces: Sequence[bytes | memoryview]) -> int:
    """A descriptor of a file without a name that holds the pieces and that nobody can change: not its bytes, its length, nor this. -1 where
    the system has no such files, or has no room for one now."""
    file = memory_file("request")
    if file == _NO_FILE:
        return file
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(file, rest) :]
        os.fchmod(file, 0o400)
        fcntl.fcntl(
            file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
        )
    except OSError:
        os.close(file)
        return _NO_FILE
    return file


def memory_file(name: str) -> int:
    """A file without a path, empty, that can be sealed and never be executed; -1 where the system has none, or none is to be had now."""
    if not hasattr(os, "memfd_create"):
        return _NO_FILE
    for more in (_NEVER_EXECUTED, 0):
        with contextlib.suppress(OSError):
            return os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | more)
    return _NO_FILE


class RepliesEnded(Exception):
    """The candidate's end of the pipe is closed; `inside_frame` when that happened in the middle of an answer."""

    def __init__(self, inside_frame: bool) -> None:
        super().__init__(inside_frame)
        self.inside_frame = inside_frame


class Channel:
    """Output, requests and answers, of which the candidate's ends are `theirs` until they are handed over. Used by one thread."""

    def __init__(self, most: int, log: int, draw: Callable[[int], bytes] = os.urandom) -> None:
        self.log = Tail(log)
        self._most = most
        self._draw = draw
        self._output, output = os.pipe()
        self._outbox = Outbox()
        self._replies, replies = os.pipe()
        self.theirs = (output, self._outbox.theirs, replies)
        self._received = bytearray()
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)
        self._poll.register(self._output, select.POLLIN)
        self._output_at = 0.0
        self._template = -1

    def hand_over(self) -> None:
        """Closes the candidate's ends here, for they are in its hands now."""
        for number in self.theirs:
            os.close(number)

    def watch(self, template: int) -> None:
        """Makes the end of the process behind this descriptor the end of the dialogue, whoever holds the pipes open."""
        self._template = template
        self._poll.register(template, select.POLLIN)

    def send(self, payload: bytes) -> None:
        """Puts in line what needs no answer; it leaves with the next `exchange`."""
        self._outbox.add(_UNANSWERED, [payload])

    def exchange(self, pieces: Sequence[Piece], deadline: float, file: int = _NO_FILE) -> bytes:
        """Sends a payload in pieces, and a `file` with it where there is one, and waits for what answers it, until `deadline` (`time.monotonic`).

        Raises `SessionFailed` (TIMEOUT, BAD_FRAME, RESULT_TOO_LARGE) and `RepliesEnded`."""
        self._check_silence()
        ticket = self._draw(TICKET)
        self._outbox.add(ticket, pieces, file)
        self._poll.register(self._outbox, select.POLLOUT)
        self._write()
        while (answer := self._answer(ticket)) is None:
            self._wait(deadline)
        return answer

    def signal(self, deadline: float) -> None:
        """Sends one byte, drawn at random, to a candidate that waits for it, and waits until it comes back. Raises as `exchange` does."""
        self._check_silence()
        mark = self._draw(1)
        self._outbox.add_signal(mark)
        self._poll.register(self._outbox, select.POLLOUT)
        self._write()
        while not self._received:
            self._wait(deadline)
        if self._received != mark:
            raise SessionFailed(
                Status.BAD_FRAME, "the program wrote something else where it says that it has done its work"
            )
        self._received = bytearray()

    def _check_silence(self) -> None:
        if self.spoke():
            raise SessionFailed(Status.BAD_FRAME, "the program sent something before it was asked")

    def spoke(self) -> bool:
        """Returns whether something has arrived that was not asked for."""
        if not self._received:
            with contextlib.suppress(RepliesEnded):
                self._take({number for number, _ in self._poll.poll(0)} & {self._replies})
        return bool(self._received)

    def close(self) -> None:
        """Takes the rest of the output, when all who could write it are gone, and closes the pipes."""
        for _ in range(_FREE_OUTPUT // _CHUNK):
            if not self._pending_output() or not self._read_output():
                break
        self._outbox.close()
        for number in (self._output, self._replies):
            os.close(number)

    def _pending_output(self) -> bool:
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        return bool(poll.poll(0))

    def _answer(self, ticket: bytes) -> bytes | None:
        """The answer that was received, when it is complete; raises when it is none, another's, too large or followed by more."""
        if not ticket.startswith(self._received[:TICKET]):
            raise SessionFailed(Status.BAD_FRAME, "the program wrote something that is no answer where its answers go")
        if len(self._received) < ANSWER.size:
            return None
        length: int = ANSWER.unpack_from(self._received)[1]
        if length > _ABSURD:
            raise SessionFailed(Status.BAD_FRAME, "the program's answer announces more bytes than there can be")
        if length > self._most:
            raise SessionFailed(Status.RESULT_TOO_LARGE, f"the answer has {length} bytes; {self._most} are allowed")
        missing = ANSWER.size + length - len(self._received)
        if missing > 0:
            return None
        if missing < 0:
            raise SessionFailed(Status.BAD_FRAME, "the program sent more than the one answer that it was asked for")
        answer = bytes(memoryview(self._received)[ANSWER.size :])
        self._received = bytearray()
        return answer

    def _wait(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise SessionFailed(Status.TIMEOUT, "the program did not answer in time")
        if self.log.total > _FREE_OUTPUT:
            left = self._slow_output(left)
        # One wait for all: a candidate that fills one pipe must not keep the worker from the others.
        ready = {number for number, _ in self._poll.poll(left * 1000)}
        if self._output in ready and not self._read_output():
            self._poll.unregister(self._output)
        if self._outbox.fileno() in ready:
            self._write()
        self._take(ready & {self._replies})
        # After the replies: an answer that was complete when the template ended still counts.
        if self._template in ready:
            raise RepliesEnded(inside_frame=bool(self._received))

    def _slow_output(self, left: float) -> float:
        """Reads the output of a program that prints for ever now and then; gives the time until it is due again."""
        now = time.monotonic()
        if now < self._output_at:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._output)
            return min(left, self._output_at - now)
        self._output_at = now + _OUTPUT_PAUSE
        self._poll.register(self._output, select.POLLIN)
        return min(left, _OUTPUT_PAUSE)

    def _read_output(self) -> bool:
        chunk = os.read(self._output, _CHUNK)
        self.log.add(chunk)
        return bool(chunk)

    def _take(self, ready: set[int]) -> None:
        if not ready:
            return
        chunk = os.read(self._replies, _CHUNK)
        if not chunk:
            raise RepliesEnded(inside_frame=bool(self._received))
        self._received += chunk

    def _write(self) -> None:
        """Sends what is taken now. Where nobody takes it any more, the answers' end of file follows."""
        if self._outbox.write():
            self._poll.unregister(self._outbox)


class Conversation:
    """The worker's side of `session`, whose failures all that it raises are; used by one thread. `end` ends the process and tells how it did."""

    def __init__(
        self, session: object, channel: Channel, end: Callable[[float], SessionReport], seconds: float
    ) -> None:
        self.closed = False
        self._session = session
        self._channel = channel
        self._end = end
        self._opened = time.monotonic()
        self._deadline = self._opened + seconds
        self._seconds = seconds
        self._failure: SessionFailed | None = None
        self._ended: SessionReport | None = None

    def check(self) -> None:
        """Raises the failure that ended the dialogue, where one has."""
        if self._failure is not None:
            raise SessionFailed(self._failure.status, self._failure.message, self._failure.signal, self._session)

    def ask(self, payload: Sequence[Piece], what: str, seconds: float | None, *, file: int = _NO_FILE) -> Any:
        """The answer to a request, of which `what` is the name in a failure's message; `file` goes with it. Raises `SessionFailed`."""
        status, value = self._await(
            lambda deadline: _answer(self._channel.exchange(payload, deadline, file)), what, seconds
        )
        if status is Status.OK:
            return value
        message = shown(value, _MESSAGE) or f"{what} failed, and the program gave no reason that can be shown"
        raise SessionFailed(status, message, session=self._session)

    def signal(self, what: str, seconds: float | None) -> None:
        """Sends a signal, and has its answer: see `Channel.signal`. Raises as `ask` does."""
        self.check()
        self._await(self._channel.signal, what, seconds)

    def fail(self, failure: SessionFailed) -> NoReturn:
        """Ends the dialogue by a failure, and raises it."""
        self._failure = failure
        failure.session = self._session
        raise failure

    def miss(self, what: str) -> NoReturn:
        """Raises why there is no process any more that could answer: it was ended when its time was over, perhaps, while nobody asked it anything."""
        self.check()
        if time.monotonic() > self._deadline:
            self.fail(self._name_failure(SessionFailed(Status.TIMEOUT, _LATE), what, self._seconds))
        self.fail(self._explain_silence(what, inside_frame=False))

    def _await(self, get: Callable[[float], T], what: str, seconds: float | None) -> T:
        """Returns what `get` returns until a deadline; its failure is that of the dialogue."""
        deadline = self._deadline if seconds is None else min(self._deadline, time.monotonic() + seconds)
        try:
            return get(deadline)
        except RepliesEnded as ended:
            failure = self._explain_silence(what, ended.inside_frame)
        except SessionFailed as unnamed:
            allowed = self._seconds if seconds is None else min(seconds, self._seconds)
            failure = self._name_failure(unnamed, what, allowed)
        return self.fail(failure)

    def close(self) -> tuple[SessionUsage, SessionFailed | None]:
        """Ends the candidate and all that it started; gives what was used, and what was wrong that no question has brought to light."""
        self.closed = True
        failure = self._finish(0.0) if self._ended is None else None
        if failure is None and self._failure is None and self._channel.spoke():
            failure = SessionFailed(Status.BAD_FRAME, "the program sent something that it was not asked for")
        self._channel.close()
        seconds, log = time.monotonic() - self._opened, self._channel.log.text()
        ended = self._ended or SessionReport(0, killed=True, cpu_seconds=0.0, peak_bytes=0, strays=0)
        usage = SessionUsage(seconds, ended.cpu_seconds, ended.peak_bytes, ended.strays, log)
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

    def _name_failure(self, failure: SessionFailed, what: str, seconds: float) -> SessionFailed:
        """With what was asked. A program that is out of time is not to blame where its template was stopped, or began it late."""
        if failure.status is not Status.TIMEOUT:
            return SessionFailed(failure.status, f"{failure.message} ({what})")
        lost = self._finish(0.0) if self._ended is None else None
        if lost is not None and lost.status is Status.BROKEN:
            return lost
        if self._ended is not None and self._ended.late > _BEGINS:
            return SessionFailed(Status.BROKEN, f"the template began this program {self._ended.late:.1f} s late")
        return SessionFailed(Status.TIMEOUT, f"{failure.message} ({what}, {seconds:g} s)")

    def _explain_silence(self, what: str, inside_frame: bool) -> SessionFailed:
        """Returns why there is no answer, by the end of the process."""
        lost = self._finish(_PATIENCE)
        if lost is not None or self._ended is None:
            return lost or SessionFailed(Status.BROKEN, "the session has no end")
        if self._ended.exceeded:
            return SessionFailed(Status.MEMORY_LIMIT, f"{what} {self._ended.exceeded}")
        if self._ended.code < 0 and not self._ended.killed:
            return explain_signal(-self._ended.code, self._ended.cpu_seconds, self._seconds)
        if inside_frame:
            return SessionFailed(Status.BAD_FRAME, f"{what} ended in the middle of its answer")
        how = "closed its answers' pipe" if self._ended.killed else f"exited with code {self._ended.code}"
        return SessionFailed(Status.NO_RESULT, f"{what} {how} instead of answering")


def explain_signal(number: int, cpu_seconds: float, seconds: float) -> SessionFailed:
    """The failure of a process that this signal ended; a kill beyond its `seconds` of processor time is a time-out."""
    if number == signal.SIGKILL and cpu_seconds > seconds:
        return SessionFailed(Status.TIMEOUT, f"the program used {cpu_seconds:.1f} s of processor time", number)
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal
        name = "no name"
    return SessionFailed(Status.SIGNAL, f"the program was ended by signal {number} ({name})", number)


def _answer(payload: bytes) -> tuple[Status, Any]:
    """A reply as what it claims; raises `SessionFailed` for one that no honest process sends."""
    try:
        reply = decode(payload)
    except WireError as error:
        raise SessionFailed(Status.BAD_JSON, f"the answer is no plain data: {shown(str(error), _MESSAGE)}") from error
    if type(reply) is not list or len(reply) != 2 or type(reply[0]) is not str:
        raise SessionFailed(Status.BAD_JSON, "the answer is not of the form in which answers come")
    if reply[0] == Status.OK:
        return Status.OK, reply[1]
    if reply[0] not in _CLAIMABLE or type(reply[1]) is not str:
        raise SessionFailed(Status.BAD_JSON, "the answer claims a status that a program cannot have")
    return Status(reply[0]), reply[1]
