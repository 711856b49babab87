"""Excerpts of stored texts that were read before: feedback and artifacts may have megabytes, and many prompts show the same.

Invariant: a text is kept under the hash of all of it, so that what is kept is right in every campaign of this process; how much is kept
is bounded."""

import re
from collections.abc import Callable

from evolve.bounded_cache import BoundedCache
from evolve.prompts.control import broken
from evolve.prompts.quoting import excerpt
from evolve.protocols import History

_HASH = re.compile(r"[0-9a-f]{64}")
_KEPT = 1024


class Excerpts:
    """Texts by id and length, the oldest forgotten first. Any thread."""

    def __init__(self) -> None:
        self._found = BoundedCache(_KEPT)

    def found(self, name: str, most: int, read: Callable[[], str]) -> str:
        """What `read` gives, of a text that its hash names only once."""
        if not _HASH.fullmatch(name):
            return read()
        return self._found.get_or_create((name, most), read)


EXCERPTS = Excerpts()


def stored(history: History, name: str, most: int) -> str:
    """A stored text, fit to be read and cut to a length, its control tokens broken; empty where there is none."""
    return EXCERPTS.found(name, most, lambda: broken(excerpt(_whole(history, name), most))) if name else ""


def _whole(history: History, name: str) -> str:
    try:
        return history.text(name)
    except KeyError:  # a rehearsal need not store any
        return ""
