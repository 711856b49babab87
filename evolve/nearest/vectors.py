"""The most similar of an island's last programs, by the vectors that an embedding model gave them.

Invariant: a look-up is one matrix product over `RECENT` vectors at most, however many there were; vectors of different lengths never meet."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

RECENT = 1000
"""How many vectors of an island are kept."""


def packed(vector: Sequence[float]) -> bytes:
    """A vector of length 1 as 16-bit numbers, as the log keeps it; empty for one that has no direction: no or infinite components, or all 0."""
    row = np.asarray(vector, np.float64)
    length = float(np.linalg.norm(row)) if row.ndim == 1 else 0.0
    if not 0 < length < float("inf"):
        return b""
    return (row / length).astype("<f2").tobytes()


@dataclass(slots=True)
class _Recent:
    """A ring of vectors, and whose they are."""

    rows: NDArray[np.float32]
    keys: list[str] = field(default_factory=list)
    next: int = 0


@dataclass(frozen=True, slots=True)
class Similar:
    """A program that is similar, and the cosine of both vectors."""

    key: str
    cosine: float


class VectorIndex:
    """Finds the most similar of an island's last vectors, from the cosine `wanted` on. Any thread may call it."""

    def __init__(self, wanted: float, recent: int = RECENT) -> None:
        self.wanted = wanted
        self._recent = recent
        self._lock = threading.Lock()
        self._rings: dict[tuple[int, int], _Recent] = {}

    def add(self, key: str, island: int, vector: bytes) -> None:
        """Adds a packed vector, in the place of the oldest one where there are enough."""
        row = _row(vector)
        with self._lock:
            ring = self._rings.setdefault((island, len(row)), _Recent(np.empty((8, len(row)), np.float32)))
            if ring.next == len(ring.rows) < self._recent:
                more = np.empty((min(2 * len(ring.rows), self._recent), len(row)), np.float32)
                more[: ring.next] = ring.rows
                ring.rows = more
            place = ring.next % self._recent
            ring.rows[place] = row
            ring.keys[place : place + 1] = [key]
            ring.next += 1
            if ring.next == 2 * self._recent:
                ring.next = self._recent

    def most_similar(self, vector: bytes, island: int, besides: Collection[str] = ()) -> Similar | None:
        """The most similar program of an island but for `besides`, if it is similar enough."""
        row = _row(vector)
        with self._lock:
            ring = self._rings.get((island, len(row)))
            if ring is None:
                return None
            cosines = ring.rows[: len(ring.keys)] @ row
            keys = list(ring.keys)
        for place in np.argsort(-cosines, kind="stable")[: len(besides) + 1]:
            if keys[place] not in besides:
                found = float(min(1.0, cosines[place]))
                return Similar(keys[place], found) if found >= self.wanted else None
        return None


def _row(vector: bytes) -> NDArray[np.float32]:
    """A packed vector with length 1 again, which rounding may have changed."""
    row = np.frombuffer(vector, "<f2").astype(np.float32)
    return row / np.float32(np.linalg.norm(row))
