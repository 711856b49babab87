"""The settings of the kind `openai`, and the endpoint that they name.

Invariant: no key stands in them, and whatever looks as if it held one is refused in words that do not repeat it."""

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from evolve.models.keys import Key, key_from
from evolve.types import ConfigError

OPENAI = "https://api.openai.com/v1"
BASE_VARIABLE = "OPENAI_BASE_URL"
KEY_VARIABLE = "OPENAI_API_KEY"
_SECRETS = ("auth", "api-key", "apikey", "cookie", "token", "secret", "password")
_OURS = (
    "model",
    "messages",
    "stream",
    "stream_options",
    "n",
    "seed",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
)
_PRIVATE_NAMES = (".local", ".localhost", ".internal", ".lan", ".home.arpa")


class OpenAISettings(BaseModel):
    """Settings of the kind `openai`. What they mean is told in `docs/endpoints.md`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    base_url: str = ""
    key_env: str = ""
    key_file: str = ""
    streaming: bool = False
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    effort: str = ""
    seed: bool | int = False
    extra: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go, and what they carry. `asks_for_key` says how to give it one, for an error."""

    url: str
    key: Key
    headers: Mapping[str, str]
    asks_for_key: str

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""


def endpoint(settings: OpenAISettings, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint that settings and environment name; raises `ConfigError` where a key is missing, or stands where none may stand."""
    given = settings.base_url or environment.get(BASE_VARIABLE, "") or OPENAI
    url = _checked(given.strip())
    _refuse_secrets(settings)
    _refuse_what_is_no_json(settings.extra)
    variable, unasked = settings.key_env or KEY_VARIABLE, not (settings.key_env or settings.key_file)
    private = is_private(url.hostname or "")
    # The key of one's account goes, unasked, neither to a server of one's own nor unencrypted to anybody: but for the address beside it in the environment.
    withheld = unasked and bool(settings.base_url) and (private or url.scheme == "http")
    key = Key() if withheld else key_from(environment, variable, settings.key_file)
    if not key and not (unasked and private):
        raise ConfigError(_missing(url, variable, withheld))
    return Endpoint(url.geturl().rstrip("/"), key, settings.headers, _where(settings, variable, bool(key)))


def _where(settings: OpenAISettings, variable: str, is_known: bool) -> str:
    if not is_known:
        return "name the environment variable that holds its key with `key_env`, or a file with `key_file`"
    return f"correct the key in {settings.key_file}" if settings.key_file else f"set ${variable} to a key that it takes"


def _missing(url: SplitResult, variable: str, withheld: bool) -> str:
    if withheld:
        return (
            f"{url.scheme}://{url.netloc} is not on this machine or network, and over http a key is sent only where one is named. "
            "Do: write https, or name the key with `key_env` or `key_file`"
        )
    return (
        f"no key for {url.netloc}: the environment variable {variable} is not set. Do: export {variable}=..., "
        "name another variable with `key_env` or a file with `key_file`, or use a server of your own: MODEL@http://127.0.0.1:8000/v1"
    )


def _checked(text: str) -> SplitResult:
    """The parts of an address; its errors repeat its host alone, for a key may stand in the rest."""
    remedy = "Do: write it like http://127.0.0.1:8000/v1"
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise ConfigError(f"`base_url` is no address. {remedy}") from None
    if url.scheme not in ("http", "https") or not url.hostname or port == 0:
        raise ConfigError(f"`base_url` is no address of a web server. {remedy}")
    if url.username is not None or url.password is not None:
        raise ConfigError(
            f"`base_url` holds credentials for {url.hostname}. Do: leave them out, and name the key with `key_env` or `key_file`"
        )
    if url.query or url.fragment:
        raise ConfigError(
            f"`base_url` for {url.hostname} has a part after ? or #, where keys would be logged. Do: leave it out; keys are named with `key_env` or `key_file`"
        )
    return url


def _refuse_secrets(settings: OpenAISettings) -> None:
    for name, value in settings.headers.items():
        lowered = name.lower().replace("_", "-")
        if any(word in lowered for word in _SECRETS) or value.lower().startswith(("bearer ", "basic ")):
            raise ConfigError(
                f"the header {name!r} may carry a key, and settings are logged. Do: leave it out, and name the key with `key_env` or `key_file`"
            )
        if not (name.isascii() and name.isprintable() and value.isascii() and value.isprintable()):
            raise ConfigError(f"the header {name!r} has letters that no header has. Do: use ASCII on one line")
    for name in settings.extra:
        lowered = name.lower().replace("_", "-")
        if lowered in ("api-key", "apikey", "authorization", "access-token", "password", "secret"):
            raise ConfigError(
                f"`extra.{name}` is a key, and settings are logged. Do: name it with `key_env` or `key_file`"
            )
        if name in _OURS:
            raise ConfigError(
                f"`extra.{name}` is what the engine sets itself. Do: use the model's settings, or the operator's"
            )


def _refuse_what_is_no_json(extra: Mapping[str, Any]) -> None:
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError):
        raise ConfigError("`extra` holds a value that JSON has not. Do: use numbers, texts, lists and tables") from None


def is_within(host: str, domain: str) -> bool:
    """The host is the domain's, or one below it."""
    return host == domain or host.endswith(f".{domain}")


def is_private(host: str) -> bool:
    """A host of this machine or of a network without a name in the world: a private address, or a name without a dot."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.lower().endswith(_PRIVATE_NAMES)
    return address.is_private or address.is_loopback or address.is_link_local
