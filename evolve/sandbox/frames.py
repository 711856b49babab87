"""How messages are marked on their way to a candidate and back, and the candidate's end of the requests.

The first request is the program, which `packed` makes; it is not answered.

A request is a header (a ticket of 8 bytes, the payload's length, and whether the payload lies in a file that comes with the header, or a file comes
along that is shared) and, where it lies in no file, the payload. An answer is the ticket of its request, its length, and the payload. Numbers are
big-endian. Where a request has told the candidate to wait for a signal, one byte is that, and the same byte is the answer to it.

Standard library only, for it lives in the template. Invariant: a ticket is drawn at random when its request is sent, so an answer that
bears it was written by a process that has read the request: none can be prepared before, and an old one is none."""

import marshal
import mmap
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TICKET = 8
REQUEST = struct.Struct(">8sQB")
INLINE, IN_A_FILE, WITH_A_FILE = 0, 1, 2
"""Where the payload lies; with the last, inline, and a file that is not the payload comes along."""
ANSWER = struct.Struct(">8sQ")
_CHUNK = 1 << 20
_FORMAT = 4
"""Of `marshal`, which every Python from 3.4 on reads."""
_SMALL = 1 << 17
_FILE = struct.Struct("=i")
_ONE_FILE = socket.CMSG_LEN(_FILE.size)
_MAPPING = mmap.MAP_PRIVATE | getattr(
    mmap, "MAP_POPULATE", 0
)  # a shared mapping of a sealed file is refused before Linux 6.7


@dataclass(slots=True)  # not frozen, which makes it twice as slow to make
class Request:
    """What was asked. A payload in a file is mapped, its descriptor closed with the mapping: `close` it once it is decoded. `file`: what came
    along, -1 for nothing; whoever takes it closes it."""

    ticket: bytes
    payload: bytes | mmap.mmap
    file: int = -1

    def close(self) -> None:
        """Gives back what holds the payload."""
        if isinstance(self.payload, mmap.mmap):
            self.payload.close()


def packed(entry: str, files: Mapping[str, str], context: Mapping[str, str], compiled: Sequence[bytes] = ()) -> bytes:
    """A program as its candidate's process is told of it, with what `ahead` has compiled of its entry. Marshalled: that says half surrogates too,
    which are for the compiler to refuse, and it is read without a line of Python. It goes from the judge to the candidate alone; what comes back is
    never read so."""
    return marshal.dumps((entry, dict(files), dict(context), tuple(compiled)), _FORMAT)


def unpacked(payload: bytes | mmap.mmap) -> tuple[str, dict[str, str], dict[str, str], tuple[bytes, ...]]:
    """Entry, files, context and what is compiled, in the candidate's process."""
    entry, files, context, compiled = marshal.loads(payload)  # what the judge has packed
    return entry, files, context, compiled


def receive(requests: socket.SocketType) -> Request | None:
    """The next request; None at the end. Raises `OSError` where this process has no descriptor left for a file that was sent."""
    header, files = b"", b""
    while len(header) < REQUEST.size:
        data, passed, _, _ = requests.recvmsg(REQUEST.size - len(header), _ONE_FILE)
        if not data:
            return None
        header += data
        files += b"".join(content for _, _, content in passed)
    ticket, length, place = REQUEST.unpack(header)
    if place == INLINE:
        payload = _read(requests, length)
        return None if payload is None else Request(ticket, payload)
    if not files:
        raise OSError("a request came without its file: too many are open")
    (file,) = _FILE.unpack(files)
    if place == IN_A_FILE:
        return Request(ticket, _mapped(file, length))
    payload = _read(requests, length)
    return None if payload is None else Request(ticket, payload, file)


def _mapped(file: int, length: int) -> mmap.mmap:
    try:
        return mmap.mmap(file, length, flags=_MAPPING, prot=mmap.PROT_READ)
    finally:
        os.close(file)


def _read(requests: socket.SocketType, size: int) -> bytes | None:
    found = requests.recv(min(size, _CHUNK)) if size else b""
    if len(found) == size:
        return found
    rest = bytearray(found)
    while chunk := requests.recv(min(size - len(rest), _CHUNK)):
        rest += chunk
        if len(rest) == size:
            return bytes(rest)
    return None


def reply(replies: int, ticket: bytes, pieces: Sequence[bytes | memoryview]) -> None:
    """Writes an answer; a short one at once."""
    size = sum(map(len, pieces))
    header = ANSWER.pack(ticket, size)
    for data in [b"".join((header, *pieces))] if size <= _SMALL else [header, *pieces]:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(replies, rest) :]
