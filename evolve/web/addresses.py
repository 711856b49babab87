"""Addresses of pages, and what stands in the address of a request.

Invariant: whatever somebody types, a word that is none is said, and is no fault of the server."""

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.requests import Request

from evolve.campaign import Campaign
from evolve.types import ConfigError, Record, RecordId
from evolve.web.rendering import root

_DIGITS = 9


def program(name: str, record: RecordId | str, rest: str = "") -> str:
    """The page of a record, or what lies under it."""
    return f"{root(name)}/programs/{record}{rest}"


def with_query(path: str, values: Mapping[str, object]) -> str:
    """An address with those of the values that say something."""
    kept = {key: value for key, value in values.items() if value not in ("", None)}
    return f"{path}?{urlencode(kept)}" if kept else path


def number(text: str, what: str) -> int:
    """A number that was typed; raises `ConfigError`."""
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise ConfigError(f"{what} is a number, got {text[:40]!r}. Do: go back, and follow a link")
    return int(text)


def record_of(request: Request) -> RecordId:
    """The record that the path names; raises `ConfigError`."""
    return number(request.path_params["record"], "a record")


def known(campaign: Campaign, record: RecordId) -> Record:
    """A record of a campaign; raises `ConfigError` where there is no such one."""
    length = len(campaign.state.history)
    if not 1 <= record <= length:
        span = f"it has 1 to {length}" if length else "it has none yet"
        raise ConfigError(f"campaign {campaign.name!r} has no record {record}: {span}. Do: go to the programs")
    return campaign.log.settled(record).record


def asked(request: Request, key: str, default: int) -> int:
    """A number of the query, `default` where it is not said; raises `ConfigError`."""
    text = request.query_params.get(key, "")
    return number(text, key) if text else default
