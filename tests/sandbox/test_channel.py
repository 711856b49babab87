"""The judge's ends of what leads to a candidate and back, with a candidate that is played by the test."""

import errno
import mmap
import os
import platform
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.channel import Channel, Outbox, RepliesEnded, seal
from evolve.sandbox.status import SessionFailed, Status
from evolve.sandbox.wire import ANSWER, REQUEST, TICKET, ReceivedRequest, receive
from evolve.types import Program

_TICKET = b"ticket 1"


def frame(payload: bytes, ticket: bytes = _TICKET) -> bytes:
    """An answer as it is written."""
    return ANSWER.pack(ticket, len(payload)) + payload


def asked(payload: bytes, ticket: bytes = _TICKET) -> bytes:
    """A request as it is received."""
    return REQUEST.pack(ticket, len(payload), False) + payload


class Candidate:
    """The other side; what it does, it does before the judge waits."""

    def __init__(self, channel: Channel) -> None:
        self.output, self.requests, self.replies = (os.dup(number) for number in channel.theirs)
        channel.hand_over()

    def reply(self, data: bytes) -> None:
        os.write(self.replies, data)

    def leave(self) -> None:
        for number in (self.output, self.requests, self.replies):
            if number >= 0:
                os.close(number)
        self.output = self.requests = self.replies = -1


@pytest.fixture
def channel() -> Iterator[Channel]:
    channel = Channel(most=1000, log=100, draw=lambda size: _TICKET)
    yield channel
    channel.close()


@pytest.fixture
def candidate(channel: Channel) -> Iterator[Candidate]:
    candidate = Candidate(channel)
    yield candidate
    candidate.leave()


def test_every_request_has_a_ticket_of_its_own() -> None:
    """Drawn where nobody can foresee it."""
    channel = Channel(most=100, log=100)
    candidate = Candidate(channel)
    tickets = []

    def answer() -> None:
        ticket, size, _ = REQUEST.unpack(os.read(candidate.requests, REQUEST.size))
        os.read(candidate.requests, size)
        tickets.append(ticket)
        candidate.reply(frame(b"answer", ticket))

    for _ in range(2):
        thread = threading.Thread(target=answer)
        thread.start()
        channel.exchange([b"asked"], time.monotonic() + 10)
        thread.join()
    channel.close()
    candidate.leave()
    assert len(set(tickets)) == 2


def soon() -> float:
    return time.monotonic() + 0.05


def after_the_request(candidate: Candidate, act: Callable[[], None]) -> threading.Thread:
    """Reads a header, then acts, as a candidate does that answers when it is asked."""

    def wait_and_act() -> None:
        os.read(candidate.requests, REQUEST.size)
        act()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    return thread


def test_a_request_is_answered(channel: Channel, candidate: Candidate) -> None:
    """What was put in line before goes first."""
    channel.send(b"one")
    thread = after_the_request(candidate, lambda: candidate.reply(frame(b"answer")))
    assert channel.exchange([b"t", b"wo"], time.monotonic() + 10) == b"answer"
    thread.join()
    assert os.read(candidate.requests, 100) == b"one" + asked(b"two")


