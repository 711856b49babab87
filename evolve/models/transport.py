"""The sockets under the SDK: each wait on one of them ends soon after its call is cancelled, and at the call's deadline.

The SDK's own time-outs bound one read and not the call, and nothing in it can be interrupted from another thread. Here no socket ever
blocks: a thread waits for it and for the end of the call that it works for (`Watch`); for one that cannot be waited for it looks in slices.
Nothing is decoded, for a few hundred kilobytes can be made of gigabytes: answers that are compressed are left so, and said to be.
Invariant: a thread that waits here works for one call, set by `watching`; a connection that a call leaves early is closed."""

import errno
import os
import select
import socket
import ssl
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpcore2
import httpx2

from evolve.models.cancellation import Cancellation
from evolve.models.turns import given_up
from evolve.types import ConfigError

SLICE_SECONDS = 0.2
"""How late a call ends at most that is cancelled by a plain event."""
_LONG = 3600.0
"""Seconds of one wait that something else ends; a poll takes no infinite ones."""
CONNECT_SECONDS = 20.0
LINGER_SECONDS = 0.2
IDLE_SECONDS = 60.0
"""How long a connection is kept that nobody uses."""
WHOLE_LIMIT = 8 << 20
"""Bytes of an answer that is kept as it comes; what sends more is cut off."""
STREAM_LIMIT = 128 << 20
"""The same for one that comes in events, of which the text alone is kept; a few hundred bytes carry one token."""
HEAD_LIMIT = 1 << 20
"""Bytes that a server may send before its answer's body: one that says `100 Continue` says it again for ever."""
ENCODING = "encoding"
"""The extension of a response that tells how its body is compressed; "identity": it is not."""
_REFUSALS = 300
"""Statuses from here on come with an error, which is kept as a whole."""


