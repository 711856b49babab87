"""Memory that a judge shares with candidates: what is timed finds its inputs there and leaves its outputs, and no data crosses a pipe meanwhile.

Invariant: its size never changes, whoever holds it, so that no candidate can make the judge read past its end. Its bytes may be changed at any
moment by who maps it, unless that is stopped or gone. numpy is imported when an array is asked for."""

import fcntl
import importlib
import math
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from evolve.sandbox.outbox import memory_file
from evolve.sandbox.wire import ARRAY_TYPES
from evolve.types import SandboxError

if TYPE_CHECKING:  # the judge may run where there is none
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Window:
    """An array in a segment, as an argument of a timed call: `offset` in bytes, `dtype` the name of an element type that may cross."""

    segment: "Segment"
    offset: int
    shape: tuple[int, ...]
    dtype: str

    def view(self) -> "NDArray[Any]":
        """The same array, here."""
        numpy = importlib.import_module("numpy")
        found: NDArray[Any] = numpy.frombuffer(
            self.segment.memory, self.dtype, math.prod(self.shape), self.offset
        ).reshape(self.shape)
        return found


class Segment:
    """`size` bytes of zeros at first; `memory` is what is mapped here. Close it, or use it in a `with` block: arrays that were made of it may outlive that.
    Raises `SandboxError` where the system has no files in memory."""

    def __init__(self, size: int) -> None:
        if type(size) is not int or size <= 0:
            raise ValueError(f"a segment has a size of {size!r} bytes. Do: give a whole number above 0")
        self.size = size
        self._file = memory_file("segment")
        if self._file < 0:
            raise SandboxError(
                "there is no memory to share: this system has no files in memory that can be sealed. Do: judge on Linux"
            )
        try:
            os.ftruncate(self._file, size)
            fcntl.fcntl(self._file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
            self.memory = mmap.mmap(self._file, size)
        except OSError:
            os.close(self._file)
            raise

    def __enter__(self) -> "Segment":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self.close()

    def fileno(self) -> int:
        """The file, to be sent to a candidate."""
        return self._file

    def window(self, offset: int, shape: Sequence[int], dtype: str) -> Window:
        """An array in it as an argument of `Session.timed`; raises `ValueError` for one that does not lie in it."""
        if dtype not in ARRAY_TYPES:
            raise ValueError(f"an array is of type {dtype!r}; allowed are {', '.join(ARRAY_TYPES)}")
        wanted = tuple(shape)
        if offset < 0 or any(length < 0 for length in wanted):
            raise ValueError(f"an array of shape {wanted} at {offset} bytes is none. Do: give numbers from 0 on")
        end = offset + ARRAY_TYPES[dtype] * math.prod(wanted)
        if end > self.size:
            raise ValueError(
                f"an array of shape {wanted} and type {dtype} at {offset} bytes ends at {end}, and the segment has {self.size}. "
                "Do: make the segment larger"
            )
        return Window(self, offset, wanted, dtype)

    def view(self, offset: int, shape: Sequence[int], dtype: str) -> "NDArray[Any]":
        """An array in it, not copied: it changes as the candidate writes. Raises as `window` does."""
        return self.window(offset, shape, dtype).view()

    def close(self) -> None:
        """No more candidates can have it; the memory goes with the last who maps it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
