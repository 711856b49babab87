"""What a language needs of a machine: building a program, and timed calls of two programs side by side.

Invariant: a back end knows compilers, devices and memory, and nothing of rounds, oracles or scores; those are the same for all languages."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from evolve import Candidate
from evolve_kernel.arguments import Argument
from evolve_kernel.problem import Arrays


class Refused(Exception):
    """A program that is not what may be timed; the text says why, for whoever writes programs."""


@dataclass(frozen=True, slots=True)
class Built:
    """A program as it can be loaded: `loaded` is the back end's own. `facts` are descriptors by their names, `remarks` what the compiler said about its loops."""

    loaded: Any
    facts: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    """What came of one call: copies of its outputs; `seconds` by the clock that counts, without the call's own cost; `tag` names in a few words a failure of integrity that was seen,
    empty where there was none. `outputs` may be anything that the program wrote."""

    outputs: Arrays
    seconds: float
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One call as it is asked of both sides: equal arguments, inputs, and places in memory, which `draw` decides."""

    arguments: tuple[Argument, ...]
    inputs: Arrays
    draw: int


class Side(Protocol):
    """One of the two programs in its process."""

    def call(self, question: Question, poison: int) -> Called:
        """Writes the inputs anew, fills what is written with something of the kind `poison` (0 or 1), calls once, looks. Raises `SessionFailed`."""
        ...


class Backend(Protocol):
    """One language on this machine; made when a judge starts, kept for its life. Raises `TaskError` where the machine lacks something."""

    def build(self, candidate: Candidate) -> Built:
        """A program by the judge's own flags; raises `Refused` and `SessionFailed`."""
        ...

    def sides(
        self, candidate: Candidate, mine: Built, anchor: Candidate, theirs: Built
    ) -> AbstractContextManager[tuple[Side, Side]]:
        """New processes of both programs, ready to be timed."""
        ...

    def least_seconds(self, anchor: Candidate, moved: int, operations: int) -> float:
        """How long so many bytes and operations take at least here, by measured ceilings."""
        ...
