"""Settings of the kind `openai`, and the endpoint and the key that they name.

No key stands in settings: what looks as if it held one is refused in words that do not repeat it. A key's text leaves `ApiKey` in the header
of a request alone; `repr`, errors and logs show that there is one, and no more."""

import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from evolve.types import ConfigError

OPENAI = "https://api.openai.com/v1"
BASE_VARIABLE = "OPENAI_BASE_URL"
KEY_VARIABLE = "OPENAI_API_KEY"
_SECRETS = ("auth", "api-key", "apikey", "cookie", "token", "secret", "password")
_OURS = (
    "model",
    "messages",
    "stream",
    "n",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
)
_PRIVATE_NAMES = (".local", ".localhost", ".internal", ".lan", ".home.arpa")


_KEY_QUOTATION = 6
"""Characters of a key in a row by which a quotation of it is recognised: servers quote a key that they refuse, often in part."""
_KEY_WORD = re.compile(r"[^\s\"'<>(){}\[\],;]{6,}")
_LOOKS_LIKE = re.compile(r"(?i)\b(sk|pk|gsk|hf|xai|key)[-_][\w.*-]{8,}|\bbearer\s+\S+")
HIDDEN = "[key]"


class ApiKey:
    """Secret that authorises calls; empty where the endpoint wants none."""

    def __init__(self, text: str = "") -> None:
        self._text = text

    def __repr__(self) -> str:
        return f"ApiKey({HIDDEN if self._text else 'none'})"

    def __bool__(self) -> bool:
        return bool(self._text)

    def reveal(self) -> str:
        """Returns the text, for the header of a request alone."""
        return self._text

    def redact(self, text: str) -> str:
        """Returns a server's text without the key, and without what looks like one."""
        shown = text.replace(self._text, HIDDEN) if self._text else text
        return _KEY_WORD.sub(self._hide_quotation, _LOOKS_LIKE.sub(HIDDEN, shown))

    def _hide_quotation(self, match: re.Match[str]) -> str:
        # Servers mask the middle of a key that they refuse, and leave both ends readable.
        parts = {self._text[at : at + _KEY_QUOTATION] for at in range(len(self._text) - _KEY_QUOTATION + 1)}
        return HIDDEN if any(part in match[0] for part in parts) else match[0]


class OpenAISettings(BaseModel):
    """Settings of the kind `openai`; `docs/models.md` explains them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    base_url: str = ""
    key_env: str = ""
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    effort: str = ""
    extra: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address and headers of requests. `key_remedy` says how to give the endpoint a key, for an error."""

    url: str
    key: ApiKey
    headers: Mapping[str, str]
    key_remedy: str

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""


def open_endpoint(settings: OpenAISettings, environment: Mapping[str, str]) -> Endpoint:
    """Returns the endpoint that settings and environment name; raises `ConfigError` where a key is missing, or stands where none may stand."""
    given = settings.base_url or environment.get(BASE_VARIABLE, "") or OPENAI
    url = _parse_address(given.strip())
    _check_no_secrets(settings)
    _check_is_json(settings.extra)
    variable, unasked = settings.key_env or KEY_VARIABLE, not settings.key_env
    private = is_private(url.hostname or "")
    # The key of one's account goes, unasked, neither to a server of one's own nor unencrypted to anybody: but for the address beside it in the environment.
    withheld = unasked and bool(settings.base_url) and (private or url.scheme == "http")
    key = ApiKey() if withheld else read_key(environment, variable)
    if not key and not (unasked and private):
        raise ConfigError(_explain_missing_key(url, variable, withheld))
    return Endpoint(url.geturl().rstrip("/"), key, settings.headers, _remedy_for_key(variable, bool(key)))


def _remedy_for_key(variable: str, is_known: bool) -> str:
    if not is_known:
        return "name the environment variable that holds its key with `key_env`"
    return f"set ${variable} to a key that it takes"


def _explain_missing_key(url: SplitResult, variable: str, withheld: bool) -> str:
    if withheld:
        return (
            f"{url.scheme}://{url.netloc} is not on this machine or network, and over http a key is sent only where one is named. "
            "Try: write https, or name the key with `key_env`"
        )
    return (
        f"no key for {url.netloc}: the environment variable {variable} is not set. Try: export {variable}=..., "
        "name another variable with `key_env`, or use a server of your own: MODEL@http://127.0.0.1:8000/v1"
    )


def _parse_address(text: str) -> SplitResult:
    """Parses an address; its errors repeat its host alone, for a key may stand in the rest."""
    remedy = "Try: write it like http://127.0.0.1:8000/v1"
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise ConfigError(f"`base_url` is no address. {remedy}") from None
    if url.scheme not in ("http", "https") or not url.hostname or port == 0:
        raise ConfigError(f"`base_url` is no address of a web server. {remedy}")
    if url.username is not None or url.password is not None:
        raise ConfigError(
            f"`base_url` holds credentials for {url.hostname}. Try: leave them out, and name the key with `key_env`"
        )
    if url.query or url.fragment:
        raise ConfigError(
            f"`base_url` for {url.hostname} has a part after ? or #, where keys would be logged. Try: leave it out; keys are named with `key_env`"
        )
    return url


def _check_no_secrets(settings: OpenAISettings) -> None:
    for name, value in settings.headers.items():
        lowered = name.lower().replace("_", "-")
        if any(word in lowered for word in _SECRETS) or value.lower().startswith(("bearer ", "basic ")):
            raise ConfigError(
                f"the header {name!r} may carry a key, and settings are logged. Try: leave it out, and name the key with `key_env`"
            )
        if not (name.isascii() and name.isprintable() and value.isascii() and value.isprintable()):
            raise ConfigError(f"the header {name!r} has letters that no header has. Try: use ASCII on one line")
    for name in settings.extra:
        lowered = name.lower().replace("_", "-")
        if lowered in ("api-key", "apikey", "authorization", "access-token", "password", "secret"):
            raise ConfigError(f"`extra.{name}` is a key, and settings are logged. Try: name it with `key_env`")
        if name in _OURS:
            raise ConfigError(
                f"`extra.{name}` is what the engine sets itself. Try: use the model's settings, or the operator's"
            )


def _check_is_json(extra: Mapping[str, Any]) -> None:
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError):
        raise ConfigError(
            "`extra` holds a value that JSON has not. Try: use numbers, texts, lists and tables"
        ) from None


def read_key(environment: Mapping[str, str], variable: str) -> ApiKey:
    """Reads the key from an environment variable; an empty one where it is not set. Raises `ConfigError` for what no header can carry."""
    text = environment.get(variable, "").strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ConfigError(
            f"what the environment variable {variable} holds is no key: it has blanks, or letters that no key has. Try: leave the key alone in it"
        )
    return ApiKey(text)


def is_within(host: str, domain: str) -> bool:
    """Returns whether a host is a domain, or below it."""
    return host == domain or host.endswith(f".{domain}")


def is_private(host: str) -> bool:
    """Returns whether a host is on this machine or in a private network: a private address, or a name without a dot."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.lower().endswith(_PRIVATE_NAMES)
    return address.is_private or address.is_loopback or address.is_link_local
