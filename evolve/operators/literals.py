"""Numeric literals of a program's text, in any language: which may be tuned, and how other numbers are written in their place.

A tunable number stays tunable. Whatever values a template is filled with, the result has the same skeleton, and its
template has those values.

Tunable is a decimal or hexadecimal literal outside comments and strings, in the `EVOLVE-BLOCK`s where a program has any. Left alone, because a change
breaks more than it tunes: integers 0, 1 and -1, literals in base 2 or 8, hexadecimal floats, versions and dates, constant subscripts, numbers of
preprocessor lines, prose files, and sentinels (integers of 2**53 and more, floats of 1e30 and more)."""

import functools
import itertools
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from evolve.edits.blocks import (
    ESCAPED_QUOTE,
    OPERAND_FOLLOWS,
    OPERAND_FOLLOWS_WORDS,
    Language,
    Span,
    changeable,
    language,
)
from evolve.types import EditError, Program, canonical, digest

Kind = OneOf["int", "float"]
Number = int | float

LARGEST_INTEGER = 2**53 - 1
LARGEST_FLOAT = 9.9e29
SMALLEST_INTEGER = 2
_SIBLINGS = 4
_STEP = 0.1

_NUMBER = r"(?:[0-9](?<![\w.][0-9])|[0-9](?<=\.\.[0-9])|\.[0-9](?<![\w.)\]]\.[0-9]))(?:[eEpP][+-]?(?=[0-9])|\w|'(?=[0-9])|\.(?!\.))*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[\w:.+]*"
_DECIMAL = re.compile(
    r"(?P<whole>[0-9](?:[_']?[0-9])*)?(?P<fraction>\.(?:[0-9](?:_?[0-9])*)?)?(?P<exponent>[eE][+-]?[0-9]+)?(?P<suffix>[A-Za-z_]\w*)?"
)
_HEXADECIMAL = re.compile(r"(?P<prefix>0[xX])(?P<digits>[0-9a-fA-F](?:[_']?[0-9a-fA-F])*)(?P<suffix>[uUlLinzZ]\w*)?")
_LAST_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_SEPARATORS = re.compile(r"[\s,;()\[\]{}fFL]*")


@dataclass(frozen=True, slots=True)
class Literal:
    """A tunable number at `text[start:end]`: its sign and digits, without the suffix."""

    start: int
    end: int
    value: Number
    kind: Kind


@dataclass(frozen=True, slots=True)
class LiteralTemplate:
    """A program with its tunable literals taken out: `files` has a path and the literals of each, `pieces` the text around them.

    `scales` has the natural size of a change for each value; `skeleton` is equal for programs that differ in these values alone."""

    skeleton: str
    files: tuple[tuple[str, tuple[str, ...]], ...]
    values: tuple[Number, ...]
    scales: tuple[float, ...]

    def nearest(self, values: Sequence[float]) -> tuple[Number, ...]:
        """Returns the values that can stand there: an integer keeps its sign and a magnitude of at least 2; nothing becomes a sentinel."""
        return tuple(_nearest(old, new) for old, new in zip(self.values, values, strict=True))

    def fill(self, values: Sequence[float]) -> Program:
        """Returns the program with the nearest possible values."""
        numbers = iter(self.nearest(values))
        return Program({path: "".join(_join(pieces, numbers)) for path, pieces in self.files})


def find(text: str, path: str) -> tuple[Literal, ...]:
    """Returns the tunable literals of one file, in their order."""
    return _find(text, path, changeable({path: text})[path])


def _find(text: str, path: str, spans: Sequence[Span]) -> tuple[Literal, ...]:
    kind = language(path)
    if kind.prose or not spans:
        return ()
    found = (
        _literal(text, match.start(), match[0])
        for match in _pattern(kind).finditer(text)
        if match.lastgroup == "number"
    )
    return tuple(one for one in found if one and any(low <= one.start < high for low, high in spans))


@functools.lru_cache(maxsize=64)
def template(program: Program) -> LiteralTemplate:
    """Returns the program as a template; where any file has an `EVOLVE-BLOCK`, files without one have no tunable literals."""
    spans = changeable(program.files)
    files: list[tuple[str, tuple[str, ...]]] = []
    values: list[Number] = []
    scales: list[float] = []
    for path, text in program.files.items():
        literals = _find(text, path, spans[path])
        files.append((path, _pieces(text, literals)))
        values.extend(one.value for one in literals)
        scales.extend(_scales(text, literals))
    # White space before a literal is no part of the skeleton: `fill` may have to put a space there.
    blanked = [(path, [piece.rstrip(" \t") for piece in pieces[:-1]], pieces[-1]) for path, pieces in files]
    return LiteralTemplate(digest(canonical(blanked))[:32], tuple(files), tuple(values), tuple(scales))


def require_template(program: Program) -> LiteralTemplate:
    """Returns the program as a template with at least one literal; raises `EditError`."""
    form = template(program)
    if not form.values:
        raise EditError(
            f"no numeric literal to tune in {', '.join(program.files)}. "
            "Try: use another operator, or write the numbers that matter as decimal literals"
        )
    return form


@functools.cache
def _pattern(kind: Language) -> re.Pattern[str]:
    skipped = "|".join(
        f"(?:{part})" for part in (kind.comment, kind.string, ESCAPED_QUOTE, kind.directive, _DATE) if part
    )
    return re.compile(rf"{skipped}|(?P<number>{_NUMBER})", re.MULTILINE)


