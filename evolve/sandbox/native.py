"""Timed calls of compiled code, in a process that can do nothing but compute.

Invariant: a call's arguments are offsets and numbers in a segment of the judge's; nothing but one byte crosses a pipe, and after each call
the process stands still until the next, so that what it has left in the segment can be read and nobody can change it."""

import struct
from collections.abc import Sequence
from pathlib import Path

from evolve.sandbox.segment import Segment
from evolve.sandbox.timing import Stopwatch, Timed

NATIVE_BLOCK = 512
"""Bytes at the beginning of a segment that a native session needs for itself."""
_MOST = 31
_PLACES = struct.Struct(f"={2 + 2 * _MOST}q")
_LARGEST = 1 << 63


def native_source() -> str:
    """The C source of a native session's loop, to be compiled with glue that defines `void evolve_call(void **pointers, const long *numbers)`, into one
    shared library."""
    return (Path(__file__).parent / "inner" / "native.c").read_text("utf-8")


class Native:
    """Made by `Session.native`. The candidate's process is the loop of `native_source` now, and can do nothing else any more."""

    def __init__(self, watch: Stopwatch, segment: Segment, library: str) -> None:
        self._watch = watch
        self._segment = segment
        self._library = library

    def call(self, pointers: Sequence[int] = (), numbers: Sequence[int] = (), *, seconds: float | None = None) -> Timed:
        """One call with pointers to these offsets in the segment, from `NATIVE_BLOCK` on, and with these numbers: at most 31 of each. The process stands
        still afterwards. Raises `SessionFailed`, and `ValueError` for what cannot be passed."""
        if len(pointers) > _MOST or len(numbers) > _MOST:
            raise ValueError(
                f"a call has {len(pointers)} pointers and {len(numbers)} numbers; {_MOST} of each can be passed"
            )
        for offset in pointers:
            if not NATIVE_BLOCK <= offset < self._segment.size:
                raise ValueError(
                    f"a pointer leads to the offset {offset!r} of a segment of {self._segment.size} bytes. "
                    f"Do: give one from {NATIVE_BLOCK} on, which is where yours begins"
                )
        if any(not -_LARGEST <= number < _LARGEST for number in numbers):
            raise ValueError("a number does not fit into 64 bits")
        what = f"the call of {self._library}"
        places = (*pointers, *[0] * (_MOST - len(pointers)), *numbers, *[0] * (_MOST - len(numbers)))
        _PLACES.pack_into(self._segment.memory, 0, len(pointers), len(numbers), *places)
        return self._watch.signal_lap(what, seconds)
