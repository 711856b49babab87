"""Removes what a candidate left, however deep, wide or closed it is.

Standard library only, for it lives in the template. Invariant: a link is removed and never followed; neither depth nor width costs more than
one descriptor and the names. To be used only while no process of a candidate lives."""

import contextlib
import os
import stat
from pathlib import Path


def remove(name: str, folder: int) -> None:
    """Removes whatever `name` is in the open `folder`, folders that were made unreadable too."""
    if not _is_folder(name, folder):
        os.unlink(name, dir_fd=folder)
        return
    current = _entered(name, folder)
    try:
        above = [_emptied_of_files(current)]
        path: list[str] = []
        while above:
            if above[-1]:
                path.append(above[-1].pop())
                current = _moved(current, _entered(path[-1], current))
                above.append(_emptied_of_files(current))
            else:
                above.pop()
                if path:
                    current = _moved(current, os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=current))
                    os.rmdir(path.pop(), dir_fd=current)
    finally:
        os.close(current)
    os.rmdir(name, dir_fd=folder)


def remove_tree(path: str) -> None:
    """Removes the folder at `path` with all that is in it; what cannot be removed stays, and nothing is said of it."""
    place = Path(path)
    with contextlib.suppress(OSError):
        folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            remove(place.name, folder)
        finally:
            os.close(folder)


def _moved(current: int, to: int) -> int:
    os.close(current)
    return to


def _entered(name: str, folder: int) -> int:
    """The folder `name`, opened, with all rights given back to us."""
    os.chmod(name, 0o700, dir_fd=folder)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)


def _emptied_of_files(folder: int) -> list[str]:
    """Removes all that is no folder; the names of those that are."""
    inner = []
    for name in os.listdir(folder):
        if _is_folder(name, folder):
            inner.append(name)
        else:
            os.unlink(name, dir_fd=folder)
    return inner


def _is_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
