"""Fingerprints of programs: when two are the same, and how far apart they are, without running or parsing them.

Equal on every machine and in every process; layout and comments never count, constants count for `signature` alone. A program differs
from its parent in a few lines, so that its tokens are read in pieces, and the pieces that it shares with others are remembered. A text is cut
only where its parts read apart as they read together: what is read never depends on what was read before."""

import functools
import hashlib
import math
import re
import zlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evolve.edits.blocks import ESCAPED_QUOTE, OPERAND_FOLLOWS, OPERAND_FOLLOWS_WORDS, Language, language
from evolve.types import Axis, Program

CODE_BYTES = 4
"""Bytes of a token's code."""

# Not after a backslash, for the line end may be a part of a string. Before a line whose first token is neither a number nor a minus, so that a
# sign and its number are in one piece; with these letters many statements begin (def, else, for, fn, return, self), yet not too many.
_CUT = re.compile(r'\n(?<![\\\n]\n)(?=[ \t]*["a-grs])')
_CACHED = 1024
_LONGEST = 2000
_DIGITS = frozenset("0123456789")
_DEPTHS = {"(": 1, "[": 1, ")": -1, "]": -1}
_DEPTHS_INDENTED = _DEPTHS | {"{": 1, "}": -1}


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some lines of a file: `joined` has its tokens with "\\1" between them, `codes` the CRC-32 of each but with a 0 for every number and its sign;
    `depth` is how many brackets are open at its end."""

    joined: str
    codes: bytes
    depth: int


def pieces(path: str, text: str) -> Sequence[Piece]:
    """Returns the pieces of a file, of which only the last may have no token."""
    kind, parts = language(path), _CUT.split(text)
    found: list[Piece] = []
    depth, begin, width = 0, 0, 1
    while begin < len(parts):
        end = begin + width
        part = parts[begin] if width == 1 else "\n".join(parts[begin:end])
        read = _read_cached if len(part) <= _LONGEST else _read
        piece = read(kind, part, depth, bool(found), end >= len(parts))
        if piece is None:
            # Twice as wide, so that what never closes is read no more than about twice.
            width *= 2
        else:
            found.append(piece)
            depth, begin, width = piece.depth, end, 1
    return found


def tokens(path: str, text: str) -> list[str]:
    """Returns the tokens of a file; a dotted name is one. A line's end is a token too, with the next line's indentation where that means
    something, but for line ends inside brackets."""
    kind = language(path)
    return _tokens(kind, _matches(kind, text), 0, begun=False)[0]


def codes(some: Sequence[str]) -> bytes:
    """Returns the CRC-32 of each of these tokens, but with a 0 for every number and its sign."""
    blind: list[str] = []
    for token in some:
        if token[0] in _DIGITS or (token[0] == "." and len(token) > 1):
            if blind and blind[-1] == "-" and _begins_operand(blind[-2:-1]):
                blind.pop()
            token = "0"
        blind.append(token)
    return array("I", [zlib.crc32(token.encode("utf-8", "surrogatepass")) for token in blind]).tobytes()


def _read(kind: Language, part: str, depth: int, begun: bool, last: bool) -> Piece | None:
    """Returns a piece that begins with the line end before `part`, if the file has `begun` before, and reaches to the line end after it, unless it is
    the `last`; None where it cannot be read apart from what follows.

    Why this is exact: no match looks at what comes before it. One that looks further than to the line end after the piece is white space, a
    comment or a string that swallows this line end, or an attempt at a string that failed and left its quote alone."""
    matches = _matches(kind, ("\n" if begun else "") + part + ("" if last else "\n"))
    if not last and (matches[-1] != "\n" or any(quote in matches for quote in kind.spanning)):
        return None
    found, depth = _tokens(kind, matches, depth, begun)
    return Piece("\1".join(found), codes(found), depth) if found or last else None


_read_cached = functools.lru_cache(maxsize=_CACHED)(_read)


@functools.cache
def _pattern(kind: Language) -> re.Pattern[str]:
    """Returns the first group is a token; what is matched without it (comments, escaped line ends) is dropped, as are spaces."""
    token = r"[0-9][\w.]*(?:(?<=[0-9.][eEpP])[+-][0-9]+)?|\w[\w.]*|\n\s*|\.[0-9]\w*|[^ \t\r\f\v]"
    return re.compile(rf"{kind.comment}|\\\r?\n|({kind.string}|{ESCAPED_QUOTE}|{token})")


def _matches(kind: Language, text: str) -> list[str]:
    """Returns the matches of the pattern in their order, with an empty text for those that are dropped."""
    pattern = _pattern(kind)
    return pattern.findall(text) if pattern.groups == 1 else [groups[0] for groups in pattern.findall(text)]


def _tokens(kind: Language, matches: Sequence[str], depth: int, begun: bool) -> tuple[list[str], int]:
    """Returns the tokens, and how many brackets are open after them."""
    depths = _DEPTHS_INDENTED if kind.indented else _DEPTHS
    found: list[str] = []
    line = ""
    for token in matches:
        if token[:1] == "\n":
            line = "\n" + token.rpartition("\n")[2] if kind.indented else "\n"
        elif token:
            if line:
                if depth <= 0 and (found or begun):
                    found.append(line)
                line = ""
            if token in depths:
                depth = max(0, depth + depths[token])
            found.append(token)
    return found, depth


def _begins_operand(before: Sequence[str]) -> bool:
    return not before or before[0][0] in OPERAND_FOLLOWS or before[0] in OPERAND_FOLLOWS_WORDS or before[0][0] == "\n"


MinHash = NDArray[np.uint32]
"""128 minima, one per permutation, of the hashed 5-grams of a program's tokens; read-only."""

