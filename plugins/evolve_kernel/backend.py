"""Interface of a back end, which brings a language to a machine: building a program, and timed calls of two programs side by side; and the layout of a call's arrays in memory, which all share.

A back end knows compilers, devices and memory, and nothing of rounds, oracles or scores; those are the same for all languages.

Between any two arrays, and at both ends, there are `GUARD` bytes that no honest kernel writes, and what lies beyond them can be sealed; equal arguments and equal draws give equal places, for both programs of a pair."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Protocol

import numpy as np

from evolve import NATIVE_BLOCK, Candidate, Segment
from evolve.types import Task, TaskError
from evolve_kernel.problem import Argument, Arrays
from evolve_kernel.settings import Language


class RefusedProgram(Exception):
    """A program that is not what may be timed; the text says why, for whoever writes programs."""


@dataclass(frozen=True, slots=True)
class Built:
    """A program as it can be loaded: `loaded` is the back end's own, `candidate` the handle under which its processes are opened. `facts` are descriptors by their names."""

    candidate: Candidate
    loaded: Any
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """One call as it is asked of both sides: equal arguments and inputs, and equal places in memory, which `draw` decides."""

    arguments: tuple[Argument, ...]
    inputs: Arrays
    draw: int


@dataclass(frozen=True, slots=True)
class Called:
    """Result of one call: copies of its outputs, which may be anything; `seconds` by the clock that counts, without the cost of a call of nothing. `tag` names in a few words a failure of integrity,
    empty where none was seen. `doubtful`: these seconds are no time, since something has disturbed a clock; a side is so a bounded number of times, and has a tag then."""

    outputs: Arrays
    seconds: float
    tag: str = ""
    doubtful: bool = False


class Side(Protocol):
    """One of the two programs, in its process."""

    def call(self, question: Question, poison: int) -> Called:
        """Writes the inputs anew, fills with poison of the kind 0 or 1 what the program is to write, calls it once, and looks. Raises `SessionFailed`."""
        ...


class Backend(Protocol):
    """One task's language on this machine; made when a worker starts, and used for its life. Making one raises `TaskError` where the machine or the task lacks something."""

    @property
    def shortest(self) -> float:
        """Seconds that the seed takes on a shape at least: below, the clock says nothing."""
        ...

    def build(self, candidate: Candidate, calls: Sequence[tuple[Argument, ...]]) -> Built:
        """Returns a program by the evaluator's own flags, for calls with these arguments; raises `RefusedProgram` and `SessionFailed`."""
        ...

    def open_side(self, program: Built, segment: Segment) -> AbstractContextManager[Side]:
        """Opens a new process of a program, whose calls have their arrays in the segment."""
        ...

    def least_seconds(self, anchor: Candidate, moved: int, operations: int, *, again: bool = False) -> float:
        """Returns how long it takes here at least to move so many bytes and compute so many operations, by measured ceilings. `again`: a program seems to be faster, so that what was measured under
        a load, if it was, is measured once more."""
        ...


_SUFFIXES: Mapping[Language, tuple[str, ...]] = {
    "c": (".c",),
    "c++": (".cc", ".cpp", ".cxx"),
    "triton": (".py",),
    "cuda": (".cu",),
}


def find_source(task: Task, language: Language) -> str:
    """Returns the one file of the program that is compiled; raises `TaskError`."""
    suffixes = _SUFFIXES[language]
    found = [path for path in task.seed.files if PurePosixPath(path).suffix in suffixes]
    if len(found) != 1:
        raise TaskError(
            f"a kernel in {language} has one file that is compiled, with the suffix {' or '.join(suffixes)}, got {', '.join(found) or 'none'}. "
            "Try: name it in program.files, and let it include the others"
        )
    return found[0]


# --- the layout of arrays in memory

