"""Access to the pages: by the token, by an address of this machine; what writes comes from a page of this server.

Every answer, also a refusal, carries the headers that keep a program's words from acting in the browser."""

import hmac
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_READING, _WRITING = ("GET", "HEAD"), "POST"
_SAME = "same-origin"
_DEFAULT_PORT = 80
_NAMES = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class Access:
    """Conditions of access: the token, the addresses (`127.0.0.1:8421`) by which the server may be called."""

    token: str
    addresses: tuple[str, ...]

    @property
    def cookie(self) -> str:
        """Name of the cookie; servers on other ports of this machine have others."""
        return f"evolve-{self.addresses[0].rpartition(':')[2]}"


def addresses(port: int) -> tuple[str, ...]:
    """Returns all addresses by which a browser calls the server at a port of this machine; it leaves the default port of http out."""
    bare = _NAMES if port == _DEFAULT_PORT else ()
    return (*(f"{name}:{port}" for name in _NAMES), *bare)


class Guard:
    """ASGI middleware around everything."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request itself that must not pass."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"only http is served, got {scope['type']!r}")

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(scope)
        await (self.app if answer is None else answer)(scope, receive, send_protected)

    def _answer(self, scope: Scope) -> Response | None:
        """Returns the refusal or the redirection of a request; None for one that may pass."""
        headers = Headers(scope=scope)
        if headers.get("host", "") not in self.access.addresses:
            return PlainTextResponse("this server is called by the address that it printed, and no other\n", 421)
        if scope["method"] not in (*_READING, _WRITING):
            return PlainTextResponse("this server knows GET, HEAD and POST\n", 405)
        if scope["method"] == _WRITING:
            return self._refuse_stranger(headers) or self._refuse_foreign_page(headers)
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(key == "token" for key, _ in query):
            return self._let_in(scope, query)
        return self._refuse_stranger(headers)

    def _refuse_stranger(self, headers: Headers) -> Response | None:
        token = cookie_parser(headers.get("cookie", "")).get(self.access.cookie, "")
        if self._is_right(token):
            return None
        return PlainTextResponse("open the whole address that `evolve view` printed: its token is missing here\n", 403)

    def _refuse_foreign_page(self, headers: Headers) -> Response | None:
        """Refuses what a page of another server has sent: a cookie belongs to a host, and so comes with forms of other ports of this machine, too."""
        origin, site = headers.get("origin", ""), headers.get("sec-fetch-site", _SAME)
        is_own = origin in [f"http://{address}" for address in self.access.addresses]
        # A page that tells nobody where it is sends no origin with a form; that it is of this server the browser says, and no page can.
        is_hidden = origin == "null" and "sec-fetch-site" in headers
        if site == _SAME and (is_own or is_hidden):
            return None
        return PlainTextResponse("only a page of this server may write\n", 403)

    def _let_in(self, scope: Scope, query: list[tuple[str, str]]) -> Response:
        """Moves the token from the address into a cookie, so that it is in no history and in no copied link."""
        if not all(self._is_right(value) for key, value in query if key == "token"):
            return PlainTextResponse(
                "the token is another one. Try: open the address that `evolve view` printed\n", 403
            )
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        # One slash: a path that begins with two would name another host.
        path = "/" + scope["raw_path"].decode("latin-1").partition("?")[0].lstrip("/\\")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        answer.set_cookie(self.access.cookie, self.access.token, httponly=True, samesite="strict")
        return answer

    def _is_right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.access.token.encode())
