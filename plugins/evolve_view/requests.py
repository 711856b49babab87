"""Requests and their answers: pages, addresses, numbers that somebody typed, files to save.

Whatever somebody types, a word that is none raises `ConfigError`, and is no fault of the server."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from evolve.types import ConfigError, RecordId
from evolve_view.rendering import render

_DIGITS = 9
_FILE_NAME = 100
"""Characters of a file's name."""


def render_page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Renders a template with these values. There always are `path`, `address` (with the query) and `query` (its first values); on a campaign's page its `name`, the `root` of its addresses, whether it is `running`, and whether it is `paused`."""
    around: dict[str, Any] = {
        "path": request.url.path,
        "address": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        "query": dict(request.query_params),
    }
    name = request.path_params.get("name")
    if name is not None:
        campaigns = request.app.state.campaigns
        around |= {
            "name": name,
            "root": root(name),
            "running": campaigns.is_running(name),
            "paused": campaigns.is_paused(name),
        }
    # A program may hold half of a surrogate pair, which UTF-8 cannot.
    return HTMLResponse(render(template, **(around | values)).encode("utf-8", "replace"), status)


def root(name: str) -> str:
    """Returns where the addresses of a campaign begin."""
    return f"/c/{quote(name, safe='')}"


def with_query(path: str, values: Mapping[str, object]) -> str:
    """Returns an address with the values that are neither empty nor None."""
    kept = {key: value for key, value in values.items() if value not in ("", None)}
    return f"{path}?{urlencode(kept)}" if kept else path


def parse_number(text: str, what: str) -> int:
    """Parses a number that was typed; raises `ConfigError`."""
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise ConfigError(f"{what} is a number, got {text[:40]!r}. Try: go back, and follow a link")
    return int(text)


def query_number(request: Request, key: str) -> int | None:
    """Returns a number of the query, None where there is none; raises `ConfigError`."""
    text = request.query_params.get(key, "")
    return parse_number(text, key) if text else None


def query_choice(request: Request, key: str, known: Sequence[str]) -> str:
    """Returns a word of the query, the first of the known ones where there is none; raises `ConfigError`."""
    word = request.query_params.get(key) or known[0]
    if word not in known:
        raise ConfigError(f"{key} is one of {', '.join(known)}, got {word[:40]!r}. Try: name one of them")
    return word


def path_record(request: Request) -> RecordId:
    """Returns the record that the path names; raises `ConfigError`."""
    return parse_number(request.path_params["record"], "a record")


def attachment(name: str) -> dict[str, str]:
    """Returns the header that makes a browser save an answer, under a name that means nothing to a shell, a header or a folder."""
    safe = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in name)
    stem, dot, ending = safe.rpartition(".")
    cut = f"{stem[: _FILE_NAME - len(ending) - 1]}{dot}{ending}" if len(ending) < _FILE_NAME else safe[:_FILE_NAME]
    return {"content-disposition": f'attachment; filename="{cut.lstrip(".") or "file"}"'}
