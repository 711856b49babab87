"""How many files a candidate has in its folder, counted while it runs, where no quota bounds them.

Standard library only, for it lives in the template. Invariant: a count ends soon after its limit, follows no link, and holds one descriptor
for each level of folders; what the candidate moves meanwhile leads it nowhere else."""

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

_REST = 9.0
"""After a count, so many times as long passes until the next one: it takes a tenth of the time."""
_LONGEST = 0.3
"""Seconds of the longest rest: who makes files at full speed slows a count down, and shall gain no time by it."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Census:
    """Of the folder at `home`, which may hold `most` files, folders and links, whatever their depth."""

    def __init__(self, home: str, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._home = os.open(home, _FOLDER)
        self._clock = clock
        self._rested_at = -1.0

    def exceeded(self) -> bool:
        """Whether there are more; False while it rests."""
        began = self._clock()
        if began < self._rested_at:
            return False
        found = more_than(self.most, self._home)
        ended = self._clock()
        self._rested_at = ended + min(_LONGEST, _REST * (ended - began))
        return found


def more_than(most: int, folder: int) -> bool:
    """Whether the open `folder` and those below it have more entries; also where they are deeper than descriptors can be opened."""
    levels: list[tuple[int, list[str]]] = [(os.dup(folder), ["."])]
    found = 0
    try:
        while levels:
            here, names = levels[-1]
            if not names:
                os.close(levels.pop()[0])
                continue
            inner = _opened(names.pop(), here)
            if inner is not None:
                levels.append((inner, []))
                found += _counted(inner, most - found, levels[-1][1])
                if found > most:
                    return True
        return False
    except OSError as error:
        return error.errno == errno.EMFILE
    finally:
        for number, _ in levels:
            os.close(number)


def _counted(folder: int, most: int, folders: list[str]) -> int:
    """How many entries there are, counted to one more than `most`; adds the names of those that are folders."""
    count = 0
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries, 1):
            if count > most:
                break
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
    return count


def _opened(name: str, folder: int) -> int | None:
    """A folder, also one that was made unreadable by its owner, who we are then; None where it is gone."""
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:
        return _opened_by_force(name, folder)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        return None


def _opened_by_force(name: str, folder: int) -> int | None:
    """Changes the rights of the very folder that was found, whatever bears its name by then."""
    if not hasattr(os, "O_PATH"):
        return None
    try:
        found = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        return None
    try:
        Path(f"/proc/self/fd/{found}").chmod(0o700)
        return os.open(".", _FOLDER, dir_fd=found)
    except OSError:
        return None
    finally:
        os.close(found)
