"""Messages on a stream socket between trusted processes: four bytes of length, big-endian, then the payload.

Invariant: a frame arrives whole or not at all; a peer that ends in the middle of one counts as having ended before it."""

import socket
import struct

_HEADER = struct.Struct(">I")
_CHUNK = 1 << 16


def send_frame(sock: socket.socket, payload: bytes) -> None:
    """Sends one frame; raises `OSError` when the peer is gone, or takes longer than the socket's time-out."""
    sock.sendall(_HEADER.pack(len(payload)) + payload)


def receive_frame(sock: socket.socket) -> bytes | None:
    """The next frame, waiting for it; None when the peer has ended."""
    header = _exactly(sock, _HEADER.size)
    return None if header is None else _exactly(sock, *_HEADER.unpack(header))


def _exactly(sock: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            chunk = sock.recv(min(size - len(data), _CHUNK))
        except ConnectionResetError:  # it ended without reading all that it was sent
            return None
        if not chunk:
            return None
        data += chunk
    return bytes(data)


class FrameBuffer:
    """Puts frames together from whatever pieces arrive."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, piece: bytes) -> list[bytes]:
        """The frames that `piece` completes."""
        self._data += piece
        frames = []
        while len(self._data) >= _HEADER.size:
            end = _HEADER.size + _HEADER.unpack_from(self._data)[0]
            if len(self._data) < end:
                break
            frames.append(bytes(self._data[_HEADER.size : end]))
            del self._data[:end]
        return frames
