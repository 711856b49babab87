"""Settings as a person writes them on a command line: `a.b=c`.

Invariant: a value is what TOML reads, and a text where it reads nothing; nothing here knows which settings there are."""

import tomllib
from typing import Any

from evolve.types import ConfigError


def parse_assignment(text: str) -> tuple[list[str], Any]:
    """`a.b=c` as its path and its value, which is read as TOML where it is TOML and as a string otherwise."""
    key, sign, value = text.partition("=")
    path = [part.strip() for part in key.split(".")]
    if not sign or not all(path):
        raise ConfigError(f"a setting is written key=value, got {text!r}. Try: for example --set archive.islands=2")
    try:
        read = tomllib.loads(f"value = {value}")
    except (tomllib.TOMLDecodeError, RecursionError):  # the latter: too many brackets within each other
        return path, value.strip()
    return path, read["value"] if len(read) == 1 else value.strip()


def put_value(tree: dict[str, Any], path: list[str], value: Any, text: str) -> None:
    """Puts a value into nested values; `text` is what a person wrote. Raises `ConfigError`."""
    for part in path[:-1]:
        inner = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{part!r} in {text!r} is a value, not a table. Try: set {part}=...")
        tree = inner
    tree[path[-1]] = value
