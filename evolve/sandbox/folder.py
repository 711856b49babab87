"""The files of a program and of its task's context, as they lie in the candidate's working folder.

Standard library only, for it lives in the template. Invariant: where a program and its context have the same file, there is the
context's; nothing is written outside the folder, and nothing twice."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath


class Missing(Exception):
    """What was asked for is not in the program, or cannot be had of it."""


class Folder:
    """All files by name. They are written where the process stands, and only when they are needed."""

    def __init__(self, program: Mapping[str, str], context: Mapping[str, str]) -> None:
        # The context comes last: what is written later stays, also where names differ and places do not.
        own = {path: text for path, text in program.items() if path not in context}
        self.files: Mapping[str, str] = {**own, **context}
        self._written: set[str] = set()

    def write(self, *, modules: bool) -> None:
        """Writes what was not written before. Without `modules` all but Python's, which are imported from memory; a command needs
        those too. Raises `Missing` for a name that leads out of the folder, or is both a file and a folder."""
        for path, text in self.files.items():
            if path not in self._written and (modules or not path.endswith(".py")):
                _write(path, text)
                self._written.add(path)


def _write(path: str, text: str) -> None:
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts:
        raise Missing(f"the file name {path!r} leads out of the program's folder")
    try:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text(text, encoding="utf-8")
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise Missing(
            f"the file {path!r} cannot lie beside the others: a name is that of a file and of a folder"
        ) from None
