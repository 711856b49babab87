"""Programs of the parents that a selection names.

A selection that cannot be used is an `EditError` with its remedy."""

from evolve.protocols import History
from evolve.types import EditError, Program, Selection


def parent_program(selection: Selection, history: History) -> Program:
    """Returns the program of the selection's first parent; raises `EditError` where there is none."""
    program = history.program_id(selection.parents[0]) if selection.parents else None
    if program is None:
        raise EditError(
            f"{selection.operator} changes a parent's program, and the selection has none. Try: select a parent"
        )
    return history.program(program)
