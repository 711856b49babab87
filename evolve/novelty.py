"""When two programs are the same, and how far apart they are, without running or parsing them.

Invariant: equal on every machine and in every process; layout and comments never count, constants count for `signature` alone."""

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evolve.tokens import CODE_BYTES, Piece, codes, pieces, tokens
from evolve.types import Axis, Program

MinHash = NDArray[np.uint32]
"""128 minima, one per permutation, of the hashed 5-grams of a program's tokens; read-only."""

DEFAULT_AXES = (Axis("size_log2", 4.0, 14.0, 20), Axis("seed_distance", 0.0, 1.0, 10))
"""What the cells of the archive are where a task declares no axes; `describe` computes them."""

_PERMUTATIONS = 128
_GRAM = 5
_OVERLAP = (_GRAM - 1) * CODE_BYTES
_LONGEST = 4000
_GENERATOR = np.random.Generator(np.random.PCG64(0x5EED))
_MASKS = _GENERATOR.integers(0, 1 << 32, (_PERMUTATIONS, 1), np.uint32)
_MULTIPLIERS = _GENERATOR.integers(0, 1 << 31, (_PERMUTATIONS, 1), np.uint32) * np.uint32(2) + np.uint32(1)
_POWERS = np.array([pow(0x9E3779B97F4A7C15, power + 1, 1 << 64) for power in range(_GRAM)], np.uint64)


@functools.lru_cache(maxsize=256)
def signature(program: Program) -> str:
    """32 hexadecimal digits, equal for programs that differ in comments, blank lines and spacing alone."""
    found = hashlib.blake2b(digest_size=16)
    for path, read in zip(program.files, _pieces(program), strict=True):
        found.update(f"\0{path}\0".encode("utf-8", "surrogatepass"))
        found.update("\1".join([piece.joined for piece in read if piece.joined]).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def minhash(program: Program) -> MinHash:
    """The program's MinHash (Broder 1997, https://doi.org/10.1109/SEQUEN.1997.666900); all numbers count as one and the same."""
    return _outline(program)[1]


def distance(a: MinHash, b: MinHash) -> float:
    """The estimated Jaccard distance of two programs' 5-grams: 0 the same, 1 nothing in common."""
    return 1.0 - float(np.count_nonzero(a == b)) / _PERMUTATIONS


def describe(program: Program, seed_hash: MinHash) -> Mapping[str, float]:
    """The default descriptors: log2 of the number of tokens, and the distance to the seed's MinHash. Neither changes with the
    value of a number, so that tuned programs compete in one cell."""
    size, hashes = _outline(program)
    return {"size_log2": math.log2(max(1, size)), "seed_distance": distance(hashes, seed_hash)}


@functools.lru_cache(maxsize=16)
def _pieces(program: Program) -> Sequence[Sequence[Piece]]:
    """What each file reads like. Cached for the two questions that are asked about every new program."""
    return [pieces(path, text) for path, text in program.files.items()]


@functools.lru_cache(maxsize=256)
def _outline(program: Program) -> tuple[int, MinHash]:
    """The number of tokens, without the signs of numbers, and the MinHash."""
    rows = _codes(program)
    row = b"".join(rows)
    padded = row.ljust(_GRAM * CODE_BYTES, b"\0")
    # The first 5-gram by itself too, for a program of no piece with a token has that one.
    place, minima = 0, [_remembered(padded[: _GRAM * CODE_BYTES])]
    for length in map(len, rows):
        part = padded[place : place + length + _OVERLAP]
        minima.append(_remembered(part) if len(part) <= _LONGEST else _minima(part))
        place += length
    hashes = np.frombuffer(b"".join(minima), np.uint32).reshape(-1, _PERMUTATIONS).min(axis=0)
    hashes.flags.writeable = False
    return len(row) // CODE_BYTES, hashes


def _codes(program: Program) -> Sequence[bytes]:
    """The codes of each piece; of all tokens at once where a minus may be the sign of another file's number."""
    read = _pieces(program)
    if len(read) > 1 and any(map(_is_torn, read)):
        return [codes([token for path, text in program.files.items() for token in tokens(path, text)])]
    return [piece.codes for some in read for piece in some]


def _is_torn(read: Sequence[Piece]) -> bool:
    """Whether a minus may be the first or the last token of a file."""
    text = "\1".join([piece.joined for piece in read if piece.joined])
    return text == "-" or text.startswith("-\1") or text.endswith("\1-")


def _minima(row: bytes) -> bytes:
    """The minima of the hashed 5-grams of these codes, 128 words; none of fewer than 5 codes."""
    if len(row) < _GRAM * CODE_BYTES:
        return b""
    mixed: NDArray[np.uint64] = np.correlate(np.frombuffer(row, np.uint32).astype(np.uint64), _POWERS)
    mixed ^= mixed >> np.uint64(29)
    mixed *= _POWERS[1]
    hashes: NDArray[np.uint32] = (mixed >> np.uint64(32)).astype(np.uint32) ^ _MASKS
    hashes *= _MULTIPLIERS
    minima: MinHash = hashes.min(axis=1)
    return minima.tobytes()


_remembered = functools.lru_cache(maxsize=1024)(_minima)
