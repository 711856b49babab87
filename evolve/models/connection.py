"""Requests to one endpoint, on the one asyncio thread of this process, behind a synchronous face.

httpx knows proxies and certificates, and pools connections. The deadline of a request, its cancellation and the bounds of its answer are
ours: nothing is unpacked, for gigabytes may come of a few hundred kilobytes. Every failure leaves here as a `RequestFault`."""

import asyncio
import concurrent.futures
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx2

from evolve.models.completion import BadAnswer, read_error
from evolve.models.endpoint import Endpoint
from evolve.models.faults import FREE, Refusal, RequestFault, Treatment, diagnose, parse_retry_after, shorten
from evolve.types import ConfigError, Usage, estimate_tokens

T = TypeVar("T")

CONNECT_SECONDS = 20.0
IDLE_SECONDS = 60.0
"""Seconds that an unused connection is kept."""
CANCEL_SECONDS = 0.25
"""Delay at most until a cancelled call ends."""
LARGEST = 8 << 20
"""Bytes of an answer."""
_LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")


@dataclass(frozen=True, slots=True)
class EndpointRequest(Generic[T]):
    """A request, and how its answer is read. `optional` are the fields that can be left out; `prompt_tokens` may have to be paid where
    nobody counts, and `longest` bounds the tokens of the answers together (0: nothing does)."""

    path: str
    body: Mapping[str, Any]
    read: Callable[[bytes], T]
    optional: tuple[str, ...] = ()
    prompt_tokens: int = 0
    longest: int = 0

    def estimate(self, text: str) -> Usage:
        """Returns the possible cost when so much of the answer had come."""
        written = estimate_tokens(text)
        return Usage(self.prompt_tokens, min(written, self.longest or written))


