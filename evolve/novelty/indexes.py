"""Indexes that find the programs near another one: by sketches of their MinHashes, and by the vectors of an embedding model."""

import threading
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

MINIMA = 128
"""Bytes of a sketch."""
FARTHEST = 0.5
"""The largest distance that an index can be asked for."""
CROWD = 64
"""How many programs of one band a look-up compares, the newest first."""
_BANDS = (4, 8, 16, 32, 64)
_SLOTS = 1 << 12


def sketch(minima: NDArray[np.uint32]) -> bytes:
    """Returns the low byte of each minimum of a MinHash (b-bit minwise hashing: Li and König 2010, https://arxiv.org/abs/0910.3349)."""
    return minima.astype(np.uint8).tobytes()


def sketch_distance(a: bytes, b: bytes) -> float:
    """Returns the estimated Jaccard distance of two sketched sets, 0 to 1."""
    return _estimate_distance(int(np.count_nonzero(np.frombuffer(a, np.uint8) != np.frombuffer(b, np.uint8))))


def bands_for(wanted: float) -> int:
    """Returns the fewest bands of which two sketches share one whenever their distance is below `wanted`."""
    may_differ = max((count for count in range(MINIMA) if _estimate_distance(count) < wanted), default=0)
    return next(bands for bands in _BANDS if bands > may_differ)


def _estimate_distance(differing: int) -> float:
    """Estimates the distance from the bytes that differ: of two different minima one pair in 256 has the same low byte."""
    return min(1.0, differing / MINIMA * 256 / 255)


@dataclass(frozen=True, slots=True)
class Near:
    """A program that is near, and how far it is."""

    key: str
    distance: float


class SketchIndex:
    """Finds the nearest sketch of an island below the distance `wanted`. Any thread may call it.

    A sketch has one place per island: the first program that has it stands for all. The places are chained per band from `_newest`, a hash table that
    grows with them: at 4 bands, a sketch costs about 200 bytes."""

    def __init__(self, wanted: float, crowd: int = CROWD) -> None:
        assert 0 < wanted <= FARTHEST, wanted
        self.wanted = wanted
        self.compared = 0
        """How many sketches all look-ups together were compared with."""
        self._crowd = crowd
        self._rows = MINIMA // bands_for(wanted)
        self._chains = bands_for(wanted) + 1
        self._lock = threading.Lock()
        self._keys: list[str] = []
        self._islands = array("H")
        self._sketches = bytearray()
        self._newest = array("i", [-1]) * _SLOTS
        self._older = array("i")

    @property
    def places(self) -> int:
        """Number of different sketches, counted on each island."""
        return len(self._keys)

    def add(self, key: str, island: int, sketch: bytes) -> None:
        """Adds a program, unless there is one with this sketch on the island."""
        with self._lock:
            slots = self._slots(island, sketch)
            if any(self._is(place, island, sketch) for place in self._walk_chain(slots[0])):
                return
            self._keys.append(key)
            self._islands.append(island)
            self._sketches += sketch
            self._link(slots)
            if len(self._older) > len(self._newest):
                self._grow()

    def nearest(self, sketch: bytes, island: int, besides: Sequence[bytes] = ()) -> Near | None:
        """Returns the nearest program of an island below the distance, of several the oldest; what has one of the sketches `besides` is passed over."""
        with self._lock:
            slots = self._slots(island, sketch)
            met = {place for slot in slots for place in self._walk_chain(slot) if self._islands[place] == island}
            places = sorted(met)
            self.compared += len(places)
            rows = np.frombuffer(self._sketches, np.uint8).reshape(-1, MINIMA)[places]
        differing = np.count_nonzero(rows != np.frombuffer(sketch, np.uint8), axis=1)
        for passed_over in besides:
            differing[(rows == np.frombuffer(passed_over, np.uint8)).all(axis=1)] = MINIMA
        if not places:
            return None
        best = int(differing.argmin())
        found = _estimate_distance(int(differing[best]))
        return Near(self._keys[places[best]], found) if found < self.wanted else None

    def _slots(self, island: int, sketch: bytes) -> list[int]:
        """Returns the slots at which the chains of a sketch begin: first that of the whole sketch, then one per band."""
        mask, rows, salt = len(self._newest) - 1, self._rows, island * self._chains
        bands = [
            crc32(sketch[start : start + rows], salt + band) & mask
            for band, start in enumerate(range(0, MINIMA, rows), 1)
        ]
        return [crc32(sketch, salt) & mask, *bands]

    def _walk_chain(self, slot: int) -> Iterator[int]:
        """Yields the newest places of a chain; some may be there by chance."""
        link = self._newest[slot]
        for _ in range(self._crowd):
            if link < 0:
                return
            yield link // self._chains
            link = self._older[link]

    def _is(self, place: int, island: int, sketch: bytes) -> bool:
        begin = place * MINIMA
        return self._islands[place] == island and self._sketches[begin : begin + MINIMA] == sketch

    def _link(self, slots: Sequence[int]) -> None:
        """Puts the next place at the head of its chains."""
        for slot in slots:
            link = len(self._older)
            self._older.append(self._newest[slot])
            self._newest[slot] = link

    def _grow(self) -> None:
        """Doubles the table, with all places chained anew in their order."""
        self._newest = array("i", [-1]) * (2 * len(self._newest))
        self._older = array("i")
        for place, island in enumerate(self._islands):
            begin = place * MINIMA
            self._link(self._slots(island, bytes(self._sketches[begin : begin + MINIMA])))


RECENT = 1000
"""How many vectors of an island are kept."""


def pack_vector(vector: Sequence[float]) -> bytes:
    """Returns a vector of length 1 as 16-bit numbers, as the log keeps it; empty for one that has no direction: no or infinite components, or all 0."""
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
        """Returns the most similar program of an island but for `besides`, if it is similar enough."""
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
    """Returns a packed vector with length 1 again, which rounding may have changed."""
    row = np.frombuffer(vector, "<f2").astype(np.float32)
    return row / np.float32(np.linalg.norm(row))
