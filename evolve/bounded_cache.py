"""Cache of what was made of settled records: the prompts of a campaign tell of the same ones again and again.

Invariant: a value is the same whether it was kept or not, for its key says all that it follows from; how many are kept is bounded."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

Value = TypeVar("Value")
_KEPT = 2048


class BoundedCache:
    """Values that follow from records of one campaign, as one version of its task has evaluated them, and from what stands in the key:
    settled records never change. How many had settled is no such thing. The oldest is forgotten first. Any thread."""

    def __init__(self, most: int = _KEPT) -> None:
        self._most = most
        self._values: dict[Hashable, Any] = {}
        self._forgetting = Lock()

    def get_or_create(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Returns the value under a key, else the one that `make` gives now."""
        try:
            value: Value = self._values[key]
        except KeyError:
            value = make()
            with self._forgetting:
                self._values[key] = value
                while len(self._values) > self._most:
                    del self._values[next(iter(self._values))]
        return value
