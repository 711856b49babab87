"""Sockets of the host that no candidate may reach.

Invariant: they listen on this machine's loopback and in the host's own folder alone."""

import contextlib
import socket
import sys
from types import TracebackType

from evolve.types import SandboxError

_LONGEST_PATH = 100
"""Bytes of a UNIX socket's path that every system allows."""
_LONGEST = 1 << 16


class Listeners:
    """TCP and UDP on 127.0.0.1, a socket at `path`, and an abstract one called `name` where the system has those. Raises `SandboxError` for a path that is too
    long for a socket."""

    def __init__(self, path: str, name: str) -> None:
        if len(path.encode()) > _LONGEST_PATH:
            raise SandboxError(
                f"no socket can have the path {path!r}, which is longer than {_LONGEST_PATH} bytes. Try: set TMPDIR to a shorter folder, such as /tmp"
            )
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            tcp = self._bound(stack, socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
            udp = self._bound(stack, socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
            unix = self._bound(stack, socket.AF_UNIX, socket.SOCK_STREAM, path)
            self._streams = {"TCP": tcp, "the UNIX socket": unix}
            self._datagrams = udp
            self.abstract = name if sys.platform == "linux" else ""
            if self.abstract:
                self._streams["the abstract socket"] = self._bound(
                    stack, socket.AF_UNIX, socket.SOCK_STREAM, f"\0{name}"
                )
            for listening in self._streams.values():
                listening.listen()
            self._stack = stack.pop_all()
        self.tcp: int = tcp.getsockname()[1]
        self.udp: int = udp.getsockname()[1]

    def __enter__(self) -> "Listeners":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._stack.close()

    def heard(self) -> list[str]:
        """What has arrived since the last look, in words."""
        found = []
        for name, listening in self._streams.items():
            with contextlib.suppress(BlockingIOError):
                listening.accept()[0].close()
                found.append(f"{name} got a connection")
        with contextlib.suppress(BlockingIOError):
            self._datagrams.recv(_LONGEST)
            found.append("UDP got a message")
        return found

    def _bound(
        self, stack: contextlib.ExitStack, family: int, kind: int, address: str | tuple[str, int]
    ) -> socket.socket:
        made = stack.enter_context(socket.socket(family, kind))
        made.bind(address)
        made.setblocking(False)
        return made
