"""Folder in which candidates may leave files, its renewal between two sessions, and the removal of what they left, however deep, wide or closed.

Standard library only, for it lives in the template. A link that a candidate planted is removed, never followed. To be used only while no process
of a candidate lives."""

import contextlib
import itertools
import math
import os
import stat
import time
from collections.abc import Callable, Generator
from pathlib import Path

_AT_A_TIME = 256
"""So many names of a folder are held at once."""
NAME = "scratch"


def remove(name: str, folder: int, seconds: float = math.inf) -> bool:
    """Removes whatever `name` is in the open `folder`, folders that were made unreadable too, for `seconds` at most; whether nothing of it is
    left. Raises `OSError` for what cannot be removed."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=folder)
        return True
    inner = _enter(name, folder)
    try:
        if not clear(inner, seconds):
            return False
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder)
    return True


def clear(folder: int, seconds: float = math.inf, clock: Callable[[], float] = time.monotonic) -> bool:
    """Removes all that is in the open `folder`, for `seconds` at most; whether it is empty. Raises as `remove` does."""
    deadline = clock() + seconds
    with contextlib.closing(_steps(folder)) as steps:
        return all(clock() < deadline for _ in steps)


def remove_tree(path: str, seconds: float = math.inf) -> None:
    """Removes the folder at `path` with all that is in it; what cannot be removed, or not within so many seconds, stays, and nothing is said of it."""
    place = Path(path)
    with contextlib.suppress(OSError):
        folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            remove(place.name, folder, seconds)
        finally:
            os.close(folder)


def _steps(folder: int) -> Generator[None, None, None]:
    """Removes what is in the folder, and pauses after each entry that was looked at or removed."""
    current = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    path: list[str] = []
    waiting: list[list[str]] = [[]]
    try:
        while waiting:
            if not waiting[-1]:
                waiting[-1] = yield from _remove_files(current)
            if waiting[-1]:
                path.append(waiting[-1].pop())
                current = _replace_descriptor(current, _enter(path[-1], current))
                waiting.append([])
                continue
            waiting.pop()
            if path:
                # By `..` and not by a stack of descriptors: a candidate can make folders deeper than files may be open.
                current = _replace_descriptor(current, os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=current))
                os.rmdir(path.pop(), dir_fd=current)
                yield
    finally:
        os.close(current)


def _remove_files(folder: int) -> Generator[None, None, list[str]]:
    """Removes all that is no folder; the names of some folders in it, none when nothing is left. A disk may pass over entries while others
    are removed: it is read again until it shows none."""
    while True:
        inner: list[str] = []
        empty = True
        with os.scandir(folder) as entries:
            for entry in entries:
                empty = False
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.name, dir_fd=folder)
                elif len(inner) < _AT_A_TIME:
                    inner.append(entry.name)
                yield
        if inner or empty:
            return inner


def _replace_descriptor(current: int, to: int) -> int:
    os.close(current)
    return to


def _enter(name: str, folder: int) -> int:
    """The folder `name`, opened, with all rights given back to us."""
    os.chmod(name, 0o700, dir_fd=folder)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)


class Scratch:
    """The folder `scratch` inside `home`, which is ours alone; it belongs to `user`, where that is not -1. The open descriptor of `home` holds it, wherever a candidate moves it."""

    def __init__(self, home: str, user: int = -1) -> None:
        self._user = user
        self.path = os.path.join(home, NAME)
        self._home = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        self._open = -1
        self._make()

    def renew(self, seconds: float = math.inf) -> bool:
        """Makes the folder fresh, for `seconds` at most; whether it is. Nothing to do, and soon done, when the last candidate left nothing."""
        if self._is_fresh():
            return True
        os.close(self._open)
        self._open = -1
        try:
            # All of the home and not the folder alone: it may have been renamed, with another in its place.
            if not clear(self._home, seconds):
                return False
            self._make()
        except OSError:  # what cannot be removed, or no room for a new one
            return False
        return True

    def _make(self) -> None:
        os.mkdir(NAME, 0o700, dir_fd=self._home)
        self._open = os.open(NAME, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._home)
        if self._user >= 0:
            os.fchown(self._open, self._user, self._user)

    def _is_fresh(self) -> bool:
        if _some(self._home) != [NAME] or _some(self._open):
            return False
        named, held = os.stat(NAME, dir_fd=self._home, follow_symlinks=False), os.fstat(self._open)
        return os.path.samestat(named, held) and stat.S_IMODE(held.st_mode) == 0o700


def _some(folder: int) -> list[str]:
    """The first two names in an open folder."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in itertools.islice(entries, 2)]
