"""Folders in memory that a candidate may fill, within bounds, and that the next one finds empty.

Standard library only, for it lives in the template. Invariant: a session starts in folders that nobody has touched since they were mounted;
what a kernel does not let a candidate forge (the time of the last change) tells whether one has."""

import math
import os

from evolve.sandbox.kernel import MNT_DETACH, MS_NOATIME, MS_NODEV, MS_NOEXEC, MS_NOSUID, mount, unmount


class Tmpfs:
    """A mount at `path` of at most `size` bytes and `inodes` files, which is `user`'s own. Implements what the template needs of a scratch folder."""

    def __init__(self, path: str, size: int, inodes: int, user: int, *, execute: bool) -> None:
        self.path = path
        self._flags = MS_NOSUID | MS_NODEV | MS_NOATIME | (0 if execute else MS_NOEXEC)
        self._options = f"size={size},nr_inodes={inodes},mode=700,uid={user},gid={user}"
        self._fresh = self._mounted()

    def renew(self, seconds: float = math.inf) -> bool:
        """Makes the folder fresh, which it then is, however short `seconds` are; nothing to do, and soon done, when the last candidate did
        nothing to it."""
        if self._state() != self._fresh:
            unmount(self.path, MNT_DETACH)
            self._fresh = self._mounted()
        return True

    def _mounted(self) -> tuple[object, ...]:
        mount("tmpfs", self.path, "tmpfs", self._flags, self._options)
        return self._state()

    def _state(self) -> tuple[object, ...]:
        found = os.stat(self.path)  # noqa: PTH116 twice a session: a `Path` takes longer than the call
        return (
            found.st_ino,
            found.st_dev,
            found.st_ctime_ns,
            found.st_mtime_ns,
            found.st_mode,
            self._marks(),
            os.listdir(self.path) != [],  # noqa: PTH208 names are enough
        )

    def _marks(self) -> list[str]:
        try:
            return os.listxattr(self.path)
        except OSError:  # a kernel whose tmpfs has none
            return []
