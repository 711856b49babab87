"""What a form of a page says.

Invariant: a form is small, and each of its fields is text; nothing of it is kept here."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from evolve.types import ConfigError

MOST = 64_000
"""Bytes of a form."""
_FIELDS = 16


async def fields(request: Request) -> dict[str, str]:
    """The fields by their names, of equal names the last; raises `ConfigError` for a form that is too large."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST:
            raise ConfigError(f"a form has at most {MOST:,} bytes. Do: go back, and write less")
    try:
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError as error:
        raise ConfigError(f"a form has at most {_FIELDS} fields. Do: go back, and use the page's own") from error
    return dict(pairs)
