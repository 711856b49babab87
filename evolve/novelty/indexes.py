"""Indexes that find the programs near another one: by sketches of their MinHashes, and by the vectors of an embedding model.

A look-up compares a program with every other one of its island. Among 100,000 that takes 20 milliseconds, once per answer of a model, which
took seconds."""

import threading
from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MINIMA = 128
"""Bytes of a sketch."""
RECENT = 1000
"""Vectors of an island that are kept."""


def sketch(minima: NDArray[np.uint32]) -> bytes:
    """Returns the low byte of each minimum of a MinHash (b-bit minwise hashing: Li and König 2010, https://arxiv.org/abs/0910.3349)."""
    return minima.astype(np.uint8).tobytes()


@dataclass(frozen=True, slots=True)
class Near:
    """A program that is near, and its distance."""

    key: str
    distance: float


class SketchIndex:
    """Finds the nearest sketch of an island below the distance `wanted`. Any thread may call it."""

    def __init__(self, wanted: float) -> None:
        self.wanted = wanted
        self._lock = threading.Lock()
        self._islands: dict[int, dict[bytes, str]] = defaultdict(dict)

    def add(self, key: str, island: int, sketch: bytes) -> None:
        """Adds a program, unless there is one with this sketch on the island: programs that differ in numbers alone have one place."""
        with self._lock:
            self._islands[island].setdefault(sketch, key)

    def nearest(self, sketch: bytes, island: int, besides: Sequence[bytes] = ()) -> Near | None:
        """Returns the nearest program of an island below the distance, of several the oldest; passes over the sketches `besides`."""
        with self._lock:
            known = self._islands[island]
            joined, keys = b"".join(known), list(known.values())
        if not keys:
            return None
        rows = np.frombuffer(joined, np.uint8).reshape(-1, MINIMA)
        differing = (rows != np.frombuffer(sketch, np.uint8)).sum(axis=1, dtype=np.uint8)
        for passed_over in besides:
            differing[(rows == np.frombuffer(passed_over, np.uint8)).all(axis=1)] = MINIMA
        best = int(differing.argmin())
        # Of two different minima one pair in 256 has the same low byte.
        found = min(1.0, int(differing[best]) / MINIMA * 256 / 255)
        return Near(keys[best], found) if found < self.wanted else None


def pack_vector(vector: Sequence[float]) -> bytes:
    """Returns a vector of length 1 as 16-bit numbers, as the log keeps it; empty for one that has no direction: no or infinite components, or all 0."""
    row = np.asarray(vector, np.float64)
    length = float(np.linalg.norm(row)) if row.ndim == 1 else 0.0
    if not 0 < length < float("inf"):
        return b""
    return (row / length).astype("<f2").tobytes()


@dataclass(frozen=True, slots=True)
class Similar:
    """A program that is similar, and the cosine of both vectors."""

    key: str
    cosine: float


class VectorIndex:
    """Finds the most similar of an island's last vectors, from the cosine `wanted` on. Any thread may call it."""

    def __init__(self, wanted: float, recent: int = RECENT) -> None:
        self.wanted = wanted
        self._lock = threading.Lock()
        # By length too: after a change of the server's model vectors of both lengths are in the log.
        self._recent: dict[tuple[int, int], deque[tuple[str, NDArray[np.float32]]]] = defaultdict(
            lambda: deque(maxlen=recent)
        )

    def add(self, key: str, island: int, vector: bytes) -> None:
        """Adds a packed vector, in the place of the oldest one where there are enough."""
        row = _row(vector)
        with self._lock:
            self._recent[island, len(row)].append((key, row))

    def most_similar(self, vector: bytes, island: int, besides: Collection[str] = ()) -> Similar | None:
        """Returns the most similar program of an island but for `besides`, if it is similar enough."""
        row = _row(vector)
        with self._lock:
            others = [(key, other) for key, other in self._recent[island, len(row)] if key not in besides]
        if not others:
            return None
        cosines = np.stack([other for _, other in others]) @ row
        best = int(cosines.argmax())
        found = float(min(1.0, cosines[best]))
        return Similar(others[best][0], found) if found >= self.wanted else None


def _row(vector: bytes) -> NDArray[np.float32]:
    """Returns a packed vector with length 1 again, which rounding may have changed."""
    row = np.frombuffer(vector, "<f2").astype(np.float32)
    return row / np.float32(np.linalg.norm(row))
