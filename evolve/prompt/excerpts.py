"""Excerpts of stored texts that were read before: feedback and artifacts may have megabytes, and many prompts show the same.

Invariant: a text is kept under the hash of all of it, so that what is kept is right in every campaign of this process; how much is kept
is bounded."""

import re
from collections.abc import Callable

_HASH = re.compile(r"[0-9a-f]{64}")
_KEPT = 1024


class Excerpts:
    """Texts by id and length, the oldest forgotten first. Any thread."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], str] = {}

    def found(self, name: str, most: int, read: Callable[[], str]) -> str:
        """What `read` gives, of a text that its hash names only once."""
        if not _HASH.fullmatch(name):
            return read()
        text = self._found.get((name, most))
        if text is None:
            text = self._found[name, most] = read()
            while len(self._found) > _KEPT:
                self._found.pop(next(iter(self._found)), None)
        return text


EXCERPTS = Excerpts()
