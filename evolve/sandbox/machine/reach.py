"""What an interpreter needs and candidates may not read, where they are another user than the judge: root's own files, as a strict file mask
leaves them, would be held against programs as modules that are not there.

Standard library only, for a task's own Python needs this too. Invariant: what is looked at is modes alone; nothing is read but the names in
folders that modules are imported from."""

import contextlib
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from evolve.sandbox.machine.paths import is_below
from evolve.sandbox.machine.visible import MODULES, Visible

_OF_PACKAGES = (".dist-info", ".egg-info")
_OTHERS_READ = 0o004
_OTHERS_ENTER = 0o001
_NAMED = 5


def closed_to_others(found: Visible, *, private: bool, loose: bool = True) -> tuple[str, ...]:
    """What has to be opened, whole folders where packages were installed there; nothing where candidates can read what they import.
    `private`: they have a file tree of their own, in which the folders on the way are made for them; `loose`: modules count as well that are no
    part of the interpreter, such as editable packages."""
    own = frozenset(path for path in map(Path, found.own) if not path.is_symlink())
    parts = [path for path in own if _is_closed(path)]
    folders = [folder for folder in map(Path, found.modules) if loose or is_below(folder, own)]
    closed = parts or [place for folder in folders for place in _closed_in(folder, found, own, private)]
    return tuple(sorted(set(map(str, closed))))


def closed_folder(place: str) -> str:
    """The first folder on the way to a place, or to what it is a link to, that users who own nothing there may not enter; empty
    where there is none."""
    for path in (Path(place), Path(os.path.realpath(place))):
        for folder in reversed(path.absolute().parents):
            with contextlib.suppress(OSError):
                if not folder.stat().st_mode & _OTHERS_ENTER:
                    return str(folder)
    return ""


def remedy(closed: tuple[str, ...]) -> str:
    """The command that opens it."""
    return f"`chmod -R o+rX {shlex.join(closed[:_NAMED])}`"


def _closed_in(folder: Path, found: Visible, own: frozenset[Path], private: bool) -> Iterator[Path]:
    """Of a folder that modules are imported from: the first closed one on the way to it; else the folder, where packages in it are closed,
    or these alone where it is no part of the interpreter and may hold anything."""
    inside = is_below(folder, own)
    way = [path for path in (*reversed(folder.parents), folder) if is_below(path, own)]
    if not inside and not private:
        way = [folder]
    first = next(filter(_is_closed, way), None)
    if first is not None:
        yield first
    elif folder.is_dir():
        closed = [entry for entry in _packages(folder, found) if _is_closed(entry)]
        yield from [folder] if inside and closed else closed


def _packages(folder: Path, found: Visible) -> Iterator[Path]:
    """What can be imported from a folder, of what candidates see."""
    visible, hidden = frozenset(map(Path, found.visible)), frozenset(map(Path, found.hidden))
    for entry in folder.iterdir():
        importable = entry.suffix in (*MODULES, *_OF_PACKAGES) or (entry.name.isidentifier() and entry.is_dir())
        if importable and entry.name != "__pycache__" and is_below(entry, visible) and not is_below(entry, hidden):
            yield entry


def _is_closed(path: Path) -> bool:
    """Whether others may not read a file, or not list and enter a folder; what is not there, or leads nowhere, is not closed."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    needed = _OTHERS_READ | (_OTHERS_ENTER if path.is_dir() else 0)
    return mode & needed != needed
