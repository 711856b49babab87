"""Fingerprints of programs: when two are the same, and how far apart they are, without running or parsing them.

Equal on every machine and in every process; layout and comments never count, constants count for `signature` alone."""

import functools
import hashlib
import math
import re
import zlib
from array import array
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evolve.edits.blocks import ESCAPED_QUOTE, OPERAND_FOLLOWS, OPERAND_FOLLOWS_WORDS, Language, language
from evolve.types import Axis, Program

MinHash = NDArray[np.uint32]
"""128 minima, one per permutation, of the hashed 5-grams of a program's tokens; read-only."""

DEFAULT_AXES = (Axis("size_log2", 4.0, 14.0, 20), Axis("seed_distance", 0.0, 1.0, 10))
"""Axes of the archive where a task declares none; `describe` computes the descriptors."""

_DIGITS = frozenset("0123456789")
_DEPTHS = {"(": 1, "[": 1, ")": -1, "]": -1}
_DEPTHS_INDENTED = _DEPTHS | {"{": 1, "}": -1}
_PERMUTATIONS = 128
_GRAM = 5
_CHUNK = 4096
# These numbers are a format: sketches in logs are made with them.
_GENERATOR = np.random.Generator(np.random.PCG64(0x5EED))
_MASKS = _GENERATOR.integers(0, 1 << 32, (_PERMUTATIONS, 1), np.uint32)
_MULTIPLIERS = _GENERATOR.integers(0, 1 << 31, (_PERMUTATIONS, 1), np.uint32) * np.uint32(2) + np.uint32(1)
_POWERS = np.array([pow(0x9E3779B97F4A7C15, power + 1, 1 << 64) for power in range(_GRAM)], np.uint64)


@functools.lru_cache(maxsize=256)
def signature(program: Program) -> str:
    """Returns 32 hexadecimal digits, equal for programs that differ in comments, blank lines and spacing alone."""
    digest = hashlib.blake2b(digest_size=16)
    for path, found in zip(program.files, _tokens_by_file(program), strict=True):
        digest.update(f"\0{path}\0".encode("utf-8", "surrogatepass"))
        digest.update("\1".join(found).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def minhash(program: Program) -> MinHash:
    """Returns the program's MinHash (Broder 1997, https://doi.org/10.1109/SEQUEN.1997.666900); all numbers count as one and the same."""
    return _size_and_minhash(program)[1]


def distance(a: MinHash, b: MinHash) -> float:
    """Returns the estimated Jaccard distance of two programs' 5-grams: 0 the same, 1 nothing in common."""
    return 1.0 - float(np.count_nonzero(a == b)) / _PERMUTATIONS


def describe(program: Program, seed_hash: MinHash) -> Mapping[str, float]:
    """Returns the default descriptors: log2 of the number of tokens, and the distance to the seed's MinHash. Neither changes with the
    value of a number, so that tuned programs compete in one cell."""
    size, hashes = _size_and_minhash(program)
    return {"size_log2": math.log2(max(1, size)), "seed_distance": distance(hashes, seed_hash)}


@functools.lru_cache(maxsize=16)
def _tokens_by_file(program: Program) -> Sequence[Sequence[str]]:
    # Cached: the signature and the MinHash of each new program are asked for one after the other.
    return [tokens(path, text) for path, text in program.files.items()]


def tokens(path: str, text: str) -> list[str]:
    """Returns the tokens of a file; a dotted name is one. A line's end is a token too, with the next line's indentation where that means
    something, but for line ends inside brackets."""
    kind, pattern = language(path), _pattern(language(path))
    depths, depth = (_DEPTHS_INDENTED if kind.indented else _DEPTHS), 0
    matches = pattern.findall(text)
    found: list[str] = []
    line = ""
    # Every child passes through this loop: a lookup more for each token is felt.
    for token in matches if pattern.groups == 1 else [groups[0] for groups in matches]:
        if not token:
            continue
        if token[0] == "\n":
            line = "\n" + token.rpartition("\n")[2] if kind.indented else "\n"
            continue
        if line:
            if depth <= 0 and found:
                found.append(line)
            line = ""
        if token in depths:
            depth = max(0, depth + depths[token])
        found.append(token)
    return found


@functools.cache
def _pattern(kind: Language) -> re.Pattern[str]:
    """Returns a pattern whose first group is a token; matches without it (comments, escaped line ends) are dropped, as are spaces."""
    token = r"[0-9][\w.]*(?:(?<=[0-9.][eEpP])[+-][0-9]+)?|\w[\w.]*|\n\s*|\.[0-9]\w*|[^ \t\r\f\v]"
    return re.compile(rf"{kind.comment}|\\\r?\n|({kind.string}|{ESCAPED_QUOTE}|{token})")


def codes(some: Sequence[str]) -> bytes:
    """Returns the CRC-32 of each of these tokens, but with a 0 for every number and its sign."""
    blind: list[str] = []
    for token in some:
        if token[0] in _DIGITS or (token[0] == "." and len(token) > 1):
            if blind and blind[-1] == "-" and _begins_operand(blind[-2:-1]):
                blind.pop()
            token = "0"
        blind.append(token)
    return array("I", map(_code, blind)).tobytes()


@functools.lru_cache(maxsize=1 << 14)
def _code(token: str) -> int:
    # Cached: programs of one campaign share most of their tokens.
    return zlib.crc32(token.encode("utf-8", "surrogatepass"))


def _begins_operand(before: Sequence[str]) -> bool:
    return not before or before[0][0] in OPERAND_FOLLOWS or before[0] in OPERAND_FOLLOWS_WORDS or before[0][0] == "\n"


@functools.lru_cache(maxsize=256)
def _size_and_minhash(program: Program) -> tuple[int, MinHash]:
    """Returns the number of tokens, without the signs of numbers, and the MinHash."""
    row = np.frombuffer(codes([token for found in _tokens_by_file(program) for token in found]), np.uint32)
    padded = np.pad(row, (0, max(0, _GRAM - len(row))))
    # In chunks that overlap by all but one token of a 5-gram: each takes half a kilobyte per token.
    chunks = [padded[start : start + _CHUNK + _GRAM - 1] for start in range(0, len(padded) - _GRAM + 1, _CHUNK)]
    hashes: MinHash = np.min([_minima(chunk) for chunk in chunks], axis=0)
    hashes.flags.writeable = False
    return len(row), hashes


def _minima(row: NDArray[np.uint32]) -> MinHash:
    """Returns the minima of the hashed 5-grams of at least 5 codes."""
    mixed: NDArray[np.uint64] = np.correlate(row.astype(np.uint64), _POWERS)
    mixed ^= mixed >> np.uint64(29)
    mixed *= _POWERS[1]
    hashes: MinHash = (mixed >> np.uint64(32)).astype(np.uint32) ^ _MASKS
    hashes *= _MULTIPLIERS
    minima: MinHash = hashes.min(axis=1)
    return minima