@dataclass(slots=True)
class _Response:
    """An answer as far as it came; `status` is 0 before its headers did."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    is_late: bool = False

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def encoding(self) -> str:
        """Compression of the body; empty where there is none."""
        return self.headers.get("content-encoding", "").strip().lower().removeprefix("identity")


class Connection:
    """Client of one endpoint. Any thread may call."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = _open_client()
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **endpoint.headers}
        if endpoint.key:
            self._headers["Authorization"] = f"Bearer {endpoint.key.reveal()}"

    def ask(self, request: EndpointRequest[T], deadline: float, cancelled: threading.Event) -> T:
        """Sends a request and reads its answer; `deadline` is a time of `time.monotonic`. Raises `RequestFault`."""
        response = _Response()
        # Half of a surrogate pair in a program must not end the call: it is sent as a question mark.
        content = json.dumps(request.body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        exchange = self._exchange(response, request.path, content, deadline - time.monotonic())
        future = asyncio.run_coroutine_threadsafe(exchange, _event_loop())
        try:
            failure = _await(future, cancelled)
        except concurrent.futures.CancelledError:
            usage = request.estimate(response.text)
            raise RequestFault(Treatment.FAILED, "the call was cancelled", usage=usage) from None
        if failure is not None:
            raise self._explain_loss(failure, response, request.estimate(response.text))
        if len(response.body) > LARGEST:
            message = f"its answer was cut off: the answer is longer than {LARGEST} bytes"
            usage = request.estimate(response.text)
            raise RequestFault(Treatment.BAD_ANSWER, message, cause="too long", usage=usage)
        if response.status >= 300:
            body = b"" if response.encoding else bytes(response.body)
            wait = parse_retry_after(response.headers)
            raise self._diagnose(replace(read_error(response.status, body), retry_after=wait), request)
        try:
            return _read(response, request)
        except BadAnswer as error:
            raise self._explain_answer(error, request) from None

    def close(self) -> None:
        """Closes the connections."""
        asyncio.run_coroutine_threadsafe(self._client.aclose(), _event_loop()).result()

    async def _exchange(self, response: _Response, path: str, content: bytes, seconds: float) -> Exception | None:
        """Fills the response; returns the error that kept it from being whole."""
        # The time to connect ends before the deadline, so that an address that cannot be reached is told from a silent server.
        timeout = httpx2.Timeout(None, connect=min(CONNECT_SECONDS, 0.9 * max(seconds, 0.0)))
        url = self._endpoint.url + path
        try:
            async with (
                asyncio.timeout(seconds),
                self._client.stream("POST", url, content=content, headers=self._headers, timeout=timeout) as answer,
            ):
                response.status, response.headers = answer.status_code, answer.headers
                async for chunk in answer.aiter_raw():
                    response.body += chunk
                    if len(response.body) > LARGEST:
                        break
        except TimeoutError as error:
            response.is_late = True
            return error
        except httpx2.HTTPError as error:
            return error
        return None

    def _diagnose(self, refusal: Refusal, request: EndpointRequest[T], usage: Usage = FREE) -> RequestFault:
        redacted = replace(refusal, message=self._endpoint.key.redact(refusal.message))
        return diagnose(redacted, request.optional, self._endpoint.key_remedy, usage)

    def _explain_answer(self, error: BadAnswer, request: EndpointRequest[T]) -> RequestFault:
        """Returns the fault of an answer with status 200, which may have to be paid; some are errors in disguise."""
        usage = error.usage or request.estimate(error.text)
        if error.refusal is not None and error.refusal.status:
            return self._diagnose(error.refusal, request, usage if error.text else FREE)
        detail = f": {error.refusal.message}" if error.refusal else ""
        words = shorten(self._endpoint.key.redact(f"{error}{detail}"))
        message = f"what it sent is no answer: {words}"
        return RequestFault(Treatment.BAD_ANSWER, message, cause="no answer", usage=usage)

    def _explain_loss(self, error: Exception, response: _Response, usage: Usage) -> RequestFault:
        """Returns the fault of an answer that did not come, or not whole."""
        causes = _causes_of(error)
        if any(isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError) for cause in causes):
            return self._explain_no_connection(causes)
        if response.is_late and response.status:
            message = "the call's time was up in the middle of its answer"
            return RequestFault(Treatment.FAILED, message, cause="time was up", usage=usage)
        if response.is_late:
            message = (
                "nothing came before the call's time was up. Try: see to it, or raise the model's `timeout_seconds`"
            )
            return RequestFault(Treatment.SILENT, message, cause="time was up", usage=usage)
        if response.status:
            message = "the connection broke in the middle of its answer"
            return RequestFault(Treatment.BAD_ANSWER, message, cause="connection broken", usage=usage)
        message = "it closed the connection and said nothing. Try: see what its log says"
        return RequestFault(Treatment.DOWN, message, cause="connection closed")

    def _explain_no_connection(self, causes: list[BaseException]) -> RequestFault:
        where = urlsplit(self._endpoint.url).netloc
        reason = next((words for cause in reversed(causes) if (words := _words_of(cause))), "no reason was told")
        if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
            message = f"the certificate of {where} is not trusted: {reason}. Try: set $SSL_CERT_FILE to the file of who signed it"
            return RequestFault(Treatment.GONE, message, cause="certificate not trusted")
        remedy = "Try: start it, or correct the address (`base_url`, or what stands behind the @)"
        return RequestFault(Treatment.DOWN, f"{where} cannot be reached: {reason}. {remedy}", cause="not reached")


def _words_of(cause: BaseException) -> str:
    if isinstance(cause, socket.gaierror):
        return "its name has no address"
    if isinstance(cause, ConnectionError) and cause.errno:
        return os.strerror(cause.errno)
    return shorten(str(cause))


def _await(future: "concurrent.futures.Future[Exception | None]", cancelled: threading.Event) -> Exception | None:
    """Returns the failure of an exchange; raises `CancelledError` soon after its call was cancelled."""
    while True:
        try:
            return future.result(CANCEL_SECONDS)
        except TimeoutError:  # the exchange returns its own
            if cancelled.is_set():
                future.cancel()


def _read(response: _Response, request: EndpointRequest[T]) -> T:
    if response.encoding:
        raise BadAnswer(
            f"its body is compressed ({response.encoding}), which nobody asked for. "
            "Try: switch compression off in the server, or in the proxy before it"
        )
    return request.read(bytes(response.body))


def _open_client() -> httpx2.AsyncClient:
    """Returns a client with the proxies and certificates of the environment; no proxy stands between this machine and itself."""
    try:
        return httpx2.AsyncClient(
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=IDLE_SECONDS),
            mounts=dict.fromkeys(_LOOPBACK),
        )
    except (ImportError, ValueError):
        raise ConfigError(
            "the environment names a proxy that is not reached by http. Try: name an http proxy, or name the host in $NO_PROXY"
        ) from None


@lru_cache(maxsize=1)
def _event_loop() -> asyncio.AbstractEventLoop:
    """Returns the loop of the one thread that all requests of this process run on."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="evolve-requests", daemon=True).start()
    return loop


def _causes_of(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and len(found) < 20:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
