"""What a reply comes to.

Invariant: the program differs from the one that was shown."""

from dataclasses import dataclass

from evolve.types import Program


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program that a reply describes. `thought`: the hypothesis that the reply states, one line of at most 500 characters, empty
    where it states none."""

    program: Program
    thought: str