def _literal(text: str, start: int, written: str) -> Literal | None:
    """Returns the literal that is written at `start`; None where it is left alone."""
    hexadecimal = _HEXADECIMAL.fullmatch(written)
    if hexadecimal:
        return _hexadecimal(text, start, hexadecimal)
    parts = _DECIMAL.fullmatch(written)
    if parts is None:
        return None
    whole, suffix = parts["whole"] or "", parts["suffix"] or ""
    digits = written[: len(written) - len(suffix)]
    end = start + len(digits)
    if _has_sign(text, start):
        start -= 1
        digits = f"-{digits}"
    digits = digits.replace("_", "").replace("'", "")
    if parts["fraction"] or parts["exponent"] or suffix in ("f", "F", "f32", "f64"):
        value = float(digits)
        return Literal(start, end, value, "float") if abs(value) <= LARGEST_FLOAT else None
    # Leading zeros mean base 8; an integer of more digits is a sentinel.
    structural = whole[0] == "0" or len(whole) > 20 or _is_structural(text, start, end, abs(int(digits)))
    return None if structural else Literal(start, end, int(digits), "int")


def _hexadecimal(text: str, start: int, parts: re.Match[str]) -> Literal | None:
    """Returns the digits behind `0x`, or None where they are left alone. The prefix and a sign before it stay in the text."""
    first, end = start + parts.end("prefix"), start + parts.end("digits")
    digits = parts["digits"].replace("_", "").replace("'", "")
    # `0x5+1` is left alone: with 0x1e in the place of 0x5 it would read as a number with an exponent.
    structural = text[end : end + 1] in ("+", "-") or _is_structural(text, start, end, int(digits, 16))
    return None if structural else Literal(first, end, int(digits, 16), "int")


def _is_structural(text: str, start: int, end: int, magnitude: int) -> bool:
    """Reports an integer that is no quantity: 0 and 1, a sentinel, or a constant subscript such as `x[3]`."""
    if not SMALLEST_INTEGER <= magnitude <= LARGEST_INTEGER:
        return True
    before = text[max(0, start - 2) : start]
    return text[end : end + 1] == "]" and before[1:] == "[" and (before[0].isalnum() or before[0] in "_)]")


def _has_sign(text: str, start: int) -> bool:
    """Reports a minus directly before `start` that negates: an operand begins there."""
    if text[start - 1 : start] != "-":
        return False
    before = text[max(0, start - 40) : start - 1].rstrip()
    if not before:
        return True
    if before[-1] in OPERAND_FOLLOWS:
        return not before.endswith(("--", "++"))
    word = _LAST_WORD.search(before)
    return word is not None and word[0] in OPERAND_FOLLOWS_WORDS


def _pieces(text: str, literals: Sequence[Literal]) -> tuple[str, ...]:
    starts = [0, *(one.end for one in literals)]
    ends = [*(one.start for one in literals), len(text)]
    return tuple(text[low:high] for low, high in zip(starts, ends, strict=True))


def _join(pieces: Sequence[str], numbers: Iterator[Number]) -> Iterator[str]:
    """Yields the pieces with numbers between them. A space keeps `a -` and `-2.0` from becoming `--`, and `return` and `2.0` one word."""
    yield pieces[0]
    for before, after in itertools.pairwise(pieces):
        value, last = next(numbers), before[-1:]
        hexadecimal = before.endswith(("0x", "0X"))
        number = f"{value:x}" if hexadecimal else repr(value)
        if not hexadecimal and (last.isalnum() or last == "_" or (last == "-" and number[0] == "-")):
            yield " "
        yield number
        yield after


def _nearest(old: Number, new: float) -> Number:
    if isinstance(old, float):
        return min(max(float(new), -LARGEST_FLOAT), LARGEST_FLOAT)
    sign = 1 if old > 0 else -1
    return sign * min(max(round(sign * float(new)), SMALLEST_INTEGER), LARGEST_INTEGER)


def _scales(text: str, literals: Sequence[Literal]) -> Iterator[float]:
    """Yields a tenth of the spread of its siblings, where a float stands in a list of at least four; else a tenth of its magnitude, for a
    float zero the unit of its last digit; for an integer at least 1. Siblings have only brackets and commas between them."""
    first = 0
    for index, one in enumerate(literals):
        if index + 1 < len(literals) and _are_siblings(text, one, literals[index + 1]):
            continue
        group = literals[first : index + 1]
        values = [each.value for each in group if each.kind == "float"]
        spread = statistics.pstdev(values) if len(values) >= _SIBLINGS else 0.0
        yield from (_scale(text, each, spread) for each in group)
        first = index + 1


def _are_siblings(text: str, one: Literal, other: Literal) -> bool:
    return _SEPARATORS.fullmatch(text, one.end, other.start) is not None


def _scale(text: str, one: Literal, spread: float) -> float:
    if one.kind == "int":
        return max(1.0, _STEP * abs(one.value))
    if spread > 0.0:
        return _STEP * spread
    if one.value != 0.0:
        return max(_STEP * abs(one.value), 1e-300)
    return 10.0 ** -len(text[one.start : one.end].partition(".")[2])
