"""The loopback device of a network namespace, which begins its life switched off.

Invariant: only the device of the namespace that this process is in is touched."""

import fcntl
import socket
import struct

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_REQUEST = struct.Struct("16sH14x")


def raise_loopback() -> None:
    """Switches `lo` on; raises `OSError`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        found = fcntl.ioctl(sock, _SIOCGIFFLAGS, _REQUEST.pack(b"lo", 0))
        flags: int = _REQUEST.unpack(found)[1]
        fcntl.ioctl(sock, _SIOCSIFFLAGS, _REQUEST.pack(b"lo", flags | _IFF_UP))
