"""Programs of the parents that a selection names.

A selection that cannot be used is an `EditError` with its remedy."""

from evolve.operators.literals import LiteralTemplate, template
from evolve.protocols import History
from evolve.types import EditError, Program, Selection


def parent_program(selection: Selection, history: History) -> Program:
    """Returns the program of the selection's first parent; raises `EditError` where there is none."""
    program = history.program_id(selection.parents[0]) if selection.parents else None
    if program is None:
        raise EditError(
            f"{selection.operator} changes a parent's program, and the selection has none. Do: select a parent"
        )
    return history.program(program)


def tunable(program: Program) -> LiteralTemplate:
    """Returns the program as a template with at least one literal; raises `EditError`."""
    form = template(program)
    if not form.values:
        raise EditError(
            f"no numeric literal to tune in {', '.join(program.files)}. "
            "Do: use another operator, or write the numbers that matter as decimal literals"
        )
    return form
