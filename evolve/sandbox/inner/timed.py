"""The candidate's side of what is timed: it prepares, waits for one byte, works, and sends the same byte back.

Standard library only, for it lives in the template. Nothing of it is trusted once the candidate's first line has run: the judge reads the clocks.
Invariant: between the two bytes nothing happens but the work."""

import ctypes
import importlib
import math
import mmap
import os
from collections.abc import Callable, Sequence
from typing import Any

from evolve.sandbox.inner.folder import Missing

_LOOP = "evolve_loop"
Awaited = Callable[[int, int], None]
"""What is to be done with the descriptors of requests and replies before the next request is read."""


class Timing:
    """Of one session: the segments that are shared with it, in the order in which they came, and what it was told to do at the next signal."""

    def __init__(self) -> None:
        self.awaits: Awaited | None = None
        self._segments: list[mmap.mmap] = []
        self._prepared: tuple[Callable[..., Any], Sequence[Any]] = (_nothing, ())
        self._value: Any = None
        self._error: BaseException | None = None

    def share(self, size: int, file: int) -> None:
        """One more segment."""
        self._segments.append(_mapped(size, file))

    def prepare(self, function: Callable[..., Any] | None, arguments: Sequence[Any], windows: Sequence[Any]) -> None:
        """A call, of nothing where there is no function. Windows are `[position, segment, offset, shape, type]`: arrays that take the places of arguments."""
        given = list(arguments)
        for position, segment, offset, shape, dtype in windows:
            given[position] = _array(self._segments[segment], offset, shape, dtype)
        self._prepared = (function or _nothing, given)
        self.awaits = self._call

    def _call(self, requests: int, replies: int) -> None:
        function, arguments = self._prepared
        mark = os.read(requests, 1)
        try:
            self._value = function(*arguments)
        except BaseException as error:  # noqa: BLE001 a candidate may raise anything; `outcome` raises it again
            self._error = error
        os.write(replies, mark)

    def outcome(self) -> Any:
        """What the call has given; raises what it has raised."""
        value, error = self._value, self._error
        self._prepared, self._value, self._error = (_nothing, ()), None, None
        if error is not None:
            raise error
        return value

    def enter(self, library: str, size: int, file: int) -> None:
        """Has this process become the loop of a library of the working folder, over a segment, when it has said that it can."""
        loaded = ctypes.CDLL(os.path.join(".", library))
        if not hasattr(loaded, _LOOP):
            raise Missing(f"{library} has no function {_LOOP!r}: it was not built with the loop's source")
        loop = loaded[_LOOP]
        loop.argtypes, loop.restype = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p), ctypes.c_int
        self._segments.append(_mapped(size, file))
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._segments[-1]))
        self.awaits = lambda requests, replies: os._exit(loop(requests, replies, address))


def _nothing() -> None:
    return None


def _mapped(size: int, file: int) -> mmap.mmap:
    try:
        return mmap.mmap(file, size)
    finally:
        os.close(file)


def _array(memory: mmap.mmap, offset: int, shape: Sequence[int], dtype: str) -> Any:
    try:
        numpy = importlib.import_module("numpy")
    except ModuleNotFoundError:
        raise Missing("an array in shared memory is an argument, and this Python has no numpy") from None
    return numpy.frombuffer(memory, dtype, math.prod(shape), offset).reshape(shape)
