"""`fix`: a model mends a program that failed.

Invariant: the model reads how the program failed, and mends that program and no other."""

from collections.abc import Sequence

from evolve.operators.written.dialogue import written
from evolve.operators.written.settings import WritingSettings
from evolve.protocols import Context
from evolve.types import FAILURES, Child, EditError, Selection


class Fix:
    """The least change with which a failed program runs and keeps its idea."""

    def __init__(self, settings: WritingSettings) -> None:
        self._settings = settings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """A child for each answer at least; raises `EditError` where no parent failed, `ModelError` where there is no answer."""
        failed = [record for record in selection.parents[:1] if context.history.outcome(record) in FAILURES]
        if not failed:
            raise EditError(
                f"{selection.operator} mends a program that failed, and the selection has none. Do: select a failure as the parent"
            )
        return written("fix", selection, context, self._settings)
