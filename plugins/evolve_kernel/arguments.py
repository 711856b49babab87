"""The arguments of a kernel on one shape: arrays that it reads, fills or works in, and numbers.

Invariant: names are unique, sizes are whole and above 0, and at least one array is filled."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["in", "out", "room", "number"]
C_TYPES = {
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long",
    "uint64": "unsigned long",
    "float32": "float",
    "float64": "double",
}
"""Element types, as numpy and as C call them, where `long` has 64 bits."""
BYTES = {name: int("".join(filter(str.isdigit, name))) // 8 for name in C_TYPES}
MOST = 30
"""Arrays, and numbers, of a call: one place is the judge's."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One of them: an array of `dims` and `dtype`, or, of the kind "number", a `value`."""

    kind: Kind
    name: str
    dims: tuple[int, ...] = ()
    dtype: str = ""
    value: int = 0

    @property
    def bytes(self) -> int:
        """The size of an array."""
        return math.prod(self.dims) * BYTES[self.dtype]


def arguments_of(given: object) -> tuple[Argument, ...]:
    """What a module's `arguments` returned, as values; raises `ValueError` with what is wrong."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ValueError(f"{given!r:.80} is no sequence of arguments")
    found = tuple(map(_argument, given))
    names = [one.name for one in found]
    arrays = [one for one in found if one.kind != "number"]
    if len(set(names)) < len(names):
        raise ValueError(f"two arguments are called {next(name for name in names if names.count(name) > 1)!r}")
    if not any(one.kind == "out" for one in arrays):
        raise ValueError('no argument is filled: one has the kind "out"')
    if max(len(arrays), len(found) - len(arrays)) > MOST:
        raise ValueError(f"there are more than {MOST} arrays, or numbers")
    return found


def _argument(given: Any) -> Argument:
    match given:
        case ("number", str(name), int(value)) if not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63:
            return Argument("number", _named(name), value=value)
        case ("in" | "out" | "room" as kind, str(name), [*dims], str(dtype)) if dtype in C_TYPES:
            if not dims or not all(type(length) is int and length > 0 for length in dims):
                raise ValueError(f"{name!r} has the dimensions {dims!r}, wanted whole numbers above 0")
            return Argument(kind, _named(name), tuple(dims), dtype)
    raise ValueError(
        f'{given!r:.80} is no argument, wanted ("in", "out" or "room", name, dimensions, dtype) with a dtype of '
        f'{", ".join(C_TYPES)}, or ("number", name, whole number)'
    )


def _named(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of an argument")
    return name
