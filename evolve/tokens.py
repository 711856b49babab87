"""The tokens of a file, read in pieces: a program differs from its parent in a few lines, and the pieces that it shares with others are remembered.

Invariant: what is read never depends on what was read before. A text is cut only where what comes before and what comes after read apart as
they read together, and what is remembered is a function of the piece, the language and the brackets that are open before it."""

import functools
import re
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from evolve.lexical import ESCAPED_QUOTE, OPERAND_FOLLOWS, OPERAND_FOLLOWS_WORDS, Language, language

CODE_BYTES = 4
"""Bytes of a token's code."""

# Not after a backslash, for the line end may be a part of a string. Before a line whose first token is neither a number nor a minus, so that a
# sign and its number are in one piece; with these letters many statements begin (def, else, for, fn, return, self), yet not too many.
_CUT = re.compile(r'\n(?<![\\\n]\n)(?=[ \t]*["a-grs])')
_REMEMBERED = 1024
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
    """The pieces of a file, of which only the last may have no token."""
    kind, parts = language(path), _CUT.split(text)
    found: list[Piece] = []
    depth, begin, width = 0, 0, 1
    while begin < len(parts):
        end = begin + width
        part = parts[begin] if width == 1 else "\n".join(parts[begin:end])
        read = _remembered if len(part) <= _LONGEST else _read
        piece = read(kind, part, depth, bool(found), end >= len(parts))
        if piece is None:
            # Twice as wide, so that what never closes is read no more than about twice.
            width *= 2
        else:
            found.append(piece)
            depth, begin, width = piece.depth, end, 1
    return found


def tokens(path: str, text: str) -> list[str]:
    """The tokens of a file; a dotted name is one. A line's end is a token too, with the next line's indentation where that means
    something, but for line ends inside brackets."""
    kind = language(path)
    return _tokens(kind, _matches(kind, text), 0, begun=False)[0]


def codes(some: Sequence[str]) -> bytes:
    """The CRC-32 of each of these tokens, but with a 0 for every number and its sign."""
    blind: list[str] = []
    for token in some:
        if token[0] in _DIGITS or (token[0] == "." and len(token) > 1):
            if blind and blind[-1] == "-" and _begins_operand(blind[-2:-1]):
                blind.pop()
            token = "0"
        blind.append(token)
    return array("I", [zlib.crc32(token.encode("utf-8", "surrogatepass")) for token in blind]).tobytes()


def _read(kind: Language, part: str, depth: int, begun: bool, last: bool) -> Piece | None:
    """A piece that begins with the line end before `part`, if the file has `begun` before, and reaches to the line end after it, unless it is
    the `last`; None where it cannot be read apart from what follows.

    Why this is exact: no match looks at what comes before it. One that looks further than to the line end after the piece is white space, a
    comment or a string that swallows this line end, or an attempt at a string that failed and left its quote alone."""
    matches = _matches(kind, ("\n" if begun else "") + part + ("" if last else "\n"))
    if not last and (matches[-1] != "\n" or any(quote in matches for quote in kind.spanning)):
        return None
    found, depth = _tokens(kind, matches, depth, begun)
    return Piece("\1".join(found), codes(found), depth) if found or last else None


_remembered = functools.lru_cache(maxsize=_REMEMBERED)(_read)


@functools.cache
def _pattern(kind: Language) -> re.Pattern[str]:
    """The first group is a token; what is matched without it (comments, escaped line ends) is dropped, as are spaces."""
    token = r"[0-9][\w.]*(?:(?<=[0-9.][eEpP])[+-][0-9]+)?|\w[\w.]*|\n\s*|\.[0-9]\w*|[^ \t\r\f\v]"
    return re.compile(rf"{kind.comment}|\\\r?\n|({kind.string}|{ESCAPED_QUOTE}|{token})")


def _matches(kind: Language, text: str) -> list[str]:
    """What the pattern finds, one after the other, with an empty text for what is dropped."""
    pattern = _pattern(kind)
    return pattern.findall(text) if pattern.groups == 1 else [groups[0] for groups in pattern.findall(text)]


def _tokens(kind: Language, matches: Sequence[str], depth: int, begun: bool) -> tuple[list[str], int]:
    """The tokens, and how many brackets are open after them."""
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
