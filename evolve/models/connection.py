"""Requests to one endpoint through the SDK of OpenAI, on the one asyncio thread of this process, behind a synchronous face.

The SDK knows addresses, headers, proxies and certificates, and pools connections. The deadline of a request, its cancellation and the bounds
of its answer are ours: nothing is unpacked, for gigabytes may come of a few hundred kilobytes. Every failure leaves here as a `RequestFault`."""

import asyncio
import concurrent.futures
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlsplit

import httpx2
import openai

from evolve.models.completion import BadAnswer, read_error
from evolve.models.endpoint import Endpoint, is_within
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
_NO_KEY = "none"
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_ORGANISATION = ("OpenAI-Organization", "OpenAI-Project")
_LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_ENCODING = "encoding"


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
    encoding: str = ""
    body: bytearray = field(default_factory=bytearray)
    is_cut: bool = False
    is_late: bool = False

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class _TooLong(Exception):
    """An answer with more bytes than its limit."""


class Connection:
    """Client of one endpoint. Any thread may call."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # The SDK takes the organisation from the environment; it is nobody else's business.
        is_theirs = is_within(endpoint.host, "openai.com")
        withheld = {} if is_theirs else dict.fromkeys(_ORGANISATION, openai.omit)
        self._client = openai.AsyncOpenAI(
            api_key=endpoint.key.reveal() or _NO_KEY,
            base_url=endpoint.url,
            max_retries=0,
            default_headers=cast(Any, {**withheld, **endpoint.headers}),
            http_client=_open_client(),
        )

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
        if response.status >= 300:
            raise self._diagnose(response, request)
        try:
            return _read(response, request)
        except BadAnswer as error:
            raise self._explain_answer(error, request) from None

    def close(self) -> None:
        """Closes the connections."""
        asyncio.run_coroutine_threadsafe(self._client.close(), _event_loop()).result()

    async def _exchange(self, response: _Response, path: str, content: bytes, seconds: float) -> Exception | None:
        """Fills the response; returns why it is not whole. The time to connect ends first, so that it can be told from silence."""
        timeout = httpx2.Timeout(None, connect=min(CONNECT_SECONDS, 0.9 * max(seconds, 0.0)))
        options: Any = {"headers": _HEADERS, "timeout": timeout}
        kind: Any = openai.AsyncStream[Any]
        try:
            async with asyncio.timeout(seconds):
                answer: Any = await self._client.post(
                    path, cast_to=httpx2.Response, content=content, options=options, stream=True, stream_cls=kind
                )
                await _receive(response, answer)
        except openai.APIStatusError as error:
            _note_head(response, error.response)
            response.body += error.response.content
        except TimeoutError as error:
            response.is_late = True
            return error
        except (openai.APIConnectionError, httpx2.HTTPError, _TooLong) as error:
            response.is_cut = isinstance(error, _TooLong)
            return error
        return None

    def _diagnose(self, response: _Response, request: EndpointRequest[T]) -> RequestFault:
        code, parameter, message = read_error(b"" if response.encoding else bytes(response.body))
        wait = parse_retry_after(response.headers)
        refusal = Refusal(response.status, self._endpoint.key.redact(message), code, parameter, wait)
        return diagnose(refusal, request.optional, self._endpoint.key_remedy)

    def _explain_answer(self, error: BadAnswer, request: EndpointRequest[T]) -> RequestFault:
        """Returns the fault of an answer with status 200, which may have to be paid; some are errors in disguise."""
        usage = error.usage or request.estimate(error.text)
        if error.error is None or not error.error[0]:
            detail = f": {error.error[1]}" if error.error else ""
            words = shorten(self._endpoint.key.redact(f"{error}{detail}"))
            return RequestFault(
                Treatment.BAD_ANSWER, f"what it sent is no answer: {words}", cause="no answer", usage=usage
            )
        status, body = error.error
        code, parameter, message = read_error(body.encode())
        refusal = Refusal(status, self._endpoint.key.redact(message), code, parameter)
        return diagnose(refusal, request.optional, self._endpoint.key_remedy, usage if error.text else FREE)

    def _explain_loss(self, error: Exception, response: _Response, usage: Usage) -> RequestFault:
        """Returns the fault of an answer that did not come, or not whole."""
        causes = _causes_of(error)
        if any(isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError) for cause in causes):
            return self._explain_no_connection(causes)
        if response.is_cut:
            return RequestFault(Treatment.BAD_ANSWER, f"its answer was cut off: {error}", cause="too long", usage=usage)
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


async def _receive(response: _Response, answer: httpx2.Response) -> None:
    _note_head(response, answer)
    try:
        async for chunk in answer.aiter_raw():
            response.body += chunk
    finally:
        await answer.aclose()


def _read(response: _Response, request: EndpointRequest[T]) -> T:
    if response.encoding:
        raise BadAnswer(
            f"its body is compressed ({response.encoding}), which nobody asked for. "
            "Try: switch compression off in the server, or in the proxy before it"
        )
    return request.read(bytes(response.body))


def _note_head(response: _Response, answer: httpx2.Response) -> None:
    response.status, response.headers = answer.status_code, answer.headers
    response.encoding = answer.extensions[_ENCODING]


class _BoundedStream(httpx2.AsyncByteStream):
    """Body of an answer that ends with `_TooLong` at its limit."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST:
                raise _TooLong(f"the answer is longer than {LARGEST} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(answer: httpx2.Response) -> None:
    """Bounds the body before anybody reads it, and takes away the header that would have the SDK unpack the body of an error."""
    encoding = answer.headers.pop("content-encoding", "").strip().lower()
    answer.extensions[_ENCODING] = "" if encoding == "identity" else encoding
    answer.stream = _BoundedStream(answer.stream)


def _open_client() -> httpx2.AsyncClient:
    """Returns a client with the proxies and certificates of the environment; no proxy stands between this machine and itself."""
    try:
        return openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=IDLE_SECONDS),
            mounts=dict.fromkeys(_LOOPBACK),
            event_hooks={"response": [_bound]},
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
