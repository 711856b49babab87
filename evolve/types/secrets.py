"""Keys in settings, where none may stand: settings are shown, logged and handed on. Only the place of a key is told, never any of it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_NAMES = re.compile(
    r"(?:.*[-_])?(?:api[-_]?key|api[-_]token|access[-_](?:token|key)|auth[-_]token|secret(?:[-_]key)?|password|authorization|bearer)",
    re.IGNORECASE,
)
_VALUES = re.compile(
    r"(?<![\w/-])(?:sk|gsk|xai)-(?=\S*\d)[\w-]{16,}|(?<![\w/-])hf_[A-Za-z0-9]{20,}|(?i:\bbearer\s+[^\s$\"'{]{8,})"
    r"|[a-z]://[^/\s@$]*:[^/\s@$]+@"
)


def place_of_key(values: Mapping[str, Any]) -> str:
    """Returns the dotted name of the first key in nested settings; empty where there is none."""
    return next((name for name, key, value in _leaves(values, "") if _is_key(key, value)), "")


def _leaves(value: Any, name: str, key: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yields each value that holds no others: its dotted name, the last word of it, and the value."""
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _leaves(item, f"{name}.{inner}" if name else str(inner), str(inner))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, name, key)
    else:
        yield name, key, value


def _is_key(name: str, value: Any) -> bool:
    # An empty setting of such a name is a default, and holds nothing.
    if not isinstance(value, str) or not value:
        return False
    return _NAMES.fullmatch(name) is not None or _VALUES.search(value) is not None
