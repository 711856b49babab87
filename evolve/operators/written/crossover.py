"""`crossover`: a model makes one program of two.

Invariant: the parents differ; a child is a change of the first one."""

from collections.abc import Sequence

from evolve.operators.written.dialogue import written
from evolve.operators.written.settings import WritingSettings
from evolve.protocols import Context
from evolve.types import Child, EditError, Selection


class Crossover:
    """What is good in each of the parents, in one program."""

    def __init__(self, settings: WritingSettings) -> None:
        self._settings = settings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """A child for each answer at least; raises `EditError` where there are no two programs, `ModelError` where there is no answer."""
        programs = {context.history.program_id(record) for record in selection.parents} - {None}
        if len(programs) < 2:
            raise EditError(
                f"{selection.operator} makes one program of two, and the selection has {len(programs) or 'none'}. "
                "Do: select parents with programs that differ"
            )
        return written("crossover", selection, context, self._settings)