OUTSIDE = "wrote outside of its arrays"
ALIGNED = 64
"""Every array begins at a multiple of so many bytes."""
GUARD = 1024
POISONS = (0xFF, 0xA5)
"""The byte of which what is to be written is full before a call: the first makes floats NaN."""
_START = -(-NATIVE_BLOCK // ALIGNED) * ALIGNED
_SEAL = 0x5A5A5A5A5A5A5A5A
"""What the rest of the segment is full of before a call: 8 bytes."""
_PLACES = 64
"""How many places an array may begin at, `ALIGNED` bytes apart: a page."""


def _up(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def segment_for(arguments: Sequence[Argument]) -> Segment:
    """Returns shared memory that is large enough for these arguments; raises `TaskError` where the machine has no such memory."""
    size = count_bytes(arguments)
    try:
        return Segment(size)
    except OSError as error:
        raise TaskError(
            f"there is no memory of {size} bytes to share with a kernel: {error}. Try: give smaller shapes, or evaluate on a machine with more memory"
        ) from None


def count_bytes(arguments: Sequence[Argument]) -> int:
    """Returns bytes of a segment for these arguments, whatever the draw."""
    arrays = [one for one in arguments if one.kind != "number"]
    return _START + _PLACES * ALIGNED + GUARD + sum(_up(one.bytes) + GUARD for one in arrays)


@dataclass(frozen=True, slots=True)
class Layout:
    """The arrays of one call in a segment: `places` has the offset of each, in their order."""

    segment: Segment
    arguments: tuple[Argument, ...]
    places: tuple[int, ...]
    guard: int

    @classmethod
    def of(cls, segment: Segment, arguments: tuple[Argument, ...], draw: int) -> "Layout":
        """Returns one that `draw` decides: where in a page it begins, and what its guards are full of."""
        places, place = [], _START + draw % _PLACES * ALIGNED + GUARD
        for one in arguments:
            if one.kind != "number":
                places.append(place)
                place += _up(one.bytes) + GUARD
        return cls(segment, arguments, tuple(places), 1 + (draw // _PLACES) % 250)

    @property
    def arrays(self) -> list[tuple[Argument, int]]:
        """Arguments that are arrays, and where they are."""
        return list(zip((one for one in self.arguments if one.kind != "number"), self.places, strict=True))

    @property
    def numbers(self) -> list[int]:
        """Values of the arguments that are numbers."""
        return [one.value for one in self.arguments if one.kind == "number"]

    def prepare(self, inputs: Arrays, poison: int) -> None:
        """Writes everything: guards, inputs, and poison where outputs and room are."""
        for array, place in self.arrays:
            self._guard(place - GUARD)[:] = self.guard
            self._after(array, place)[:] = self.guard
            if array.kind == "in":
                self.segment.view(place, array.dims, array.dtype)[:] = inputs[array.name]
            else:
                # With poison an output that was not written is no answer of an earlier call.
                self.segment.view(place, (array.bytes,), "uint8")[:] = POISONS[poison]

    def seal(self) -> None:
        """Writes what lies beyond the guards of all arrays: there, something of an earlier call could be kept."""
        for rest in self._beyond():
            rest[:] = _SEAL

    @property
    def is_sealed(self) -> bool:
        """Everything beyond the guards is as it was written."""
        return all(bool((rest == _SEAL).all()) for rest in self._beyond())

    def outputs(self) -> Arrays:
        """Returns copies of what was filled."""
        return {
            array.name: self.segment.view(place, array.dims, array.dtype).copy()
            for array, place in self.arrays
            if array.kind == "out"
        }

    def violation(self, inputs: Arrays) -> str:
        """Returns what was written that must not be, in a few words; empty where nothing was."""
        for array, place in self.arrays:
            guards = (self._guard(place - GUARD), self._after(array, place))
            if not all((guard == self.guard).all() for guard in guards):
                return OUTSIDE
            if array.kind == "in" and not np.array_equal(
                self.segment.view(place, (array.bytes,), "uint8"), inputs[array.name].reshape(-1).view("uint8")
            ):
                return "modified its inputs"
        return ""

    def _beyond(self) -> "list[np.ndarray[tuple[int], np.dtype[np.int64]]]":
        array, place = self.arrays[-1]
        end = place + _up(array.bytes) + GUARD
        parts = ((_START, self.places[0] - GUARD), (end, self.segment.size))
        return [self.segment.view(first, ((last - first) // 8,), "int64") for first, last in parts if last - first >= 8]

    def _guard(self, place: int) -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
        return self.segment.view(place, (GUARD,), "uint8")

    def _after(self, array: Argument, place: int) -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
        """Returns the bytes from an array's last one to where the next guard, or the rest, begins."""
        return self.segment.view(place + array.bytes, (GUARD + _up(array.bytes) - array.bytes,), "uint8")
