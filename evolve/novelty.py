"""When two programs are the same, and how far apart they are, without running or parsing them.

Invariant: equal on every machine and in every process; layout and comments never count, constants count for `signature` alone."""

import functools
import hashlib
import math
import re
import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evolve.lexical import ESCAPED_QUOTE, OPERAND_FOLLOWS, OPERAND_FOLLOWS_WORDS, Language, language
from evolve.types import Axis, Program

MinHash = NDArray[np.uint32]
"""128 minima, one per permutation, of the hashed 5-grams of a program's tokens; read-only."""

DEFAULT_AXES = (Axis("size_log2", 4.0, 14.0, 20), Axis("seed_distance", 0.0, 1.0, 10))
"""What the cells of the archive are where a task declares no axes; `describe` computes them."""

_PERMUTATIONS = 128
_GRAM = 5
_DIGITS = frozenset("0123456789")
_DEPTHS = {"(": 1, "[": 1, ")": -1, "]": -1}
_DEPTHS_INDENTED = _DEPTHS | {"{": 1, "}": -1}
_GENERATOR = np.random.Generator(np.random.PCG64(0x5EED))
_MASKS = _GENERATOR.integers(0, 1 << 32, (_PERMUTATIONS, 1), np.uint32)
_MULTIPLIERS = _GENERATOR.integers(0, 1 << 31, (_PERMUTATIONS, 1), np.uint32) * np.uint32(2) + np.uint32(1)
_POWERS = tuple(np.uint64(pow(0x9E3779B97F4A7C15, power + 1, 1 << 64)) for power in range(_GRAM))


@functools.lru_cache(maxsize=256)
def signature(program: Program) -> str:
    """32 hexadecimal digits, equal for programs that differ in comments, blank lines and spacing alone."""
    found = hashlib.blake2b(digest_size=16)
    for path, text in program.files.items():
        found.update(f"\0{path}\0".encode("utf-8", "surrogatepass"))
        found.update("\1".join(_tokens(path, text)).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def minhash(program: Program) -> MinHash:
    """The program's MinHash (Broder 1997, https://doi.org/10.1109/SEQUEN.1997.666900); all numbers count as one and the same."""
    return _outline(_without_numbers(program))[1]


def distance(a: MinHash, b: MinHash) -> float:
    """The estimated Jaccard distance of two programs' 5-grams: 0 the same, 1 nothing in common."""
    return 1.0 - float(np.count_nonzero(a == b)) / _PERMUTATIONS


def describe(program: Program, seed_hash: MinHash) -> Mapping[str, float]:
    """The default descriptors: log2 of the number of tokens, and the distance to the seed's MinHash. Neither changes with the
    value of a number, so that tuned programs compete in one cell."""
    size, hashes = _outline(_without_numbers(program))
    return {"size_log2": math.log2(max(1, size)), "seed_distance": distance(hashes, seed_hash)}


@functools.cache
def _token_pattern(kind: Language) -> re.Pattern[str]:
    """The first group is a token; what is matched without it (comments, escaped line ends) is dropped, as are spaces."""
    token = r"[0-9][\w.]*(?:(?<=[0-9.][eEpP])[+-][0-9]+)?|\w[\w.]*|\n\s*|\.[0-9]\w*|[^ \t\r\f\v]"
    return re.compile(rf"{kind.comment}|\\\r?\n|({kind.string}|{ESCAPED_QUOTE}|{token})")


@functools.lru_cache(maxsize=16)
def _tokens(path: str, text: str) -> tuple[str, ...]:
    """The tokens of a file; a dotted name is one. A line's end is a token too, with the next line's indentation where that means
    something, but for line ends inside brackets. Cached for the two questions that are asked about every new program."""
    kind = language(path)
    pattern = _token_pattern(kind)
    found = pattern.findall(text) if pattern.groups == 1 else [groups[0] for groups in pattern.findall(text)]
    depths = _DEPTHS_INDENTED if kind.indented else _DEPTHS
    tokens: list[str] = []
    depth, line = 0, ""
    for token in found:
        if token[:1] == "\n":
            line = "\n" + token.rpartition("\n")[2] if kind.indented else "\n"
        elif token:
            if line:
                if depth <= 0 and tokens:
                    tokens.append(line)
                line = ""
            if token in depths:
                depth = max(0, depth + depths[token])
            tokens.append(token)
    return tuple(tokens)


def _without_numbers(program: Program) -> tuple[str, ...]:
    """The program's tokens with a 0 for every number and its sign."""
    blind: list[str] = []
    for path, text in program.files.items():
        for token in _tokens(path, text):
            if token[0] in _DIGITS or (token[0] == "." and len(token) > 1):
                if blind and blind[-1] == "-" and _begins_operand(blind[-2:-1]):
                    blind.pop()
                token = "0"
            blind.append(token)
    return tuple(blind)


def _begins_operand(before: Sequence[str]) -> bool:
    return not before or before[0][0] in OPERAND_FOLLOWS or before[0] in OPERAND_FOLLOWS_WORDS or before[0][0] == "\n"


@functools.lru_cache(maxsize=256)
def _outline(tokens: tuple[str, ...]) -> tuple[int, MinHash]:
    """The number of tokens and the MinHash; cached, because programs that differ in their numbers alone are common."""
    grams = _grams(tokens)
    hashes = ((grams[None, :] ^ _MASKS) * _MULTIPLIERS).min(axis=1)
    hashes.flags.writeable = False
    return len(tokens), hashes


def _grams(tokens: Sequence[str]) -> NDArray[np.uint32]:
    """A well-mixed hash per distinct 5-gram; a shorter program is padded at its end."""
    codes = {token: zlib.crc32(token.encode("utf-8", "surrogatepass")) for token in set(tokens)}
    padded = [codes[token] for token in tokens] + [0] * max(0, _GRAM - len(tokens))
    row = np.array(padded, np.uint64)
    count = len(row) - _GRAM + 1
    mixed = np.zeros(count, np.uint64)
    for offset, power in enumerate(_POWERS):
        mixed += row[offset : offset + count] * power
    mixed ^= mixed >> np.uint64(29)
    mixed *= _POWERS[1]
    return np.unique((mixed >> np.uint64(32)).astype(np.uint32))
