"""Which user candidates are, where the judge may choose: one that nobody else on this machine is.

Standard library only. Invariant: two templates that live at the same time never have the same user; one that ends, however it ends, gives
its user back, since the kernel releases the lock with the last descriptor."""

import contextlib
import fcntl
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

FIRST = 60_000
"""Above the users of people (to 59,999 on Debian) and below `nobody` (65,534); only the first ones are ever taken."""
_MOST = 1000
_PLACES = (Path("/run"), Path(tempfile.gettempdir()))


@dataclass
class Identity:
    """A user and group id for candidates; `lock` is the open file that keeps others away from it."""

    number: int
    lock: int

    def close(self) -> None:
        """Gives it back."""
        os.close(self.lock)


def can_choose() -> bool:
    """Whether this process may become another user: it is root, and the users that it would take exist in its user namespace."""
    return os.name == "posix" and os.geteuid() == 0 and _mapped(FIRST + _MOST)


def take(places: tuple[Path, ...] = _PLACES) -> Identity:
    """The first user that is free; raises `OSError` where none is."""
    folder = _folder(places)
    for number in range(FIRST, FIRST + _MOST):
        lock = os.open(folder / str(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        return Identity(number, lock)
    raise OSError(f"all {_MOST} users for candidates are taken: {folder}")


def _folder(places: tuple[Path, ...]) -> Path:
    """A folder that is this user's alone."""
    for place in places:
        folder = place / "evolve-candidates"
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


def _mapped(number: int, table: Path = Path("/proc/self/uid_map")) -> bool:
    """Whether a user id has a meaning in this user namespace."""
    try:
        rows = [list(map(int, line.split())) for line in table.read_text().splitlines()]
    except (OSError, ValueError):
        return False
    return any(first <= number < first + count for first, _, count in rows)
