"""Messages on a stream socket arrive whole, however the stream is cut."""

import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.evaluation.framing import FrameBuffer, receive_frame, send_frame

PAYLOADS = st.lists(st.binary(max_size=40), max_size=6)


class Written:
    """A socket that keeps what is sent."""

    def __init__(self):
        self.data = b""

    def sendall(self, data):
        self.data += data


def framed(payloads):
    written = Written()
    for payload in payloads:
        send_frame(written, payload)
    return written.data


@given(PAYLOADS, st.lists(st.integers(1, 12)))
@settings(max_examples=80, deadline=None)
def test_frames_are_the_same_however_the_stream_is_cut(payloads, cuts):
    """Also empty ones."""
    stream, buffer, found = framed(payloads), FrameBuffer(), []
    for size in cuts:
        found += buffer.add(stream[:size])
        stream = stream[size:]
    assert found + buffer.add(stream) == payloads


@pytest.fixture
def pair():
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_a_frame_larger_than_the_sockets_buffer_arrives(pair):
    """Sent by one thread, received by another."""
    payload = bytes(range(256)) * 8192
    sender = threading.Thread(target=send_frame, args=(pair[0], payload))
    sender.start()
    assert receive_frame(pair[1]) == payload
    sender.join()


@pytest.mark.parametrize("sent", [b"", b"\x00\x00", framed([b"abc"])[:-1]])
def test_a_peer_that_ends_within_a_frame_has_ended(pair, sent):
    """Half a frame is none."""
    pair[0].sendall(sent)
    pair[0].close()
    assert receive_frame(pair[1]) is None
