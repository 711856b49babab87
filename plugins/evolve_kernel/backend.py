"""Interface of a back end, which brings a language to a machine: building a program, and timed calls of two programs side by side.

A back end knows compilers, devices and memory, and nothing of rounds, oracles or scores; those are the same for all languages."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from evolve import Candidate
from evolve_kernel.problem import Argument, Arrays


class RefusedProgram(Exception):
    """A program that is not what may be timed; the text says why, for whoever writes programs."""


@dataclass(frozen=True, slots=True)
class Built:
    """A program as it can be loaded: `loaded` is the back end's own. `facts` are descriptors by their names."""

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

    def sides(
        self, candidate: Candidate, mine: Built, anchor: Candidate, theirs: Built, largest: Sequence[Argument]
    ) -> AbstractContextManager[tuple[Side, Side]]:
        """Returns new processes of both programs, with room for calls with the `largest` arguments, and smaller ones."""
        ...

    def least_seconds(self, anchor: Candidate, moved: int, operations: int, *, again: bool = False) -> float:
        """Returns how long it takes here at least to move so many bytes and compute so many operations, by measured ceilings. `again`: a program seems to be faster, so that what was measured under
        a load, if it was, is measured once more."""
        ...