DEFAULT_AXES = (Axis("size_log2", 4.0, 14.0, 20), Axis("seed_distance", 0.0, 1.0, 10))
"""What the cells of the archive are where a task declares no axes; `describe` computes them."""

_PERMUTATIONS = 128
_GRAM = 5
_OVERLAP = (_GRAM - 1) * CODE_BYTES
_LONGEST_ROW = 4000
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
    """Returns the program's MinHash (Broder 1997, https://doi.org/10.1109/SEQUEN.1997.666900); all numbers count as one and the same."""
    return _outline(program)[1]


def distance(a: MinHash, b: MinHash) -> float:
    """Returns the estimated Jaccard distance of two programs' 5-grams: 0 the same, 1 nothing in common."""
    return 1.0 - float(np.count_nonzero(a == b)) / _PERMUTATIONS


def describe(program: Program, seed_hash: MinHash) -> Mapping[str, float]:
    """Returns the default descriptors: log2 of the number of tokens, and the distance to the seed's MinHash. Neither changes with the
    value of a number, so that tuned programs compete in one cell."""
    size, hashes = _outline(program)
    return {"size_log2": math.log2(max(1, size)), "seed_distance": distance(hashes, seed_hash)}


@functools.lru_cache(maxsize=16)
def _pieces(program: Program) -> Sequence[Sequence[Piece]]:
    """Returns the pieces of each file. Cached: two questions are asked about every new program."""
    return [pieces(path, text) for path, text in program.files.items()]


@functools.lru_cache(maxsize=256)
def _outline(program: Program) -> tuple[int, MinHash]:
    """Returns the number of tokens, without the signs of numbers, and the MinHash."""
    rows = _codes(program)
    row = b"".join(rows)
    padded = row.ljust(_GRAM * CODE_BYTES, b"\0")
    # The first 5-gram by itself too, for a program of no piece with a token has that one.
    place, minima = 0, [_minima_cached(padded[: _GRAM * CODE_BYTES])]
    for length in map(len, rows):
        part = padded[place : place + length + _OVERLAP]
        minima.append(_minima_cached(part) if len(part) <= _LONGEST_ROW else _minima(part))
        place += length
    hashes = np.frombuffer(b"".join(minima), np.uint32).reshape(-1, _PERMUTATIONS).min(axis=0)
    hashes.flags.writeable = False
    return len(row) // CODE_BYTES, hashes


def _codes(program: Program) -> Sequence[bytes]:
    """Returns the codes of each piece; of all tokens at once where a minus may be the sign of another file's number."""
    read = _pieces(program)
    if len(read) > 1 and any(map(_is_torn, read)):
        return [codes([token for path, text in program.files.items() for token in tokens(path, text)])]
    return [piece.codes for some in read for piece in some]


def _is_torn(read: Sequence[Piece]) -> bool:
    """Returns whether a minus may be the first or the last token of a file."""
    text = "\1".join([piece.joined for piece in read if piece.joined])
    return text == "-" or text.startswith("-\1") or text.endswith("\1-")


def _minima(row: bytes) -> bytes:
    """Returns the minima of the hashed 5-grams of these codes, 128 words; none of fewer than 5 codes."""
    if len(row) < _GRAM * CODE_BYTES:
        return b""
    mixed: NDArray[np.uint64] = np.correlate(np.frombuffer(row, np.uint32).astype(np.uint64), _POWERS)
    mixed ^= mixed >> np.uint64(29)
    mixed *= _POWERS[1]
    hashes: NDArray[np.uint32] = (mixed >> np.uint64(32)).astype(np.uint32) ^ _MASKS
    hashes *= _MULTIPLIERS
    minima: MinHash = hashes.min(axis=1)
    return minima.tobytes()


_minima_cached = functools.lru_cache(maxsize=1024)(_minima)
