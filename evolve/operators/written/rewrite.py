"""`rewrite`: a model writes a program anew.

Invariant: it is asked for another approach, and not for another version of the same."""

from collections.abc import Sequence

from evolve.operators.written.dialogue import written
from evolve.operators.written.settings import WritingSettings
from evolve.protocols import Context
from evolve.types import Child, Selection


class Rewrite:
    """Whole files in the place of the first parent's."""

    def __init__(self, settings: WritingSettings) -> None:
        self._settings = settings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """A child for each answer at least; raises `EditError` where there is no parent, `ModelError` where there is no answer."""
        return written("rewrite", selection, context, self._settings)
