"""Arrays that evaluator and program share, so that no time goes into handing them over: arguments lie in one piece of memory, and the answer is written into it.

Each session has memory of its own. The answer is copied while the program stands still, so that nothing that it does later is in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evolve import Segment, Timed

ARRAY_TYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64"),
)
"""Types of elements that can be shared."""
_ALIGNED = 64
"""Bytes at whose multiples arrays begin: those of a line of the cache."""


@dataclass(frozen=True, slots=True)
class Room:
    """What an answer is written into."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(slots=True)
class SharedSession:
    """A timed session whose arguments are arrays that are shared. Its memory grows with the calls."""

    session: Any
    _segment: Segment | None = field(default=None, init=False)

    def timed(self, function: str, room: Room, *arrays: NDArray[Any], seconds: float | None = None) -> Timed:
        """Calls `function(answer, *arrays)`, which fills `answer`; returns the call with a copy of that as its value. Before, it is full of ones: no number, or a negative one."""
        windows = self._place([(room.shape, room.dtype), *((one.shape, one.dtype.name) for one in arrays)])
        for window, array in zip(windows[1:], arrays, strict=True):
            window.view()[...] = array
        answer = windows[0].view()
        answer.view("uint8")[...] = 0xFF
        copies: list[NDArray[Any]] = []
        took: Timed = self.session.timed(
            function, *windows, seconds=seconds, meanwhile=lambda: copies.append(answer.copy())
        )
        return replace(took, value=copies[0])

    def _place(self, arrays: Sequence[tuple[tuple[int, ...], str]]) -> list[Any]:
        """Returns windows for arrays of these shapes and types, one behind the other."""
        sizes = [int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize for shape, dtype in arrays]
        starts = np.cumsum([0, *(-(-size // _ALIGNED) * _ALIGNED for size in sizes)]).tolist()
        if self._segment is None or self._segment.size < starts[-1]:
            self.close()
            self._segment = Segment(max(_ALIGNED, starts[-1]))
        return [
            self._segment.window(start, shape, dtype) for start, (shape, dtype) in zip(starts, arrays, strict=False)
        ]

    def close(self) -> None:
        """Gives the memory back."""
        if self._segment is not None:
            self._segment.close()
            self._segment = None