class Watch:
    """One request on its way, and how many bytes of an answer it takes. `sent`: some of it left; `heard`: bytes of the answer; `reused`: on a connection that had answered before;
    `overflowed`: the answer was too long; `headed`: its headers are there."""

    def __init__(self, deadline: float, cancelled: threading.Event, limit: int = WHOLE_LIMIT) -> None:
        self.limit = limit
        self.deadline = deadline
        self.cancelled = cancelled
        self.sent = False
        self.heard = 0
        self.reused = False
        self.overflowed = False
        self.headed = False

    @property
    def remaining(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self.deadline - time.monotonic()

    def linger(self) -> None:
        """The answer is there: only its last bytes are waited for, so that its connection can be used again."""
        self.deadline = min(self.deadline, time.monotonic() + LINGER_SECONDS)


class _Local(threading.local):
    watch: Watch | None = None


_local = _Local()


@contextmanager
def watching(watch: Watch) -> Generator[None]:
    """What this thread waits for belongs to this call."""
    _local.watch = watch
    try:
        yield
    finally:
        _local.watch = None


def _watch() -> Watch:
    assert _local.watch is not None, "a request outside of `watching`"
    return _local.watch


def _left(watch: Watch, until: float = float("inf")) -> float:
    """Seconds until the call ends, or `until`; raises `httpcore2.ReadTimeout` when that is past, or the call was cancelled."""
    left = min(watch.deadline, until) - time.monotonic()
    if watch.cancelled.is_set() or left <= 0:
        raise httpcore2.ReadTimeout("the call was cancelled" if watch.cancelled.is_set() else "no answer in time")
    return left


def _await(sock: socket.socket, events: int, until: float = float("inf")) -> None:
    """Returns when the socket is ready; raises `httpcore2.ReadTimeout` when the call is over, or `until` is past."""
    watch = _watch()
    poll = select.poll()
    poll.register(sock, events)
    longest = SLICE_SECONDS
    if isinstance(watch.cancelled, Cancellation):
        poll.register(watch.cancelled, select.POLLIN)
        longest = _LONG
    with given_up():
        while True:
            left = _left(watch, until)
            if any(number == sock.fileno() for number, _ in poll.poll(min(left, longest) * 1000)):
                return


def _when_ready(sock: socket.socket, act: Callable[[], Any], events: int, until: float = float("inf")) -> Any:
    """What `act` returns once the socket lets it."""
    while True:
        try:
            return act()
        except ssl.SSLWantReadError:
            _await(sock, select.POLLIN, until)
        except ssl.SSLWantWriteError:
            _await(sock, select.POLLOUT, until)
        except BlockingIOError:
            _await(sock, events, until)


class SocketStream(httpcore2.NetworkStream):
    """A connection. The head of a request waits for what follows, and both leave at once: the server wakes once."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._answered = False
        self._held = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes; none at the end. A server that never makes us wait ends no later than others."""
        self._flush()
        watch = _watch()
        _left(watch)
        if watch.heard > HEAD_LIMIT and not watch.headed:
            raise httpcore2.ReadError(f"more than {HEAD_LIMIT} bytes came before the answer")
        try:
            data: bytes = _when_ready(self._sock, lambda: self._sock.recv(max_bytes), select.POLLIN)
        except OSError as error:
            raise httpcore2.ReadError(error.strerror or str(error)) from error
        watch.heard += len(data)
        self._answered = self._answered or bool(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends it, before the next read at the latest."""
        first = not self._held and not _watch().sent
        self._held += buffer
        if not first:
            self._flush()

    def _flush(self) -> None:
        if not self._held:
            return
        view, watch = memoryview(self._held), _watch()
        self._held = b""
        watch.sent, watch.reused = True, self._answered
        try:
            while view:
                view = view[_when_ready(self._sock, lambda: self._sock.send(view), select.POLLOUT) :]  # noqa: B023  # called at once
        except OSError as error:
            raise httpcore2.WriteError(error.strerror or str(error)) from error

    def close(self) -> None:
        """Closes it."""
        self._sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "SocketStream":
        """The same connection, encrypted."""
        until = time.monotonic() + CONNECT_SECONDS
        try:
            wrapped = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
        except OSError as error:
            self._sock.close()
            raise httpcore2.ConnectError(str(error)) from error
        try:
            _when_ready(wrapped, wrapped.do_handshake, select.POLLIN, until)
        except OSError as error:
            wrapped.close()
            raise httpcore2.ConnectError(str(error)) from error
        except httpcore2.TimeoutException:
            wrapped.close()
            raise
        return SocketStream(wrapped)

    def get_extra_info(self, info: str) -> Any:
        """What the pool asks: whether an idle connection has something to read, which is its end."""
        if info == "is_readable":
            poll = select.poll()
            poll.register(self._sock, select.POLLIN)
            return bool(poll.poll(0))
        return self._sock if info == "socket" else None


class SocketBackend(httpcore2.NetworkBackend):
    """Opens connections."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> SocketStream:
        """The first of the host's addresses that answers. Looking up its name is the one wait that cannot be interrupted."""
        failed: OSError | None = None
        until = time.monotonic() + CONNECT_SECONDS
        try:
            with given_up():
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore2.ConnectError(f"{host} has no address: {error.strerror or error}") from error
        for family, kind, protocol, _, address in found:
            try:
                return SocketStream(_connected(socket.socket(family, kind, protocol), address, until))
            except OSError as error:
                failed = error
        raise httpcore2.ConnectError(
            failed.strerror if failed and failed.strerror else f"{host} has no address"
        ) from failed


def _connected(sock: socket.socket, address: Any, until: float) -> socket.socket:
    done = False
    try:
        sock.setblocking(False)
        code = sock.connect_ex(address)
        if code not in (0, errno.EINPROGRESS):
            raise OSError(code, os.strerror(code))
        _await(sock, select.POLLOUT, until)
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _keep_alive(sock)
        done = True
    finally:
        if not done:
            sock.close()
    return sock


def _keep_alive(sock: socket.socket) -> None:
    """Asks a silent peer every half minute whether it is there: a router forgets a quiet connection, and a dead host says nothing."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 30), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


@contextmanager
def _translated() -> Generator[None]:
    """Errors of the pool as the client above knows them; what kind of failure it was, the `Watch` knows better."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except httpcore2.ConnectError as error:
        raise httpx2.ConnectError(str(error)) from error
    except httpcore2.ProxyError as error:
        raise httpx2.ProxyError(str(error)) from error
    except httpcore2.NetworkError as error:
        raise httpx2.ReadError(str(error)) from error
    except httpcore2.ProtocolError as error:
        raise httpx2.RemoteProtocolError(str(error)) from error


class _Body(httpx2.SyncByteStream):
    """The answer's body; `ended` is called once, when nobody reads any more of it."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended: Callable[[], None] | None = ended

    def __iter__(self) -> Iterator[bytes]:
        size, limit = 0, _watch().limit
        with _translated():
            for chunk in self._stream:
                size += len(chunk)
                if size > limit:
                    _watch().overflowed = True
                    raise httpx2.ReadError(f"the answer is longer than {limit} bytes")
                yield chunk

    def close(self) -> None:
        """Closes the connection, unless all of the answer was read."""
        ended, self._ended = self._ended, None
        try:
            self._stream.close()
        finally:
            if ended is not None:
                ended()


class Transport(httpx2.BaseTransport):
    """As many connections as there are calls in flight, kept for the calls to come. Any thread.

    The pool only makes them: used as one, it looks at every idle connection at each request and at each answer, under one lock, which with 64
    calls in flight took longer than all the rest of a call."""

    def __init__(self, scheme: str, host: str) -> None:
        options: dict[str, Any] = {
            "ssl_context": httpx2.create_ssl_context() if scheme == "https" else None,
            "keepalive_expiry": IDLE_SECONDS,
            "network_backend": SocketBackend(),
        }
        proxy = _proxy(scheme, host)
        self._pool = httpcore2.ConnectionPool(**options) if proxy is None else _through(proxy, options)
        self._idle: deque[tuple[float, httpcore2.ConnectionInterface]] = deque()
        self._closed = False

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends it, and returns as soon as the answer's headers are there."""
        url = request.url
        inner = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        connection = self._taken(inner.url.origin)
        try:
            with _translated():
                response = connection.handle_request(inner)
        except BaseException:
            self._back(connection)
            raise
        _watch().headed = True
        if response.status >= _REFUSALS:
            _watch().limit = min(_watch().limit, WHOLE_LIMIT)
        body = _Body(response.stream, lambda: self._back(connection))
        headers = httpx2.Headers(response.headers)
        # Without it the client above would unpack the body.
        encoding = headers.pop("content-encoding", "").strip().lower() or "identity"
        extensions = {**response.extensions, ENCODING: encoding}
        return httpx2.Response(response.status, headers=headers, stream=body, extensions=extensions)

    def close(self) -> None:
        """Closes the connections; those in use when their calls end."""
        self._closed = True
        self._forget(float("inf"))

    def _taken(self, origin: httpcore2.Origin) -> httpcore2.ConnectionInterface:
        """The one that was used last, so that those which nobody needs any more grow old."""
        while self._idle:
            with suppress(IndexError):  # another thread was faster
                _, connection = self._idle.pop()
                if connection.can_handle_request(origin) and not connection.has_expired():
                    return connection
                connection.close()
        return self._pool.create_connection(origin)

    def _back(self, connection: httpcore2.ConnectionInterface) -> None:
        """Keeps one that can be used again, for as long as others of its age are used."""
        now = time.monotonic()
        if connection.is_idle():
            self._idle.append((now, connection))
        else:
            connection.close()
        self._forget(float("inf") if self._closed else now - IDLE_SECONDS)

    def _forget(self, until: float) -> None:
        """Closes those that nobody has used since then."""
        while self._idle:
            with suppress(IndexError):
                since, connection = self._idle.popleft()
                if since > until:
                    self._idle.appendleft((since, connection))
                    return
                connection.close()


def _through(proxy: httpx2.Proxy, options: dict[str, Any]) -> httpcore2.HTTPProxy:
    url = httpcore2.URL(
        scheme=proxy.url.raw_scheme, host=proxy.url.raw_host, port=proxy.url.port, target=proxy.url.raw_path
    )
    return httpcore2.HTTPProxy(url, proxy_auth=proxy.raw_auth, **options)


def _proxy(scheme: str, host: str) -> httpx2.Proxy | None:
    """The proxy of the environment for this host; none for this machine itself."""
    proxies = urllib.request.getproxies()
    found = proxies.get(scheme) or proxies.get("all") or ""
    if not found or host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(host):
        return None
    if not found.startswith(("http://", "https://")):
        raise ConfigError(
            "the environment names a proxy that is not reached by http. Do: name an http proxy, or name the host in $NO_PROXY"
        )
    return httpx2.Proxy(found)
