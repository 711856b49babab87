"""Children that a model's replies are: the program, or the reason why there is none."""

from collections.abc import Sequence

from evolve.edits.changes import find_syntax_error
from evolve.edits.errors import EditFailed, EditKind
from evolve.edits.reply import read
from evolve.types import Child, Program, RefusalCode, Reply

FINAL = frozenset({EditKind.NO_OP, EditKind.CUT_OFF, EditKind.TOO_LARGE})
"""Kinds of failure that another round does not repair: they are no slips, or the answer would be as long again."""


def read_child(reply: Reply, parent: Program, new_files: Sequence[str] = ()) -> tuple[Child, bool]:
    """Returns the child of a reply, and whether it has no program for a reason that another round may repair, which is its thought. `new_files` are patterns of
    the files that it may add."""
    try:
        found = read(reply.text, parent, new_files=new_files, finish=reply.finish)
    except EditFailed as error:
        child = Child(None, str(error), call=reply.call, refusal=error.kind.value)
        return child, error.kind not in FINAL and reply.finish != "refused"
    if fault := find_syntax_error(found.program, parent):
        return Child(None, fault, call=reply.call, refusal=RefusalCode.SYNTAX_ERROR.value), True
    return Child(found.program, found.thought, call=reply.call), False
