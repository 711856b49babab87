"""The judge's ends of what leads to a candidate and back, with a candidate that is played by the test."""

import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from evolve.sandbox.channel import Channel, RepliesEnded
from evolve.sandbox.status import SessionFailed, Status
from evolve.sandbox.wire import ANSWER, REQUEST, TICKET

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
