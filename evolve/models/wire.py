"""One request through the SDK: its address, headers and connections are the SDK's business, its body and the answer's are ours.

The SDK builds the first request to a path, and what it built is the pattern of all that follow: they go the same way with a body of their own,
for a third of the time of a call went into building the same address and headers again.
Invariant: every failure leaves here as a `Fault` whose words hold no key; whatever happens, no connection stays half read."""

import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlsplit

import httpx2
import openai

from evolve.models.answer import Nonsense, message_of
from evolve.models.clock import Clock
from evolve.models.faults import FREE, Fault, Refusal, Treatment, asked_to_wait, brief, diagnosed
from evolve.models.settings import Endpoint, is_within
from evolve.models.stream import Body
from evolve.models.transport import ENCODING, Transport, Watch, watching
from evolve.types import Usage, estimated

T = TypeVar("T")

_NO_KEY = "none"
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_OF_BODY = (b"content-length", b"transfer-encoding", b"cookie")
_ORGANISATION = ("OpenAI-Organization", "OpenAI-Project")


@dataclass(frozen=True, slots=True)
class Request(Generic[T]):
    """What is asked at a path; without a body it is only looked at. `optional` can be left out of it. `prompt_tokens` is what may have to
    be paid for it where nobody counts, and `longest` how many tokens its answers may have together, 0 where nothing bounds them."""

    path: str
    read: Callable[[], Body[T]]
    body: Mapping[str, Any] | None = None
    optional: tuple[str, ...] = ()
    prompt_tokens: int = 0
    longest: int = 0

    def charged(self, text: str) -> Usage:
        """What it may have cost when so much of its answers had come."""
        if self.body is None:
            return FREE
        written = estimated(text)
        return Usage(self.prompt_tokens, min(written, self.longest or written))


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What the requests to a path have in common."""

    method: str
    url: httpx2.URL
    headers: Sequence[tuple[bytes, bytes]] = field(repr=False)
    extensions: Mapping[str, Any]

    def filled(self, content: bytes) -> httpx2.Request:
        """A request with this body."""
        headers = [*self.headers, (b"Content-Length", b"%d" % len(content))]
        stream = httpx2.ByteStream(content)
        return httpx2.Request(self.method, self.url, headers=headers, stream=stream, extensions=dict(self.extensions))


class Wire:
    """The connections to one endpoint. Any thread."""

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        address = urlsplit(endpoint.url)
        host = address.hostname or ""
        # The SDK takes them from the environment; they are nobody else's business.
        withheld = {} if is_within(host, "openai.com") else dict.fromkeys(_ORGANISATION, openai.omit)
        self._patterns: dict[str, _Pattern] = {}
        self._transport = Transport(address.scheme, host)
        self._connections = httpx2.Client(transport=self._transport, trust_env=False, timeout=None)
        self._client = openai.OpenAI(
            api_key=endpoint.key.reveal() or _NO_KEY,
            base_url=endpoint.url,
            max_retries=0,
            timeout=None,
            default_headers=cast(Any, {**withheld, **endpoint.headers}),
            http_client=self._connections,
        )

    def ask(self, request: Request[T], watch: Watch) -> T:
        """What the endpoint says to a request. Raises `Fault`."""
        body = request.read()
        with watching(watch):
            try:
                self._exchange(request, body, watch)
                return body.answer()
            except (openai.APIStatusError, httpx2.HTTPStatusError) as error:
                raise self._refused(error.response, request) from None
            except (openai.APIConnectionError, httpx2.HTTPError) as error:
                raise self._lost(error, request.charged(body.partial), watch) from None
            except Nonsense as error:
                raise self._senseless(error, request) from None

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def _exchange(self, request: Request[T], body: Body[T], watch: Watch) -> None:
        """Feeds the body with the answer's bytes."""
        response = self._sent(request)
        try:
            if not response.is_success:
                response.read()
                response.raise_for_status()
            if _is_compressed(response):
                raise Nonsense(
                    f"its body is compressed ({response.extensions[ENCODING]}), which nobody asked for. "
                    "Do: switch compression off in the server, or in the proxy before it"
                )
            for chunk in response.iter_bytes():
                if not body.feed(chunk):
                    return
                if body.is_done:
                    watch.linger()
        except httpx2.HTTPError:
            if not body.is_done:
                raise
        finally:
            response.close()

    def _sent(self, request: Request[T]) -> httpx2.Response:
        """The answer's head; its body is still to come."""
        options: Any = {"headers": _HEADERS}
        kind: Any = openai.Stream[Any]
        if request.body is None:
            got = self._client.get(request.path, cast_to=httpx2.Response, options=options, stream=True, stream_cls=kind)
            return cast(httpx2.Response, got)
        text = json.dumps(request.body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        pattern = self._patterns.get(request.path)
        # A cookie, which few servers set, changes the headers from one request to the next.
        if pattern is not None and not self._connections.cookies:
            return self._again(pattern.filled(text))
        got = self._client.post(
            request.path, cast_to=httpx2.Response, content=text, options=options, stream=True, stream_cls=kind
        )
        response = cast(httpx2.Response, got)
        self._patterns[request.path] = _pattern(response.request)
        return response

    def _again(self, request: httpx2.Request) -> httpx2.Response:
        """The answer's head, to a request that neither logs in nor is sent elsewhere: the client above would look into that each time."""
        response = self._transport.handle_request(request)
        response.request = request
        if "set-cookie" in response.headers:
            self._connections.cookies.extract_cookies(response)
        return response

    def _refused(self, response: httpx2.Response, request: Request[T]) -> Fault:
        code, parameter, message = message_of(b"" if _is_compressed(response) else response.content)
        wait = asked_to_wait(response.headers, self._clock.wall())
        said = Refusal(response.status_code, self._endpoint.key.redacted(message), code, parameter, wait)
        return diagnosed(said, request.optional, self._endpoint.asks_for_key)

    def _senseless(self, error: Nonsense, request: Request[T]) -> Fault:
        """What is wrong with an answer of status 200, which may have been paid; some are errors in disguise."""
        usage = error.usage or request.charged(error.text)
        if error.error is None or not error.error[0]:
            detail = f": {error.error[1]}" if error.error else ""
            words = brief(self._endpoint.key.redacted(f"{error}{detail}"))
            return Fault(Treatment.NONSENSE, f"what it sent is no answer: {words}", usage=usage)
        status, body = error.error
        code, parameter, message = message_of(body.encode())
        said = Refusal(status, self._endpoint.key.redacted(message), code, parameter)
        return diagnosed(said, request.optional, self._endpoint.asks_for_key, usage if error.text else FREE)

    def _lost(self, error: Exception, charged: Usage, watch: Watch) -> Fault:
        """Why there is no answer, or not all of one."""
        if watch.cancelled.is_set():
            return Fault(Treatment.CANCELLED, "the call was cancelled", usage=charged if watch.sent else FREE)
        if not watch.sent or any(isinstance(cause, httpx2.ProxyError) for cause in _causes(error)):
            return self._unreached(error)
        if watch.remaining <= 0:
            if watch.heard:
                return Fault(Treatment.LATE, "the call's time was up in the middle of its answer", usage=charged)
            return Fault(
                Treatment.SILENT,
                "nothing came before the call's time was up. Do: see to it, or raise the model's `timeout_seconds`",
                usage=charged,
            )
        if watch.overflowed:
            return Fault(Treatment.NONSENSE, f"its answer was cut off: {_reason(error)}", usage=charged)
        if watch.heard:
            return Fault(Treatment.NONSENSE, "the connection broke in the middle of its answer", usage=charged)
        if watch.reused:
            return Fault(Treatment.STALE, "it closes connections again and again. Do: see what its log says")
        return Fault(Treatment.DOWN, "it closed the connection and said nothing. Do: see what its log says")

    def _unreached(self, error: Exception) -> Fault:
        where = urlsplit(self._endpoint.url).netloc
        if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)):
            return Fault(
                Treatment.GONE,
                f"the certificate of {where} is not trusted: {_reason(error)}. Do: set $SSL_CERT_FILE to the file of who signed it",
            )
        remedy = "Do: start it, or correct the address (`base_url`, or what stands behind the @)"
        return Fault(Treatment.DOWN, f"{where} cannot be reached: {_reason(error)}. {remedy}")


def _pattern(request: httpx2.Request) -> _Pattern:
    """`request` without its body and what is said of that."""
    headers = [(name, value) for name, value in request.headers.raw if name.lower() not in _OF_BODY]
    return _Pattern(request.method, request.url, headers, request.extensions)


def _is_compressed(response: httpx2.Response) -> bool:
    return bool(response.extensions[ENCODING] != "identity")


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and len(found) < 20:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _reason(error: Exception) -> str:
    """The words of the transport, which knows best, or of whoever else has some."""
    causes = sorted(_causes(error), key=lambda cause: not isinstance(cause, httpx2.HTTPError))
    return next((words for cause in causes if (words := brief(str(cause)))), type(error).__name__)
