"""The judge's end of the requests: what waits to be sent, and how a large request is sent without copying it through a pipe.

Invariant: what a candidate receives cannot be changed any more, by nobody: it is its own copy, or a file in memory that is sealed."""

import fcntl
import os
import socket
from collections import deque
from collections.abc import Sequence

from evolve.sandbox.frames import REQUEST

_SMALL = 1 << 17
"""Bytes up to which a request goes through the socket: about there a file in memory becomes the faster way (`docs/LOG.md`)."""
_NO_FILE = -1


class Outbox:
    """A pair of sockets. `theirs`, the candidate's end until it is handed over, is shut for writing: through it nothing can be sent, and no
    descriptor passed. Used by one thread."""

    def __init__(self) -> None:
        self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        theirs.shutdown(socket.SHUT_WR)
        self._sock.setblocking(False)
        self.theirs = theirs.detach()
        self._waiting = deque[tuple[memoryview, int]]()

    def fileno(self) -> int:
        """The judge's end, to wait for."""
        return self._sock.fileno()

    def add(self, ticket: bytes, pieces: Sequence[bytes | memoryview]) -> None:
        """Puts a request in line; its pieces may be changed afterwards."""
        size = sum(map(len, pieces))
        file = sealed(pieces) if size > _SMALL else _NO_FILE
        header = REQUEST.pack(ticket, size, file != _NO_FILE)
        self._waiting.append((memoryview(header if file != _NO_FILE else b"".join((header, *pieces))), file))

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
    if not hasattr(os, "memfd_create"):
        return _NO_FILE
    try:
        file = os.memfd_create("request", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:
        return _NO_FILE
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(file, rest) :]
        os.fchmod(file, 0o400)  # or it could be executed
        fcntl.fcntl(
            file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
        )
    except OSError:
        os.close(file)
        return _NO_FILE
    return file
