"""The files of a program, of its task's context and of its build, as they lie in the candidate's working folder, and out of it again.

Standard library only, for it lives in the template. Where several have the same file, there is the build's, else the
context's; nothing is written outside the folder, and nothing twice; nothing is read through a link."""

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath


class Missing(Exception):
    """Something that was asked for is not in the program, or cannot be had of it."""


class ProgramFolder:
    """Files of a program by name. They are written where the process stands, and only when they are needed."""

    def __init__(self, program: Mapping[str, str], context: Mapping[str, str]) -> None:
        # The context comes last: what is written later stays, also where names differ and places do not.
        own = {path: text for path, text in program.items() if path not in context}
        self.files: dict[str, str | bytes] = {**own, **context}
        self._written: set[str] = set()

    def place(self, files: Mapping[str, bytes]) -> None:
        """More files, before anything is written."""
        for path, content in files.items():
            self.files.pop(path, None)  # and so the new one is written last
            self.files[path] = content

    def text(self, path: str) -> str:
        """A file's text, empty where there is none; raises `Missing` for bytes that are none."""
        content = self.files.get(path, "")
        try:
            return content if isinstance(content, str) else content.decode()
        except UnicodeDecodeError as error:
            raise Missing(f"the file {path!r} is no text: {error.reason}") from None

    def write(self, *, modules: bool) -> None:
        """Writes what was not written before. Without `modules` all but Python's, which are imported from memory; a command needs
        those too. Raises `Missing` for a name that leads out of the folder, or is both a file and a folder."""
        for path, content in self.files.items():
            if path not in self._written and (modules or not path.endswith(".py")):
                _write(path, content)
                self._written.add(path)


def _write(path: str, content: str | bytes) -> None:
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts:
        raise Missing(f"the file name {path!r} leads out of the program's folder")
    try:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            Path(place).write_text(content, encoding="utf-8")
        else:
            Path(place).write_bytes(content)
            Path(place).chmod(0o700)  # what was built may be a program
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise Missing(
            f"the file {path!r} cannot lie beside the others: a name is that of a file and of a folder"
        ) from None


def read_files(names: Sequence[str], most: int, *, absent_ok: bool = False) -> dict[str, bytes]:
    """Returns the content of files in the working folder, `most` bytes together. Raises `Missing` for one that is not there (unless that
    is `absent_ok`), is no ordinary file, lies behind a link, or is too much."""
    found: dict[str, bytes] = {}
    for name in names:
        content = _read_content(name, most - sum(map(len, found.values())), absent_ok)
        if content is not None:
            found[name] = content
    return found


def _read_content(name: str, most: int, absent_ok: bool) -> bytes | None:
    try:
        file = _open_without_links(PurePosixPath(name))
    except OSError as error:
        if absent_ok and isinstance(error, FileNotFoundError):
            return None
        raise Missing(f"the file {name!r} cannot be kept: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Missing(f"the file {name!r} cannot be kept: it is no ordinary file")
    with open(file, "rb") as source:
        # One byte more than allowed tells a file that is too large, whatever size it claims or grows to.
        content = source.read(most + 1)
    if len(content) > most:
        raise Missing(f"the file {name!r} cannot be kept: that would be too many bytes")
    return content


def _open_without_links(place: PurePosixPath) -> int:
    """A descriptor of a file, folder by folder, so that no link is followed. Without waiting, for it may be a pipe."""
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in place.parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)
