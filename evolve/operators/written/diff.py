"""`diff`: a model changes places of a program, in edits.

Invariant: the wanted size of the change is drawn before the model is asked, so that equal steps ask alike."""

from collections.abc import Sequence

from pydantic import Field

from evolve.operators.parents import parent_program
from evolve.operators.written.dialogue import written
from evolve.operators.written.settings import WritingSettings
from evolve.operators.written.size import changeable_lines, in_words, wanted_lines
from evolve.protocols import Context
from evolve.types import Child, Selection

FEW = 10
"""With fewer lines that may change no size is wished for: something must be written first."""


class DiffSettings(WritingSettings):
    """Settings of `diff`."""

    size_exponent: float = Field(default=1.5, ge=0.0, le=10.0)
    """Of the power law that the wanted size of a change is drawn from; 0: every size is as likely."""


class Diff:
    """Edits of the first parent."""

    def __init__(self, settings: DiffSettings) -> None:
        self._settings = settings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """A child for each answer at least; raises `EditError` where there is no parent, `ModelError` where there is no answer."""
        lines = changeable_lines(parent_program(selection, context.history))
        wanted = wanted_lines(lines, self._settings.size_exponent, context.rng)
        words = {"size": in_words(wanted, lines)} if lines >= FEW else {}
        return written("diff", selection, context, self._settings, words)
