"""The judge's end of the requests: what waits to be sent, and how a large request is sent without copying it through a pipe.

Invariant: what a candidate receives cannot be changed any more, by nobody: it is its own copy, or a file in memory that is sealed."""

import contextlib
import fcntl
import os
import socket
from collections import deque
from collections.abc import Sequence

from evolve.sandbox.frames import IN_A_FILE, INLINE, REQUEST, WITH_A_FILE

_SMALL = 1 << 17
"""Bytes up to which a request goes through the socket: about there a file in memory becomes the faster way (`docs/results.md`)."""
_MOST = 1 << 28
"""Bytes of one session's requests that go as files: a candidate may keep them, and they are the judge's memory and not its own. What comes
after that is copied to it."""
_NO_FILE = -1
_NEVER_EXECUTED = 8
"""MFD_NOEXEC_SEAL: never to be executed, whatever is done to its mode. Linux has it from 6.3 on, Python's library no name for it."""


class Outbox:
    """A pair of sockets. `theirs`, the candidate's end until it is handed over, is shut for writing: through it nothing can be sent, and no
    descriptor passed. Used by one thread."""

    def __init__(self) -> None:
        self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        theirs.shutdown(socket.SHUT_WR)
        self._sock.setblocking(False)
        self.theirs = theirs.detach()
        self._waiting = deque[tuple[memoryview, int]]()
        self._left = _MOST

    def fileno(self) -> int:
        """The judge's end, to wait for."""
        return self._sock.fileno()

    def add(self, ticket: bytes, pieces: Sequence[bytes | memoryview]) -> None:
        """Puts a request in line; its pieces may be changed afterwards."""
        size = sum(map(len, pieces))
        file = sealed(pieces) if _SMALL < size <= self._left else _NO_FILE
        self._left -= size if file != _NO_FILE else 0
        header = REQUEST.pack(ticket, size, INLINE if file == _NO_FILE else IN_A_FILE)
        self._waiting.append((memoryview(header if file != _NO_FILE else b"".join((header, *pieces))), file))

    def add_with(self, ticket: bytes, pieces: Sequence[bytes | memoryview], file: int) -> None:
        """Puts a small request in line with which a file goes to the candidate; the caller keeps its own descriptor of it."""
        header = REQUEST.pack(ticket, sum(map(len, pieces)), WITH_A_FILE)
        self._waiting.append((memoryview(b"".join((header, *pieces))), os.dup(file)))

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


def sealed(pieces: Sequence[bytes | memoryview]) -> int:
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
