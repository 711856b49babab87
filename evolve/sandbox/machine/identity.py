"""User that candidates are, where the worker may choose: one that nobody else on this machine is.

Standard library only. Two templates that live at the same time never have the same user; one that ends, however it ends, gives
its user back, since the kernel releases the lock with the last descriptor."""

import contextlib
import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

FIRST = 60_000
"""Above the users of people (to 59,999 on Debian) and below `nobody` (65,534); only the first ones are ever taken."""
_MOST = 1000
_USERS, _GROUPS = Path("/proc/self/uid_map"), Path("/proc/self/gid_map")
PLACES = (Path("/run"), Path("/tmp"))
"""The same for all engines of a machine, whatever their variables say."""


@dataclass
class Identity:
    """A user and group id for candidates; `lock` is the open file that keeps others away from it."""

    number: int
    lock: int

    def close(self) -> None:
        """Gives it back."""
        os.close(self.lock)


def can_choose() -> bool:
    """Returns whether this process may become another user: it is root, and the users that it would take exist in its user namespace."""
    return os.name == "posix" and os.geteuid() == 0 and _is_mapped(FIRST + _MOST) and _is_mapped(FIRST + _MOST, _GROUPS)


def is_root_for_good(users: Path = _USERS) -> bool:
    """Returns whether this process is root and has nobody else to become, as far as it can tell root for the kernel too: a candidate would be root then, in
    whatever namespace. Where root here is an ordinary user outside, as in a container of that user's, it is not."""
    if os.geteuid() != 0 or can_choose():
        return False
    return any(first == 0 and outside == 0 for first, outside, _ in _rows(users))


def take(places: tuple[Path, ...] = PLACES) -> Identity:
    """The first user that is free; raises `OSError` where none is."""
    folder = own_folder("evolve-candidates", places)
    for number in range(FIRST, FIRST + _MOST):
        # Never removed: another process could hold the lock of a file that has lost its name, and a third one make a new file.
        lock = os.open(folder / str(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        return Identity(number, lock)
    raise OSError(f"all {_MOST} users for candidates are taken: {folder}")


def own_folder(name: str, places: tuple[Path, ...] = PLACES) -> Path:
    """A folder that is this user's alone, in the first of `places` where one can be; raises `OSError` where it can be in none."""
    for place in places:
        folder = place / name
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
            if (
                found.st_uid == os.geteuid()
                and not found.st_mode & 0o022
                and folder.is_dir()
                and not folder.is_symlink()
            ):
                return folder
    raise OSError(f"no folder for locks can be made in {' or '.join(map(str, places))}")


def _is_mapped(number: int, table: Path = _USERS) -> bool:
    """Returns whether a user or group id has a meaning in this user namespace."""
    return any(first <= number < first + count for first, _, count in _rows(table))


def _rows(table: Path) -> list[tuple[int, int, int]]:
    """The first number here, what it is outside, and how many there are; nothing where the table cannot be read."""
    try:
        rows = [tuple(map(int, line.split())) for line in table.read_text().splitlines()]
    except (OSError, ValueError):
        return []
    return [(row[0], row[1], row[2]) for row in rows]
