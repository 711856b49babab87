"""Errors of replies that are no program: a kind to count by, and a message that goes back to the model as it is.

A message has at most 3,000 characters; it names the edit and the file, shows the lines that are there, and ends with what to do."""

from collections.abc import Sequence
from enum import StrEnum

from evolve.types import EditError

LONGEST_MESSAGE = 3_000
_LONGEST_LINE = 160
_MOST_LINES = 16


class EditKind(StrEnum):
    """Kinds of faults of a reply. The names are stable: reports count by them."""

    NO_EDIT = "no_edit"
    """Neither an edit nor a program is in it."""
    CUT_OFF = "cut_off"
    """The reply ends in the middle of an edit, or the model was stopped at its longest."""
    NOT_FOUND = "not_found"
    """A SEARCH text stands nowhere."""
    AMBIGUOUS = "ambiguous"
    """A SEARCH text stands in several places, or an edit does not say where."""
    OUTSIDE = "outside"
    """An edit would change text outside the blocks."""
    NO_OP = "no_op"
    """The program would stay as it is."""
    UNKNOWN_FILE = "unknown_file"
    """The file that it names is none of the program's, and no new one that is allowed."""
    CONFLICT = "conflict"
    """Two edits change the same lines."""
    UNPARSABLE = "unparsable"
    """An edit itself cannot be read: a marker is missing, or it is a diff."""
    ELIDED = "elided"
    """New text stands for other text: `...`, or `# rest unchanged`."""
    TOO_LARGE = "too_large"
    """More edits, or a larger file, than any program needs."""


class EditFailed(EditError):
    """A reply that cannot be applied. The message is for the model that wrote it."""

    def __init__(self, kind: EditKind, message: str) -> None:
        # The message goes back into a prompt, whose room is limited.
        super().__init__(message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 4]} ...")
        self.kind = kind


def quote_lines(lines: Sequence[str], most: int = _MOST_LINES) -> str:
    """Returns lines as a message quotes them, each behind `| `: of many the first and the last, of long ones the beginning."""
    if len(lines) > most:
        lines = [*lines[: most // 2], f"[{len(lines) - most + 1} lines more]", *lines[len(lines) - most // 2 + 1 :]]
    return "\n".join(f"| {_cut(line.rstrip())}" for line in lines)


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 4]} ..."
