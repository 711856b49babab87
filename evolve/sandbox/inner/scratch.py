"""The folder in which candidates may leave files, and its renewal between two sessions.

Invariant: a session starts in an empty folder, and what is removed lies inside ours: a link that a candidate planted is removed,
never followed. To be used only while no process of a candidate lives."""

import itertools
import math
import os
import stat

from evolve.sandbox.inner.removal import clear

NAME = "scratch"


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
