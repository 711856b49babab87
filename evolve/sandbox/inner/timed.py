"""The candidate's side of what is timed: it looks a function up, and calls it when its arguments come, or at a signal; or it becomes the loop of a library.

Standard library only, for it lives in the template. Nothing of it is trusted once the candidate's first line has run: the judge reads the clocks."""

import ctypes
import importlib
import math
import mmap
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evolve.sandbox.inner.folder import Missing

_LOOP = "evolve_loop"
Awaited = Callable[[int, int], None]
"""What is to be done with the descriptors of requests and replies before the next request is read."""


class Timing:
    """Of one session: the segments that are shared with it, in the order in which they came, and the function that it was told to call."""

    def __init__(self) -> None:
        self.awaits: Awaited | None = None
        self._segments: list[mmap.mmap] = []
        self._prepared: tuple[Callable[..., Any], dict[int, Any]] = (_nothing, {})

    def share(self, size: int, file: int) -> None:
        """One more segment."""
        self._segments.append(_mapped(size, file))

    def prepare(self, function: Callable[..., Any] | None, windows: Sequence[Any], by_signal: bool) -> None:
        """The next call, of nothing where there is no function. Windows are `[position, segment, offset, shape, type]`: arrays that take the places of arguments.
        `by_signal`: there are no others, and one byte says go."""
        arrays = {
            position: _array(self._segments[segment], offset, shape, dtype)
            for position, segment, offset, shape, dtype in windows
        }
        self._prepared = (function or _nothing, arrays)
        self.awaits = self._call if by_signal else None

    def work(self, *arguments: Any) -> Any:
        """What the function that was prepared gives, or has given at a signal; raises what it raises."""
        (function, arrays), self._prepared = self._prepared, (_nothing, {})
        return function(*[arrays.get(place, argument) for place, argument in enumerate(arguments)])

    def _call(self, requests: int, replies: int) -> None:
        """Works between two bytes, between which nothing else happens."""
        function, arrays = self._prepared
        mark = os.read(requests, 1)
        value, error = None, None
        try:
            value = function(*arrays.values())
        except BaseException as raised:  # noqa: BLE001 a candidate may raise anything; `work` raises it again
            error = raised
        os.write(replies, mark)
        self._prepared = (partial(_outcome, value, error), {})

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


def _outcome(value: Any, error: BaseException | None) -> Any:
    if error is not None:
        raise error
    return value


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
