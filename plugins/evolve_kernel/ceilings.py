"""Ceilings of this machine: bytes that one core reads in a second, operations that it computes. Measured by code of the evaluator's own.

A kernel cannot be faster than both allow, so one that seems to be was timed wrongly, or has not done its work. Source: the roofline model (Williams, Waterman and Patterson 2009, https://doi.org/10.1145/1498765.1498785).
The fastest of several measurements counts, for whatever else ran meanwhile only makes slower."""

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from evolve import NATIVE_BLOCK, Candidate, Segment, native_source
from evolve_kernel.compiler import LINK, Compiler

LIBRARY = "ceilings.so"
_SOURCE = Path(__file__).with_name("ceilings.c")
_FLAGS = ("-O3", "-march=native", "-ffp-contract=fast")
_READING = 1
_ARITHMETIC = {2: 8, 3: 16}
"""Kinds of arithmetic, and how many numbers a register of it has."""
_CHAINS, _OPERATIONS = 10, 2
_SMALLEST, _LARGEST = 1 << 16, 1 << 26
_TRIES = 5
_LEAST = 2e-3
"""Seconds of processor time that a measurement takes at least."""
_RESULT, _DATA = NATIVE_BLOCK, NATIVE_BLOCK + 512


class Ceilings:
    """Ceilings of one machine; measured when first asked for."""

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._library = b""
        self._reading: dict[int, float] = {}
        self._arithmetic = 0.0

    def least_seconds(self, anchor: Candidate, moved: int, operations: int, *, again: bool = False) -> float:
        """Returns the longer of reading so many bytes from where memory of that size lies when it has just been used, and of so many operations in single precision. `anchor` is a program that the evaluator
        trusts, in whose place its own code runs. `again`: measured once more, for something may have slowed the first measurement down."""
        size = _class(moved)
        if again or size not in self._reading or not self._arithmetic:
            with self._calls(anchor, size) as rate:
                self._reading[size] = max(self._reading.get(size, 0.0), rate(_READING, size))
                found = [rate(kind, _CHAINS * _OPERATIONS * width) for kind, width in _ARITHMETIC.items()]
                self._arithmetic = max(self._arithmetic, *found)
        return max(moved / self._reading[size], operations / self._arithmetic)

    @contextmanager
    def _calls(self, anchor: Candidate, size: int) -> Any:
        """Yields a function that gives how much is done in a second, where one time of a kind does so much."""
        with (
            Segment(_DATA + size) as segment,
            anchor.session(files={LIBRARY: self._built(anchor)}, timed=True) as session,
        ):
            segment.view(_RESULT, (1,), "float32")[:] = 0.5
            segment.view(_DATA, (size,), "uint8")[:] = 1
            native = session.native(LIBRARY, segment)
            nothing = median(native.call((_RESULT, _DATA), (0, 0, size)).cpu for _ in range(_TRIES))

            def seconds(kind: int, times: int) -> float:
                return float(native.call((_RESULT, _DATA), (kind, times, size)).cpu - nothing)

            yield lambda kind, amount: _fastest(lambda times: seconds(kind, times), amount)

    def _built(self, anchor: Candidate) -> bytes:
        if not self._library:
            files = {"ceilings.c": _SOURCE.read_bytes(), "loop.c": native_source().encode()}
            command = [*self._compiler.own_command(_FLAGS), *LINK, "-o", LIBRARY, *files]
            self._library = anchor.build(command, [LIBRARY], files=files)[LIBRARY]
        return self._library


def _class(size: int) -> int:
    """Returns the power of two at which a size is measured: not larger than it, so that no slower memory is needed."""
    return min(max(_SMALLEST, 1 << (size.bit_length() - 1)), _LARGEST)


def _fastest(seconds: Callable[[int], float], amount: int) -> float:
    """Returns how much of what is `amount` each time is done in a second: the best of some tries that each take long enough."""
    times = 1
    while (taken := seconds(times)) < _LEAST:
        times *= 2 if taken <= 0 else min(16, max(2, int(1.5 * _LEAST / taken) + 1))
    return max(times * amount / max(seconds(times), 1e-9) for _ in range(_TRIES))
