"""Requests on their way, and what a candidate cannot do with them."""

import errno
import mmap
import os
import platform
import re
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evolve.sandbox import Box
from evolve.sandbox.channel import Outbox, sealed
from evolve.sandbox.wire import Request, receive
from evolve.types import Program

_LARGE = bytes(range(256)) * 4096
sealing = pytest.mark.skipif(sys.platform != "linux", reason="files in memory that can be sealed are Linux's")


@pytest.fixture
def outbox() -> Iterator[Outbox]:
    outbox = Outbox()
    yield outbox
    outbox.close()


@pytest.fixture
def theirs(outbox: Outbox) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, outbox.theirs) as theirs:
        yield theirs


def descriptors() -> list[str]:
    return os.listdir("/proc/self/fd")  # noqa: PTH208


def received(theirs: socket.socket) -> tuple[bytes, bytes]:
    """The next request's ticket and payload."""
    request = receive(theirs)
    assert request is not None
    ticket, payload = request.ticket, bytes(request.payload)
    request.close()
    return ticket, payload


@pytest.mark.parametrize("size", [0, 1, 70_000, 1 << 17, (1 << 17) + 1, 1 << 20])
def test_a_request_arrives_as_it_was(outbox: Outbox, theirs: socket.socket, size: int) -> None:
    """In pieces or in one, through the socket or in a file."""
    outbox.add(b"ticket 1", [_LARGE[: size // 2], memoryview(_LARGE)[size // 2 : size]])
    assert outbox.write()
    assert received(theirs) == (b"ticket 1", _LARGE[:size])


@sealing
def test_a_large_request_fits_whatever_the_socket_holds(outbox: Outbox, theirs: socket.socket) -> None:
    """Three of a MiB, of which none has been received; and no descriptor is left of them."""
    before = descriptors()
    for number in range(3):
        outbox.add(b"ticket %d" % number, [_LARGE])
    assert outbox.write()
    assert [received(theirs) for _ in range(3)] == [(b"ticket %d" % number, _LARGE) for number in range(3)]
    assert descriptors() == before


def test_without_files_in_memory_it_leaves_as_it_is_taken(
    outbox: Outbox, theirs: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And arrives in order."""
    monkeypatch.delattr(os, "memfd_create", raising=False)
    outbox.add(b"ticket 1", [_LARGE])
    outbox.add(b"ticket 2", [b"next"])
    taken = bytearray()
    while not outbox.write():
        taken += theirs.recv(1 << 16)
    outbox.close()
    while chunk := theirs.recv(1 << 16):
        taken += chunk
    assert taken.count(_LARGE) == 1
    assert taken.endswith(b"next")


def test_where_nobody_listens_nothing_waits(outbox: Outbox) -> None:
    """Neither bytes nor files."""
    before = descriptors() if sys.platform == "linux" else []
    outbox.add(b"ticket 1", [b"x"])
    outbox.add(b"ticket 2", [_LARGE])
    os.close(outbox.theirs)
    assert (outbox.write(), outbox.write()) == (True, True)
    if before:
        assert len(descriptors()) == len(before) - 1


def test_the_end_of_the_requests_is_told(outbox: Outbox, theirs: socket.socket) -> None:
    """Also in the middle of one."""
    assert isinstance(theirs, socket.socket)
    outbox.add(b"ticket 1", [b"x"])
    outbox.write()
    outbox.close()
    assert received(theirs) == (b"ticket 1", b"x")
    assert receive(theirs) is None


def test_nothing_can_be_sent_to_the_judge_where_requests_come_from(outbox: Outbox, theirs: socket.socket) -> None:
    """No byte, and no descriptor."""
    with pytest.raises(BrokenPipeError):
        theirs.send(b"x")
    with pytest.raises(BrokenPipeError):
        socket.send_fds(theirs, [b"x"], [0])


@sealing
@pytest.mark.parametrize(
    "change",
    [
        lambda file: os.pwrite(file, b"x", 0),
        lambda file: os.ftruncate(file, 1),
        lambda file: os.ftruncate(file, 1 << 21),
        lambda file: os.pwrite(file, b"x", len(_LARGE)),
        lambda file: mmap.mmap(file, 0),
    ],
    ids=["rewritten", "shortened", "lengthened", "appended to", "mapped to be written"],
)
def test_what_is_sealed_stays_as_it_is(change: Callable[[int], Any]) -> None:
    """For whoever holds it."""
    file = sealed([_LARGE])
    with pytest.raises(PermissionError) as caught:
        change(file)
    assert caught.value.errno == errno.EPERM
    assert os.pread(file, len(_LARGE) + 1, 0) == _LARGE
    os.close(file)


@sealing
@pytest.mark.skipif(
    tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < (6, 3),
    reason="before Linux 6.3 its owner may change that",
)
def test_what_is_sealed_can_never_be_executed() -> None:
    """Not even by its owner."""
    file = sealed([b"#!/bin/sh\n"])
    with pytest.raises(PermissionError):
        os.fchmod(file, 0o700)
    os.close(file)


@sealing
def test_an_older_kernel_seals_all_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses the flag that it does not know."""
    make = os.memfd_create

    def older(name: str, flags: int) -> int:
        if flags & 8:
            raise OSError(errno.EINVAL, "Invalid argument")
        return make(name, flags)

    monkeypatch.setattr(os, "memfd_create", older)
    file = sealed([_LARGE])
    with pytest.raises(PermissionError):
        os.ftruncate(file, 0)
    os.close(file)


@sealing
def test_where_there_is_no_room_for_a_file_the_request_goes_through_the_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does where there are none."""

    def full(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", full)
    assert sealed([_LARGE]) == -1


@sealing
def test_a_request_whose_file_cannot_be_received_is_an_error(outbox: Outbox) -> None:
    """There is no descriptor left for it: another process stands for the candidate, which has used them all."""
    outbox.add(b"ticket 1", [_LARGE])
    outbox.write()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, outbox.theirs) as theirs:
        theirs.recv(1)  # what comes with the first byte is lost
        with pytest.raises(OSError, match="came without its file"):
            receive(_Restored(theirs))  # type: ignore[arg-type]


class _Restored:
    """A socket whose first byte is given back."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._first = b"t"

    def recvmsg(self, size: int, *more: Any) -> Any:
        if not self._first:
            return self._sock.recvmsg(size, *more)
        first, self._first = self._first, b""
        return first, [], 0, None


def test_a_request_that_was_copied_has_nothing_to_close() -> None:
    """Closing it changes nothing."""
    request = Request(b"", b"x")
    request.close()
    assert request.payload == b"x"


_LOOKS = """
import os
def f(array):
    return [sorted(map(int, os.listdir('/proc/self/fd'))), array[-1], len(array)]
"""


@sealing
@pytest.mark.parametrize("size", [10, 100_000])
def test_a_program_has_five_descriptors_when_it_runs(box: Box, size: int) -> None:
    """Whatever it was sent, at every call; the sixth here is the folder that it reads."""
    with box.open(Program({"seed.py": _LOOKS}), "seed", 10) as session:
        for _ in range(2):
            assert session.call("f", [0.5] * size) == [[0, 1, 2, 3, 4, 5], 0.5, size]


_TAMPERS = """
import mmap, os
os.close = lambda number: None  # what comes in a file stays open
def ready():
    return True
def f(data):
    found = []
    for change in (
        lambda: os.pwrite(5, b'x', 0),
        lambda: os.ftruncate(5, 0),
        lambda: os.ftruncate(5, 900_000),
        lambda: mmap.mmap(5, 0),
    ):
        try:
            change()
            found.append('changed')
        except OSError as error:
            found.append(error.errno)
    return [os.readlink('/proc/self/fd/5'), *found]
"""


@sealing
def test_a_program_cannot_change_what_it_was_sent(box: Box) -> None:
    """One that has kept the file of its own arguments finds that it may only read it."""
    with box.open(Program({"seed.py": _TAMPERS}), "seed", 10) as session:
        session.call("ready")
        assert session.call("f", [0.5] * 100_000) == ["/memfd:request (deleted)", *[errno.EPERM] * 4]
