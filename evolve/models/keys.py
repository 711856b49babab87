"""Where a key comes from, and how it is kept out of everything else.

Invariant: a key's text leaves `Key` in the header of a request alone; `repr`, errors and logs show that there is one, and no more."""

import re
from collections.abc import Mapping
from pathlib import Path

from evolve.types import ConfigError

_SHARED = 6
"""Servers quote a key that they refuse, often in part: so many characters of it in a row betray the quotation."""
_WORD = re.compile(r"[^\s\"'<>(){}\[\],;]{6,}")
_LOOKS_LIKE = re.compile(r"(?i)\b(sk|pk|gsk|hf|xai|key)[-_][\w.*-]{8,}|\bbearer\s+\S+")
HIDDEN = "[key]"


class Key:
    """A secret that authorises calls; empty where the endpoint wants none."""

    def __init__(self, text: str = "") -> None:
        self._text = text

    def __repr__(self) -> str:
        return f"Key({HIDDEN if self._text else 'none'})"

    def __bool__(self) -> bool:
        return bool(self._text)

    def reveal(self) -> str:
        """The text; for the header alone."""
        return self._text

    def redacted(self, text: str) -> str:
        """A text of a server without the key, or what looks like one."""
        shown = text.replace(self._text, HIDDEN) if self._text else text
        return _WORD.sub(self._word, _LOOKS_LIKE.sub(HIDDEN, shown))

    def _word(self, match: re.Match[str]) -> str:
        parts = {self._text[at : at + _SHARED] for at in range(len(self._text) - _SHARED + 1)}
        return HIDDEN if any(part in match[0] for part in parts) else match[0]


def key_from(environment: Mapping[str, str], variable: str, file: str) -> Key:
    """The key in a file, where one is named, else in an environment variable; an empty one where the variable is not set. Raises
    `ConfigError` for a file that cannot be read, and for what no header can carry."""
    where = f"the key file {file}" if file else f"the environment variable {variable}"
    text = _read(file) if file else environment.get(variable, "")
    text = text.strip()
    if file and not text:
        raise ConfigError(f"{where} is empty. Do: write the key into it, on one line")
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ConfigError(
            f"what {where} holds is no key: it has blanks, or letters that no key has. Do: leave the key alone in it"
        )
    return Key(text)


def _read(file: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigError(
            f"the key file {file} cannot be read: {reason}. Do: correct `key_file`, or the file's mode"
        ) from None
