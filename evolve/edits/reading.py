"""From a model's reply to candidates."""

from collections.abc import Sequence

from evolve.edits.candidate import Candidate
from evolve.edits.failure import EditFailed, EditKind
from evolve.types import Program


def read(reply: str, program: Program, *, new_files: Sequence[str] = (), finish: str = "") -> tuple[Candidate, ...]:
    """The programs that a reply to `program` describes, in its order: at least one. `new_files`: patterns of the paths that may be
    added; `finish`: why the model stopped, `length` where it was cut. Raises `EditFailed` where nothing can be applied."""
    raise EditFailed(EditKind.NO_EDIT, "nothing can be read yet")
