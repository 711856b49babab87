"""From what a model answered to programs, and from two programs to the edit that leads from one to the other.

Invariant: only what is inside the blocks changes; an edit that fits nowhere, or in two places, is an error that says so and no guess."""

from evolve.changes import refusal
from evolve.edits.candidate import Candidate
from evolve.edits.failure import EditFailed, EditKind
from evolve.edits.parsing import unparsable
from evolve.edits.reading import read
from evolve.edits.writing import diff

__all__ = ["refusal", "Candidate", "EditFailed", "EditKind", "diff", "read", "unparsable"]