def test_a_request_larger_than_the_sockets_buffer_arrives(
    channel: Channel, candidate: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are no files in memory it is written as it is read."""
    monkeypatch.delattr(os, "memfd_create", raising=False)
    request, received = os.urandom(1_000_000), bytearray()

    def read_all() -> None:
        while len(received) < len(asked(request)):
            received.extend(os.read(candidate.requests, 1 << 16))
        candidate.reply(frame(b"got it"))

    thread = threading.Thread(target=read_all)
    thread.start()
    assert channel.exchange([request], time.monotonic() + 10) == b"got it"
    thread.join()
    assert received == asked(request)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", Status.TIMEOUT),
        (frame(b"answer")[:-1], Status.TIMEOUT),
        (frame(b"x" * 1001), Status.RESULT_TOO_LARGE),
        (frame(b"x" * 1001)[: ANSWER.size], Status.RESULT_TOO_LARGE),
        (ANSWER.pack(_TICKET, 1 << 60), Status.BAD_FRAME),
        (frame(b"answer", b"ticket 0"), Status.BAD_FRAME),
        (frame(b"answer", bytes(TICKET)), Status.BAD_FRAME),
        (b"ticket 2"[:7], Status.TIMEOUT),
        (b"ticked", Status.BAD_FRAME),
        (b"hello, judge", Status.BAD_FRAME),
        (frame(b"answer") * 2, Status.BAD_FRAME),
        (frame(b"answer") + b"x", Status.BAD_FRAME),
    ],
)
def test_anything_but_one_frame_fails(channel: Channel, candidate: Candidate, data: bytes, status: Status) -> None:
    """With the status that names it."""
    thread = after_the_request(candidate, lambda: candidate.reply(data))
    with pytest.raises(SessionFailed) as caught:
        channel.exchange([b"asked"], soon() + 0.2)
    thread.join()
    assert caught.value.status == status


@pytest.mark.parametrize("data", [frame(b"answer"), b"x"])
def test_talking_before_the_question_fails(channel: Channel, candidate: Candidate, data: bytes) -> None:
    """Even when it is a sound frame."""
    candidate.reply(data)
    with pytest.raises(SessionFailed) as caught:
        channel.exchange([b"asked"], soon())
    assert (caught.value.status, caught.value.message) == (
        Status.BAD_FRAME,
        "the program sent something before it was asked",
    )


@pytest.mark.parametrize(("sent", "inside"), [(b"", False), (frame(b"answer")[:-1], True)])
def test_the_end_of_the_replies_is_told(channel: Channel, candidate: Candidate, sent: bytes, inside: bool) -> None:
    """And whether it came in the middle of an answer."""

    def part_and_leave() -> None:
        candidate.reply(sent)
        candidate.leave()

    thread = after_the_request(candidate, part_and_leave)
    with pytest.raises(RepliesEnded) as caught:
        channel.exchange([b"asked"], time.monotonic() + 10)
    thread.join()
    assert caught.value.inside_frame is inside


def test_a_candidate_that_is_gone_before_the_question_has_ended(channel: Channel, candidate: Candidate) -> None:
    """The broken pipe of the request is not another kind of failure."""
    candidate.leave()
    with pytest.raises(RepliesEnded):
        channel.exchange([b"asked"], time.monotonic() + 10)


def test_output_is_kept_to_its_end(channel: Channel, candidate: Candidate) -> None:
    """Also what is still in the pipe when the channel is closed."""
    os.write(candidate.output, b"first\n" + b"." * 200 + b"last\n")
    candidate.leave()
    assert not channel.spoke()


def test_endless_output_delays_no_answer(channel: Channel, candidate: Candidate) -> None:
    """It is read slowly once it is long, and the answer is heard meanwhile."""
    ended = threading.Event()

    def print_and_answer() -> None:
        for _ in range(40):
            os.write(candidate.output, b"#" * (1 << 15))
        candidate.reply(frame(b"answer"))
        ended.set()

    thread = threading.Thread(target=print_and_answer)
    thread.start()
    assert channel.exchange([b"asked"], time.monotonic() + 30) == b"answer"
    thread.join()
    assert ended.is_set()
    assert channel.log.total > 1 << 20
    assert channel.log.text() == "#" * 100


def test_a_closed_output_is_no_reason_to_hurry(channel: Channel, candidate: Candidate) -> None:
    """A candidate may close its standard output and still answer."""
    os.close(candidate.output)
    candidate.output = -1
    thread = after_the_request(candidate, lambda: candidate.reply(frame(b"answer")))
    assert channel.exchange([b"asked"], time.monotonic() + 10) == b"answer"
    thread.join()


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
    file = seal([_LARGE])
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
    file = seal([b"#!/bin/sh\n"])
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
    file = seal([_LARGE])
    with pytest.raises(PermissionError):
        os.ftruncate(file, 0)
    os.close(file)


@sealing
def test_where_there_is_no_room_for_a_file_the_request_goes_through_the_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does where there are none."""

    def full(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", full)
    assert seal([_LARGE]) == -1


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
    request = ReceivedRequest(b"", b"x")
    request.close()
    assert request.payload == b"x"


_LOOKS = """
import os
def f(array):
    return [sorted(map(int, os.listdir('/proc/self/fd'))), array[-1], len(array)]
"""


@pytest.mark.integration
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
