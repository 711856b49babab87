"""Readers of the files that a script has saved, as plain numbers.

Invariant: bytes that a program wrote are never unpickled or evaluated, and what comes out is finite; whatever else they hold is `Unreadable`,
before memory is taken for what they claim to be."""

import json
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_MOST_DIGITS = 400
"""Characters of one number; the shortest text of any float has fewer than thirty."""
_HEADER = re.compile(
    rb"\x93NUMPY(?:\x01\x00..|[\x02\x03]\x00....)"
    rb"\{'descr': '([<>|][fiu][1248])', 'fortran_order': (True|False), 'shape': \(([\d, ]{0,200})\), \} *\n",
    re.DOTALL,
)


class Unreadable(ValueError):
    """Raised where a saved file does not have the form that was asked for; a `rescore` function that lets it pass makes the program INVALID."""


def number(text: str) -> float:
    """A decimal number, as a float; raises `Unreadable` for anything else, `nan` and `1_0` among it."""
    written = text.strip()
    if len(written) > _MOST_DIGITS or _NUMBER.fullmatch(written) is None:
        raise Unreadable(f"{written!r:.80} is no number")
    return finite(float(written))


def finite(value: object) -> float:
    """A finite float; raises `Unreadable` for what is no number, such as a truth value."""
    if type(value) is not float and type(value) is not int:
        raise Unreadable(f"{value!r:.80} is no number")
    try:
        plain = float(value)
    except OverflowError:
        raise Unreadable("a number is too large for a float") from None
    if not math.isfinite(plain):
        raise Unreadable(f"{plain} is no finite number")
    return plain


def text_of(content: bytes) -> str:
    """UTF-8 as a text; raises `Unreadable`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"this is no text in UTF-8: {error.reason}") from None


def read_json(content: bytes) -> Any:
    """A JSON value without NaN and infinities; raises `Unreadable`. Whole numbers may be larger than a float: see `finite`."""
    try:
        return json.loads(text_of(content), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"this is no JSON: {str(error)[:200]}") from None


def _refuse_constant(name: str) -> Any:
    raise Unreadable(f"{name} is no finite number")


def read_numbers(content: bytes, count: int) -> list[float]:
    """So many decimal numbers, with white space between them; raises `Unreadable`."""
    # One more than wanted, so that a file with millions of words is not split as a whole.
    words = text_of(content).split(None, count)
    if len(words) != count:
        raise Unreadable(f"there are {'more' if len(words) > count else 'fewer'} than {count} numbers")
    return [number(word) for word in words]


def read_array(content: bytes, shape: tuple[int | None, ...]) -> npt.NDArray[np.float64]:
    """The array of a `.npy` file, as float64 and finite; None is any length. Raises `Unreadable` for another shape, and for what holds no
    numbers. The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html"""
    header = _HEADER.match(content)
    if header is None:
        raise Unreadable("this is no .npy file with real numbers")
    found = tuple(int(length) for length in header[3].decode().replace(" ", "").split(",") if length)
    if len(found) != len(shape) or any(want not in (None, got) for want, got in zip(shape, found, strict=True)):
        wanted = tuple("any" if length is None else length for length in shape)
        raise Unreadable(f"the shape is {found}, wanted {wanted}")
    kind = np.dtype(header[1].decode())
    if not math.prod(found):
        raise Unreadable(f"there is nothing in an array of shape {found}")
    if math.prod(found) * kind.itemsize != len(content) - header.end():
        raise Unreadable(f"there are not as many bytes as an array of shape {found} has")
    # Not `np.load`, which unpickles what a file asks it to.
    flat = np.frombuffer(content, kind, offset=header.end())
    array = flat.reshape(found, order="F" if header[2] == b"True" else "C").astype(np.float64)
    if not np.isfinite(array).all():
        raise Unreadable("not all numbers are finite")
    return array


def member(value: Any, path: str) -> float:
    """The number at `validation.accuracy` or `history.-1.loss` of a JSON value; raises `Unreadable`."""
    for key in path.split("."):
        if (
            isinstance(value, list)
            and re.fullmatch(r"-?\d{1,9}", key, re.ASCII)
            and -len(value) <= int(key) < len(value)
        ):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            raise Unreadable(f"there is no {key!r} at {path!r}")
    return finite(value)
